"""Reads Evenkeel's records from the text that a tool has saved of Lambda's log.

Evenkeel's lines are JSON objects, and each tool puts something of its own around them: a time, the
name of a stream, or a log event whose message the line is. JSON behind anything else is text that
somebody quoted, and no record. It reads what these give:

- ``aws logs filter-log-events`` and ``get-log-events`` (JSON or text), ``aws logs tail`` in all its
  formats, ``sam logs`` (which breaks JSON over lines), and queries of Logs Insights;
- CSV, as the console saves log events and queries;
- an export to S3, and what a subscription hands on; each may be gzipped;
- JSON lines of the decision log, and what ``-o json`` prints of it; ``kubectl logs`` of a process
  that writes them to standard output, with ``--timestamps`` and ``--prefix``, too.
"""

import csv
import gzip
import io
import json
import re
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, auto
from pathlib import Path
from typing import Any, Final

import msgspec

from evenkeel.adapters.telemetry.decision_log import VERSION, CountRecord, DecisionRecord
from evenkeel.adapters.telemetry.lambda_function import SERVICE
from evenkeel_cli import words
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.event_files import STANDARD_INPUT
from evenkeel_cli.history.cutting import NoteRecord, Record

GZIP: Final = b"\x1f\x8b"

MOST_BYTES: Final = 1 << 30
"""A longer log is refused. A storm of 3,000 pods logs about 10 MB."""

_TIME: Final = "%Y-%m-%d %H:%M:%S,%f%z"
"""How Powertools writes a line's time."""

_INNER: Final = ("events", "logEvents", "results", "items")
"""Where answers of AWS have their log events, and listings of this command their records."""

_EVENT: Final = frozenset(
    {"message", "timestamp", "ingestionTime", "logStreamName", "eventId", "id", "extractedFields"}
)
"""What AWS says of a log event; a line that says more is somebody's own."""

_BEFORE: Final = re.compile(
    r"""
    (?: EVENTS \t \S* \t \d* \t \S* \t    # filter-log-events --output text
      | (?: \d{4}-\d\d-\d\d T [\d:.]+ (?: Z | [+-]\d\d:?\d\d )? \s+    # a time
          # a log stream
          | \d{4}/\d\d/\d\d/ [^\s\[\]]* \[ [^\s\[\]]+ \] [^\s\[\]]+ \s+
          | \[ pod/ [^\s\]]+ \] \s+    # kubectl logs --prefix
        )*
    )
    [\s\[\],]*    # a list's, around its items
    """,
    re.VERBOSE,
)
"""What tools put before an object on its line."""

_BEGINS: Final = '{"v":'
"""How a line of the decision log begins."""

YEARS: Final = range(2006, 3000)
"""EC2 is there since 2006. A record of other years is one of a broken clock, or made up."""


class _Other(Enum):
    """What a line is that holds no object."""

    FOREIGN = auto()
    TORN = auto()


@dataclass(slots=True)
class Found:
    """What was read: the records, and how much was something else.

    ``foreign`` lines are not Evenkeel's decisions, counts or notes. ``versions``: so many records
    are of a version of the log that is not known here. ``odd``: so many are torn, or hold what no
    function writes.
    """

    records: list[Record] = field(default_factory=list)
    foreign: int = 0
    odd: int = 0
    versions: Counter[int] = field(default_factory=Counter)

    def take(self, text: str) -> None:
        """Read all that is in a text."""
        if _is_table(text):
            for row in csv.DictReader(io.StringIO(text)):
                self.take_message(row.get("message") or row.get("@message") or "")
            return
        for item in _objects(text):
            match item:
                case _Other.FOREIGN:
                    self.foreign += 1
                case _Other.TORN:
                    self.odd += 1
                case _:
                    self._take(item)

    def sentences(self) -> Iterator[str]:
        """What was left out, for people."""
        if self.versions:
            which = ", ".join(map(str, sorted(self.versions)))
            yield (
                f"{words.counted(self.versions.total(), 'record')} of version {which} of the log"
                f" could not be read: this command reads version {VERSION}."
            )
        if self.odd:
            were = words.counted(self.odd, "line was", "lines were")
            yield f"{were} left out: torn, or with a time, text or field that no function writes."

    def _take(self, item: Any) -> None:
        if isinstance(item, list):
            for each in item:
                self._take(each)
            return
        if not isinstance(item, dict):
            self.foreign += 1
            return
        inner = [item[key] for key in _INNER if isinstance(item.get(key), list)]
        if inner:
            self._take(inner)
        elif isinstance(message := _message(item), str):
            self.take_message(message)
        else:
            self._take_line(item)

    def take_message(self, message: str) -> None:
        """The message of a log event: one line of a function, or text that is none."""
        try:
            line = json.loads(message)
        except (ValueError, RecursionError):
            line = None
        if isinstance(line, dict):
            self._take_line(line)
        else:
            self.foreign += 1

    def _take_line(self, line: Mapping[str, Any]) -> None:
        """One line of a function, or of the decision log itself."""
        is_ours = line.get("service") == SERVICE
        if is_ours and isinstance(decision := line.get("decision"), dict):
            self._keep(decision, DecisionRecord)
        elif is_ours and isinstance(count := line.get("count"), dict):
            self._keep(count, CountRecord)
        elif {"verb", "subject"} <= line.keys():
            self._keep(line, DecisionRecord)
        elif {"workload", "available"} <= line.keys():
            self._keep(line, CountRecord)
        elif is_ours and isinstance(line.get("message"), str) and not _is_outcome(line):
            self._keep(_note(line), NoteRecord)
        else:
            self.foreign += 1

    def _keep(self, found: Mapping[str, Any], shape: type[Record]) -> None:
        """Keep a record that a function may have written: one that can be written again."""
        version = found.get("v", VERSION)
        if isinstance(version, int) and version != VERSION:
            self.versions[version] += 1
            return
        try:
            record = msgspec.convert(found, shape)
            msgspec.json.encode(record)  # no half of a character
        except (msgspec.ValidationError, UnicodeEncodeError):
            record = None
        if record is None or not all(map(_is_sound, _times(record))):
            self.odd += 1
        else:
            self.records.append(record)


def of_one_cluster(records: Sequence[Record], cluster: str | None) -> Sequence[Record]:
    """The records of this cluster, or of the only one that there is. Raises BadInputError."""
    there = sorted({each.cluster for each in records if not isinstance(each, NoteRecord)})
    if cluster is None and len(there) > 1:
        raise BadInputError(
            f"these are logs of several clusters ({', '.join(there)}): name one by --cluster-name,"
            " or give the logs of one alone"
        )
    wanted = cluster if cluster in there else None
    return [
        each
        for each in records
        if wanted is None or isinstance(each, NoteRecord) or each.cluster == wanted
    ]


def read_files(names: Iterator[str] | list[str]) -> Found:
    """Read files, all files of folders, and standard input for ``-``. Raises BadInputError.

    Nor may all of it be something else.
    """
    found = Found()
    for name in names:
        for text in _texts(name):
            found.take(text)
    if not found.records and not found.versions:
        raise BadInputError(
            f"{', '.join(names)}: no line of it is a decision of Evenkeel's functions: save what"
            " aws logs filter-log-events or aws logs tail prints of their log groups"
        )
    return found


def _texts(name: str) -> Iterator[str]:
    try:
        if name == STANDARD_INPUT:
            yield _text(name, sys.stdin.buffer.read(MOST_BYTES + 1))
            return
        path = Path(name)
        files = sorted(each for each in path.rglob("*") if each.is_file()) if path.is_dir() else ()
        for each in files or [path]:
            with each.open("rb") as stream:
                yield _text(str(each), stream.read(MOST_BYTES + 1))
    except OSError as error:
        raise BadInputError(f"{name} cannot be read: {error.strerror or error}") from error


def _text(name: str, content: bytes) -> str:
    if content.startswith(GZIP):
        try:
            with gzip.open(io.BytesIO(content)) as stream:
                content = stream.read(MOST_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise BadInputError(f"{name} is damaged: it begins as gzip, and {error}") from error
    if len(content) > MOST_BYTES:
        raise BadInputError(f"{name} is larger than 1 GiB: cut it down to the time in question")
    return content.decode("utf-8-sig", errors="replace")


def _is_table(text: str) -> bool:
    """Whether it is CSV with log messages in it."""
    head = text.partition("\n")[0].strip().lower().replace('"', "").split(",")
    return len(head) > 1 and ("message" in head or "@message" in head)


def _objects(text: str) -> Iterator[Any]:
    """The JSON objects in a text, and what each line is in which there is none.

    A line of the decision log that breaks off may have the next one right behind: a process ended
    while it wrote, and another one went on. That one ends the line, and is read by itself. It is
    not text within the torn one, in which a quotation mark has a backslash before it.
    """
    decoder, at, torn_at = json.JSONDecoder(), 0, -1
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        begin = text.find("{", at, end)
        if begin < 0 or _BEFORE.fullmatch(text, at, begin) is None:
            if text[at:end].strip(" \t\r[],"):
                yield _Other.FOREIGN
            at = end + 1
            continue
        try:
            item, at = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            if torn_at != end:
                yield _Other.TORN
            torn_at = end
            at = text.rfind(_BEGINS, begin + 1, end)
            at = end + 1 if at < 0 else at
            continue
        yield item
        end = text.find("\n", at)
        rest = text[at : len(text) if end < 0 else end]
        if "{" not in rest:
            at += len(rest) + 1


def _message(item: Mapping[str, Any]) -> object:
    """The message of a log event, as AWS wraps it; None of a line itself."""
    if item.keys() <= _EVENT:
        return item.get("message")
    is_field = item.get("field") == "@message"
    return item.get("value") if is_field else None


def _is_outcome(line: Mapping[str, Any]) -> bool:
    """Whether a line says how an invocation ended."""
    details = line.get("details")
    return isinstance(details, dict) and "outcome" in details


def _note(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """A note of a function, as a record has it; of no time if it has none that can be read."""
    try:
        time = datetime.strptime(str(line.get("timestamp")), _TIME).astimezone(UTC)
    except (ValueError, OverflowError):
        time = None
    return {"time": time, "message": line["message"]}


def _times(record: Record) -> Iterator[datetime]:
    yield record.time
    if isinstance(record, DecisionRecord) and record.until is not None:
        yield record.until


def _is_sound(time: datetime) -> bool:
    """Whether a time has a zone, and can be one of an interruption."""
    return time.tzinfo is not None and time.year in YEARS
