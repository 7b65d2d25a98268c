"""Tables as kubectl prints them, and the same data as JSON or YAML.

A table is a value; the same one is printed on a terminal with colours and in a pipe without.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
import yaml
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from cli.console import UNBOUNDED, print_trimmed

GAP = 2
"""Spaces between two columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its key in JSON and its title.

    ``wide`` columns are shown with ``-o wide`` only, ``right`` ones hold numbers, and
    ``wraps`` ones give way when the line is too short.
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
        """Print the table; on a terminal in colours."""
        shown = [i for i, column in enumerate(self.columns) if wide or not column.wide]
        grid = RichTable(
            box=None,
            show_edge=False,
            pad_edge=False,
            padding=(0, GAP, 0, 0),
            header_style="bold",
        )
        for i in shown:
            column = self.columns[i]
            whole = () if column.wraps else (cell_len(row[i].text) for row in self.rows)
            grid.add_column(
                column.title,
                justify="right" if column.right else "left",
                no_wrap=not column.wraps,
                min_width=max((len(column.title), *whole)),
                overflow="fold" if column.wraps else "ellipsis",
            )
        for row in self.rows:
            grid.add_row(*(Text(row[i].text, row[i].style) for i in shown))
        print_trimmed(console, grid, width=UNBOUNDED if wide else None)


def dump(data: Mapping[str, Any] | Sequence[Any], output: str) -> None:
    """Print data as ``json`` or ``yaml``."""
    if output == "json":
        click.echo(json.dumps(data, indent=2))
    else:
        click.echo(yaml.safe_dump(data, sort_keys=False, allow_unicode=True).rstrip())
