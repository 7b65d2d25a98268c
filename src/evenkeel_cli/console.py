"""Where a command prints: colours and a live view on a terminal, plain lines elsewhere."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Literal

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from evenkeel_cli.visible import visible


class PlainConsole(Console):
    """A console that prints text as text, whatever is in it.

    Names and messages come from objects that strangers made.
    """

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """Render, with the control characters of any text made visible."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else visible(text), style, control)

    def on_broken_pipe(self) -> None:
        """Leave it to the entry of the command: rich would end with the code of a failure."""
        raise BrokenPipeError


def standard_output() -> Console:
    """Standard output: with colours and bold text on a terminal, unless NO_COLOR is set."""
    styles: Literal["auto"] | None = None if Console().no_color else "auto"
    return PlainConsole(color_system=styles, highlight=False, markup=False, emoji=False)


def standard_error() -> Console:
    """Standard error, for notes that are no result."""
    return PlainConsole(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def note(*notes: str) -> None:
    """Print notes that are no result: a line for each, on standard error."""
    for each in notes:
        standard_error().print(f"note: {each}", style="yellow")


def can_show_live(console: Console) -> bool:
    """Whether a picture that is painted again and again can be shown."""
    return console.is_terminal and not console.is_dumb_terminal


def wrapped(console: Console, text: str, hang: int = 0) -> Sequence[str]:
    """The lines of a text, whose words stay whole: as wide as a terminal; elsewhere it is one.

    The lines after the first begin ``hang`` blanks further right. An end of a line in the text
    itself, which may be a stranger's, is a blank.
    """
    if not console.is_terminal:
        return [text.replace("\n", " ")]
    lines = textwrap.wrap(
        text,
        console.width,
        subsequent_indent=" " * hang,
        expand_tabs=False,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines or [""]
