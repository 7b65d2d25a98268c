"""Tables as kubectl prints them, and the same data as JSON or YAML.

A table is a value; the same one is printed on a terminal with colours and in a pipe without.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
import yaml
from rich.console import Console
from rich.table import Table as RichTable

from evenkeel_cli.console import UNBOUNDED, print_trimmed
from evenkeel_cli.wrapping import Measure, Wrapped, longest_line, longest_piece, longest_word

GAP = 2
"""Spaces between two columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its key in JSON and its title.

    ``wide`` columns are shown with ``-o wide`` only, ``right`` ones hold numbers, and
    ``wraps`` ones give way first when the line is too short.
    """

    key: str
    title: str
    wide: bool = False
    right: bool = False
    wraps: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """One value, as people read it (``text``), in which style, and as a program reads it."""

    text: str
    style: str = ""
    value: Any = None


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows; every row has a cell for every column."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]

    def data(self) -> list[dict[str, Any]]:
        """The rows as plain data, by the columns' keys."""
        return [
            {
                column.key: cell.text if cell.value is None else cell.value
                for column, cell in zip(self.columns, row, strict=True)
            }
            for row in self.rows
        ]

    def show(self, console: Console, *, wide: bool = False) -> None:
        """Print the table; on a terminal in colours, and where it is too narrow row by row.

        In a pipe, which has no edge, a table that is too wide is rather left whole.
        """
        shown = [i for i, column in enumerate(self.columns) if wide or not column.wide]
        room = UNBOUNDED if wide and not console.is_terminal else console.width
        widths = self._narrowed(shown, room, may_break_words=console.is_terminal)
        if widths is None and console.is_terminal:
            self._show_records(console, shown)
            return
        grid = RichTable.grid(padding=(0, GAP, 0, 0))
        for i, width in zip(shown, widths or self._whole(shown), strict=True):
            grid.add_column(width=width, justify="right" if self.columns[i].right else "left")
        grid.add_row(*(Wrapped(self.columns[i].title, "bold") for i in shown))
        for row in self.rows:
            grid.add_row(*(Wrapped(row[i].text, row[i].style) for i in shown))
        print_trimmed(console, grid)

    def _narrowed(
        self, shown: Sequence[int], room: int, *, may_break_words: bool
    ) -> Sequence[int] | None:
        """How wide each column is if all fit into ``room``; None if they cannot.

        They give way in this order, each time the widest first, and no further than needed:

        - columns that wrap, at spaces;
        - all at spaces, and titles after a hyphen, too;
        - words, after ``/`` and ``-``.
        """
        levels = [
            [
                self._need(i, longest_line, longest_word if self.columns[i].wraps else longest_line)
                for i in shown
            ],
            [self._need(i, longest_piece, longest_word) for i in shown],
        ]
        if may_break_words:
            levels.append([self._need(i, longest_piece, longest_piece) for i in shown])
        room -= GAP * (len(shown) - 1)
        widths = self._whole(shown)
        for least in levels:
            if sum(widths) > room:
                widths = _reduced(widths, least, room)
        return widths if sum(widths) <= room else None

    def _whole(self, shown: Sequence[int]) -> Sequence[int]:
        return [self._need(i, longest_line, longest_line) for i in shown]

    def _need(self, i: int, title: Measure, cell: Measure) -> int:
        return max(title(self.columns[i].title), *(cell(row[i].text) for row in self.rows), 0)

    def _show_records(self, console: Console, shown: Sequence[int]) -> None:
        """Print each row as lines of their own, a title and a cell in each."""
        for number, row in enumerate(self.rows):
            if number:
                console.print()
            grid = RichTable.grid(padding=(0, GAP, 0, 0))
            grid.add_column(width=max(len(self.columns[i].title) for i in shown))
            for i in shown:
                cell = row[i]
                grid.add_row(Wrapped(self.columns[i].title, "bold"), Wrapped(cell.text, cell.style))
            print_trimmed(console, grid)


def _reduced(widths: Sequence[int], least: Sequence[int], room: int) -> Sequence[int]:
    """The widths under the highest limit with which they fit into ``room``; else the least ones."""
    found = widths
    for limit in range(max(widths), -1, -1):
        found = [min(w, max(m, limit)) for w, m in zip(widths, least, strict=True)]
        if sum(found) <= room:
            break
    return found


def dump(data: Mapping[str, Any] | Sequence[Any], output: str) -> None:
    """Print data as ``json`` or ``yaml``."""
    if output == "json":
        click.echo(json.dumps(data, indent=2))
    else:
        click.echo(yaml.safe_dump(data, sort_keys=False, allow_unicode=True).rstrip())
