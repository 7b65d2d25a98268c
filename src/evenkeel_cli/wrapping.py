"""Text in columns for people: lines end at spaces, and inside a word only where it has a joint.

Names of objects have no spaces: ``shop/deploy/checkout-worker`` may be longer than a line. Such a
word goes on in the next line after a ``/`` or a ``-``.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

type Measure = Callable[[str], int]
"""How many columns a text needs at least, if lines may end where the measure says."""

_PIECE: Final = re.compile(r"[^\s/-]*[/-]+|[^\s/-]+")


def longest_line(text: str) -> int:
    """The columns that a text needs if its lines stay whole."""
    return max(map(cell_len, text.split("\n")))


def longest_word(text: str) -> int:
    """The columns that a text needs if its lines may end at spaces."""
    return max(map(cell_len, text.split()), default=0)


def longest_piece(text: str) -> int:
    """The columns that a text needs if its lines may end at spaces, and after ``/`` and ``-``."""
    return max(map(cell_len, _PIECE.findall(text)), default=0)


def wrap(text: str, width: int) -> list[str]:
    """The lines of a text, each at most ``width`` columns.

    A word that is longer than that is broken after ``/`` and ``-``; a piece without either stays
    whole, and its line is too long.
    """
    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for gap, part in _parts(paragraph, width):
            longer = f"{line}{gap}{part}" if line else part
            if line and cell_len(longer) > width:
                lines.append(line)
                line = part
            else:
                line = longer
        lines.append(line)
    return lines


def _parts(paragraph: str, width: int) -> Iterator[tuple[str, str]]:
    """What stays together, and what stands between it and the part before in the same line."""
    for word in paragraph.split():
        if cell_len(word) <= width:
            yield " ", word
            continue
        gap = " "
        for piece in _PIECE.findall(word):
            yield gap, piece
            gap = ""


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A text for a column of a rich table, as wide as the column is.

    Only a piece that is longer than a whole line is folded, so that nothing of it is lost.
    """

    text: str
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Wrap it to the width that there is."""
        lines = wrap(self.text, options.max_width)
        yield Text("\n".join(lines), self.style, overflow="fold")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """In a pipe a line rather gets longer than that a word is broken."""
        return Measurement(longest_word(self.text), longest_line(self.text))
