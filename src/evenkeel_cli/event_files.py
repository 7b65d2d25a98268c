"""Reading files of events: one event, a JSON array of them, or a line each (JSON lines).

What is wrong with a record is told with the file, the record's number and its line, and does
not keep the others from being read.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evenkeel_cli.errors import BadInputError
from evenkeel_sandbox.events import Place

STANDARD_INPUT: Final = "-"

_DECODER: Final = json.JSONDecoder()
_BLANK: Final = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Record:
    """One event as its file has it; whether it means anything is not known yet.

    ``path`` is where in its record it stands, such as ``Records[0].body``; empty: it is the record.
    """

    place: Place
    event: Any
    path: str = ""

    def flaw(self, field: str, problem: str) -> "Flaw":
        """What is wrong with a field of the event."""
        whole = f"{self.path}.{field}" if self.path else field
        return Flaw(f"{self.place}: {whole}: {problem}")


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong with a record or a file, in one line."""

    message: str


def read_all(names: Sequence[str]) -> list[Record | Flaw]:
    """Read all files, in their order. Raises BadInputError when a file cannot be opened."""
    return [item for name in names for item in records(_label(name), _load(name))]


def records(file: str, content: bytes) -> Iterator[Record | Flaw]:
    """Read the records of one file; ``file`` is its name in messages."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        yield Flaw(f"{file}, line {line}: is not text in UTF-8: save it as UTF-8")
        return
    start = _skip_blank(text, 0)
    if start == len(text):
        yield Flaw(f"{file}: is empty: it should hold one event, an array, or a line for each")
    elif text[start] == "[":
        yield from _array(file, text, start)
    elif _has_a_record_per_line(text):
        yield from _lines(file, text)
    else:
        yield from _sequence(file, text, start)


def _label(name: str) -> str:
    return "standard input" if name == STANDARD_INPUT else name


def _load(name: str) -> bytes:
    if name == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except FileNotFoundError:
        raise BadInputError(f"{name}: there is no such file: check the path") from None
    except IsADirectoryError:
        raise BadInputError(f"{name}: is a directory: name files, such as {name}/*.json") from None
    except OSError as error:
        raise BadInputError(f"{name}: cannot be read ({error.strerror}): check it") from None


def _has_a_record_per_line(text: str) -> bool:
    """Whether it is JSON lines: more than one line, one of which is a whole object.

    So a bad line among them is one bad record, and the lines after it are still read.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) > 1 and any(line.startswith("{") and _is_json(line) for line in lines)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _lines(file: str, text: str) -> Iterator[Record | Flaw]:
    count = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        count += 1
        place = Place(file, count, number)
        try:
            yield Record(place, json.loads(line))
        except (ValueError, RecursionError) as error:
            yield Flaw(f"{place}: is no JSON: {_why(error, in_line=True)}")


def _sequence(file: str, text: str, start: int) -> Iterator[Record | Flaw]:
    """One event over several lines, or some of them one after the other."""
    count = 0
    while start < len(text):
        count += 1
        place = Place(file, count, _line(text, start))
        try:
            event, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            yield _broken(place, text, error)
            return
        yield Record(place, event)
        start = _skip_blank(text, end)


def _array(file: str, text: str, start: int) -> Iterator[Record | Flaw]:
    """A JSON array, element by element: those before a break in it are good records."""
    position = _skip_blank(text, start + 1)
    count = 0
    if text.startswith("]", position):
        yield Flaw(f"{file}: holds no event: the array is empty")
    while not text.startswith("]", position):
        if position == len(text):
            yield Flaw(f"{file}: is truncated after record {count}: the array does not end with ]")
            return
        count += 1
        place = Place(file, count, _line(text, position))
        try:
            event, end = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            yield _broken(place, text, error)
            return
        yield Record(place, event)
        position = _skip_blank(text, end)
        if text.startswith(",", position):
            position = _skip_blank(text, position + 1)
            if text.startswith("]", position):
                yield Flaw(
                    f"{file}, line {_line(text, position)}: is no JSON: a comma stands before"
                    f" the array's end; remove it"
                )
        elif not text.startswith("]", position) and position < len(text):
            yield Flaw(
                f"{file}, line {_line(text, position)}: is no JSON: a comma or ] is missing"
                f" after record {count}; nothing after it was read"
            )
            return
    position = _skip_blank(text, position + 1)
    if position < len(text):
        line = _line(text, position)
        yield Flaw(f"{file}, line {line}: is no JSON: something stands after the array's end")


def _broken(place: Place, text: str, error: Exception) -> Flaw:
    """A record that does not end as JSON: nothing after it can be trusted."""
    if isinstance(error, json.JSONDecodeError) and _ends_early(error, text):
        return Flaw(f"{place}: is truncated: the file ends in it")
    return Flaw(f"{place}: is no JSON: {_why(error)}; nothing after it was read")


def _ends_early(error: json.JSONDecodeError, text: str) -> bool:
    """Whether the text ended where more was expected; a string then lacks its end."""
    return not text[error.pos :].strip() or error.msg.startswith("Unterminated string")


def _why(error: Exception, *, in_line: bool = False) -> str:
    if isinstance(error, json.JSONDecodeError):
        what = error.msg[0].lower() + error.msg[1:]
        where = f"column {error.colno}"
        return f"{what} ({where})" if in_line else f"{what} (line {error.lineno}, {where})"
    return "it is nested too deeply"


def _skip_blank(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BLANK:
        position += 1
    return position


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
