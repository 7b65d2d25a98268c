"""Reads Evenkeel's records from the text that a tool has saved of Lambda's log.

Evenkeel's lines are JSON objects, and each tool puts something of its own around them. So JSON is
looked for wherever it begins, and messages inside of that are read the same way. It reads what
these give:

- ``aws logs filter-log-events`` and ``get-log-events`` (JSON or text), ``aws logs tail`` in all its
  formats, ``sam logs`` (which breaks JSON over lines), and queries of Logs Insights;
- CSV, as the console saves log events and queries;
- an export to S3, and what a subscription hands on; each may be gzipped;
- JSON lines of the decision log, and what ``-o json`` prints of it.
"""

import csv
import gzip
import io
import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from evenkeel.adapters.telemetry.decision_log import VERSION, CountRecord, DecisionRecord
from evenkeel.adapters.telemetry.lambda_function import SERVICE
from evenkeel_cli import words
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.event_files import STANDARD_INPUT
from evenkeel_cli.history import incident
from evenkeel_cli.history.incident import NoteRecord, Record

GZIP: Final = b"\x1f\x8b"

MOST_BYTES: Final = 1 << 30
"""A longer log is refused. A storm of 3,000 pods logs about 10 MB."""

_TIME: Final = "%Y-%m-%d %H:%M:%S,%f%z"
"""How Powertools writes a line's time."""

_INNER: Final = ("events", "logEvents", "results", "items")
"""Where answers of AWS have their log events, and listings of this command their records."""


@dataclass(slots=True)
class Found:
    """What was read: the records, and how much was something else.

    ``foreign`` lines are not Evenkeel's decisions, counts or notes. ``versions``: so many records
    are of a version of the log that is not known here.
    """

    records: list[Record] = field(default_factory=list)
    foreign: int = 0
    versions: Counter[str] = field(default_factory=Counter)

    def take(self, text: str) -> None:
        """Read all that is in a text."""
        if _is_table(text):
            for row in csv.DictReader(io.StringIO(text)):
                self.take(row.get("message") or row.get("@message") or "")
            return
        for item in _objects(text):
            if item is None:
                self.foreign += 1
            else:
                self._take(item)

    def sentences(self) -> Iterator[str]:
        """What was left out, for people."""
        if self.versions:
            which = ", ".join(sorted(self.versions))
            yield (
                f"{words.counted(self.versions.total(), 'record')} of version {which} of the log"
                f" could not be read: this command reads version {VERSION}."
            )

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
            self.take(message)
        else:
            self._take_line(item)

    def _take_line(self, line: Mapping[str, Any]) -> None:
        """One line of a function, or of the decision log itself."""
        decision, count = line.get("decision"), line.get("count")
        if isinstance(decision, dict) or {"verb", "subject"} <= line.keys():
            self._keep(decision or line, DecisionRecord)
        elif isinstance(count, dict) or {"workload", "available"} <= line.keys():
            self._keep(count or line, CountRecord)
        elif (note := _note(line)) is not None:
            self.records.append(note)
        else:
            self.foreign += 1

    def _keep(self, found: Any, shape: type[DecisionRecord] | type[CountRecord]) -> None:
        version = found.get("v")
        try:
            record = msgspec.convert(found, shape) if version == VERSION else None
        except msgspec.ValidationError:
            record = None
        if record is None:
            self.versions[str(version)] += 1
        else:
            self.records.append(record)


def of_one_cluster(records: Sequence[Record], cluster: str | None) -> Sequence[Record]:
    """The records of this cluster, or of the only one that there is. Raises BadInputError."""
    there = incident.clusters(records)
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
    """The JSON objects in a text; None for a line in which there is none."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        begin = text.find("{", at, end)
        if begin < 0:
            if text[at:end].strip(" \t\r[],"):
                yield None
            at = end + 1
            continue
        try:
            item, at = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            yield None
            at = end + 1
            continue
        yield item
        end = text.find("\n", at)
        rest = text[at : len(text) if end < 0 else end]
        if "{" not in rest:
            at += len(rest) + 1


def _message(item: Mapping[str, Any]) -> object:
    """The message of a log event, as AWS wraps it; None of a line itself."""
    if "message" in item and not {"service", "verb"} & item.keys():
        return item["message"]
    is_field = item.get("field") == "@message"
    return item.get("value") if is_field else None


def _note(line: Mapping[str, Any]) -> NoteRecord | None:
    """A note of a function; None of other lines, and of how an invocation ended."""
    message, details = line.get("message"), line.get("details")
    if line.get("service") != SERVICE or not isinstance(message, str):
        return None
    if isinstance(details, dict) and "outcome" in details:
        return None
    try:
        time = datetime.strptime(str(line.get("timestamp")), _TIME).astimezone(UTC)
    except ValueError:
        return None
    return NoteRecord(time=time, message=message)
