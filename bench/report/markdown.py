"""Tables as Markdown has them."""

from collections.abc import Iterable, Sequence


def markdown(columns: Sequence[str], rows: Iterable[Sequence[str]], notes: Iterable[str]) -> str:
    """A table of these cells, and below it a list of notes."""
    lines = [_line(columns), "|---" * len(columns) + "|", *map(_line, rows), ""]
    return "\n".join([*lines, *(f"- {note}" for note in notes)]) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"
