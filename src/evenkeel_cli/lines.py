"""What happens, as lines for people: when, what, about which object, why."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evenkeel.model.decision import Decision, Verb
from evenkeel_cli import words
from evenkeel_cli.console import print_trimmed
from evenkeel_cli.wrapping import Wrapped

STYLES: Final = {
    Verb.MARK: "yellow",
    Verb.CORDON: "yellow",
    Verb.RELEASE: "cyan",
    Verb.EVICT: "green",
    Verb.DELETE: "red",
    Verb.ROLL_BACK: "magenta",
    Verb.LIFT: "green",
    Verb.COMPLETE: "green",
    Verb.REJECT: "red",
    Verb.RELAX: "yellow",
    Verb.HOLD: "green",
    Verb.PATCH_TEMPLATE: "cyan",
    Verb.COOL_DOWN: "magenta",
}
QUIET: Final = "dim"
WARNING: Final = "bold red"

TIME_WIDTH: Final = 8
WORD_WIDTH: Final = 11

ABBREVIATED: Final = {Verb.EXCLUDE: "exclude", Verb.SET_CONDITION: "condition"}


@dataclass(frozen=True, slots=True)
class Line:
    """One line: the time since the beginning, a word in its style, and the rest."""

    since: timedelta
    word: str
    text: str
    style: str = ""

    def flat(self) -> Text:
        """All in one line, however long it gets."""
        time = f"{words.offset(self.since):>{TIME_WIDTH}}"
        word = (f"{self.word:<{WORD_WIDTH}}", self.style)
        return Text.assemble(f"{time}  ", word, f" {self.text}")

    def show(self, console: Console, *, wraps: bool = False) -> None:
        """Print it: wrapped below itself on a terminal, and elsewhere where it ``wraps``.

        In a pipe a line is better left whole, for whatever reads it.
        """
        if not (console.is_terminal or wraps):
            console.print(self.flat(), soft_wrap=True)
            return
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(width=TIME_WIDTH + 1, justify="right")
        grid.add_column(width=WORD_WIDTH)
        grid.add_column()
        grid.add_row(words.offset(self.since), Text(self.word, self.style), Wrapped(self.text))
        print_trimmed(console, grid)


def of_decision(decision: Decision, since: timedelta) -> Line:
    """``+12.3s  evict  pod shop/web-1-abc: ReplacementAvailable: 4 available, 3 wanted``."""
    subject = decision.subject
    name = words.subject_name(subject)
    if subject.kind == "Node":
        name = f"node {words.short_node(subject.name)}"
    return Line(
        since,
        ABBREVIATED.get(decision.verb, decision.verb.value),
        f"{name}: {decision.reason}: {decision.message}",
        style_of(decision),
    )


def style_of(decision: Decision) -> str:
    """The colour of a decision."""
    return WARNING if decision.warning else STYLES.get(decision.verb, QUIET)
