"""Rows of text below each other, as kubectl prints them: one line for each thing.

In a pipe, and with ``-o wide``, every cell is whole and on one line. On a terminal that is too
narrow the least important columns are left out first. A line that is still too long is cut, and
ends in an ellipsis. Where the last column holds sentences it goes on below, and where too little
room is left beside the others all of it stands there.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Final

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from evenkeel_cli.visible import visible

GAP: Final = "  "
NOTHING: Final = "-"
LAST: Final = 20
"""Of the last column, which has the longest texts, at least so much is shown."""

HANG: Final = 2
"""Cells before a sentence that stands below its row."""

BOOLEANS: Final = {True: ("yes", "green"), False: ("no", "red")}


@dataclass(frozen=True, slots=True)
class Column[T]:
    """A title, and what stands below it for each thing.

    ``wide``: shown with ``-o wide`` only. ``yields``: on a narrow terminal the columns with the
    lowest numbers are left out first, those with 0 never. ``wraps``: as the last one it holds
    sentences. ``style`` is a style of rich.
    """

    title: str
    of: Callable[[T], object]
    wide: bool = False
    yields: int = 0
    wraps: bool = False
    style: Callable[[T], str] = lambda _: ""

    def cell(self, thing: T) -> tuple[str, str]:
        """Text and style of one thing: ``yes`` or ``no`` of a truth, ``-`` of nothing."""
        value = self.of(thing)
        if isinstance(value, bool):
            return BOOLEANS[value]
        text = "" if value is None else " ".join(visible(str(value)).split())
        return text or NOTHING, self.style(thing)


type Columns[T] = Sequence[Column[T]]


def lines(columns: Columns[Any], things: Iterable[Any], room: int | None) -> Sequence[Text]:
    """The titles and a line for each thing, in ``room`` cells; None: as many as they take."""
    table = [[(c.title, "") for c in columns], *([c.cell(t) for c in columns] for t in things)]
    widths = [max(cell_len(row[i][0]) for row in table) for i in range(len(columns))]
    shown = _fitting(columns, widths, room)
    *before, last = shown
    taken = sum(widths[i] + len(GAP) for i in before)
    made = []
    for row in table:
        start = [(set_cell_size(row[i][0], widths[i]) + GAP, row[i][1]) for i in before]
        text, style = row[last]
        end, *below = (
            [text] if room is None or not columns[last].wraps else _wrapped(text, taken, room)
        )
        made += [Text.assemble(*start, (end, style)), *(Text(each, style) for each in below)]
    for line in made:
        line.rstrip()
        if room is not None:
            line.truncate(room, overflow="ellipsis")
    return made


def _wrapped(text: str, taken: int, room: int) -> Sequence[str]:
    """The end of a row of which so many cells are taken, and the lines below it."""
    left = room - taken
    if left < min(LAST, cell_len(text)):
        return ["", *(f"{' ' * HANG}{each}" for each in _broken(text, room - HANG))]
    end, *below = _broken(text, left)
    return [end, *(f"{' ' * taken}{each}" for each in below)]


def _broken(text: str, width: int) -> Sequence[str]:
    return wrap(text, max(1, width), break_on_hyphens=False)


def _fitting(columns: Columns[Any], widths: Sequence[int], room: int | None) -> Sequence[int]:
    """Which columns are shown: as many as fit."""
    shown = list(range(len(columns)))
    for i in sorted(shown, key=lambda i: columns[i].yields):
        *before, last = (widths[j] for j in shown)
        if room is None or sum(before) + min(last, LAST) + len(GAP) * len(before) <= room:
            break
        if columns[i].yields:
            shown.remove(i)
    return shown
