"""An event: its fields, the envelope that EventBridge puts around it, what it can turn out to be.

A field that is not what it should be raises an error that names the field's path.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import msgspec

from evenkeel.errors import MalformedNoticeError, UnreadableError
from evenkeel.model.decoding import decoded
from evenkeel.model.notice import InstanceAction, Notice
from evenkeel.model.times import YEARS

EC2: Final = "aws.ec2"

INSTANCE_ID: Final = re.compile(r"i-(?:[0-9a-f]{8}|[0-9a-f]{17})")
"""EC2's ids have 17 hexadecimal digits since 2016; the older 8 are still to be met.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/resource-ids.html
"""

LONGEST_TEXT: Final = 256
"""Characters of a text that is read, which is more than AWS ever writes there.

It ends on the node, all of whose annotations have 256 KiB together, and in every log line.
"""


class Fields:
    """A JSON object of an event. What reads a field raises MalformedNoticeError."""

    def __init__(self, values: object, path: str = "") -> None:
        """Wrap the object at ``path``; the empty path is the event itself."""
        if not isinstance(values, Mapping):
            raise MalformedNoticeError(
                path or "event", f"should be an object, but is {_name(values)}"
            )
        self._values: Mapping[str, Any] = values
        self._path = path

    def __contains__(self, name: object) -> bool:
        """Whether there is a field of this name."""
        return name in self._values

    def path(self, name: str) -> str:
        """The full path of a field, such as ``detail.instance-id``."""
        return f"{self._path}.{name}" if self._path else name

    def malformed(self, name: str, problem: str) -> MalformedNoticeError:
        """The error to raise for a field."""
        return MalformedNoticeError(self.path(name), problem)

    def text(self, name: str) -> str:
        """A field that is a string, and neither empty nor longer than LONGEST_TEXT."""
        value = self._value(name)
        if not isinstance(value, str):
            raise self.malformed(name, f"should be a string, but is {_name(value)}")
        if not value.strip():
            raise self.malformed(name, "is empty")
        if len(value) > LONGEST_TEXT:
            raise self.malformed(name, f"has {len(value)} characters, and {LONGEST_TEXT} at most")
        return value

    def text_or(self, name: str, default: str) -> str:
        """A field that is a string, and ``default`` where it is missing."""
        return self.text(name) if name in self._values else default

    def objects(self, name: str) -> Sequence["Fields"]:
        """A field that is an array of objects; empty where it is missing."""
        values = self._values.get(name, [])
        if not isinstance(values, list):
            raise self.malformed(name, f"should be an array, but is {_name(values)}")
        return [Fields(value, f"{self.path(name)}[{i}]") for i, value in enumerate(values)]

    def nested(self, name: str) -> "Fields":
        """A field that is an object."""
        return Fields(self._value(name), self.path(name))

    def document(self, name: str) -> "Fields":
        """A field that is an object written as JSON in a string."""
        value = self._value(name)
        try:
            return Fields(decoded(object, value if isinstance(value, str) else ""), self.path(name))
        except UnreadableError as error:
            raise self.malformed(name, f"should be JSON in a string: {error}") from error

    def time(self, name: str) -> datetime:
        """A field that is a time with its zone, as in 2026-11-21T06:00:00Z; answers UTC."""
        value = self.text(name)
        problem = f"should be a time such as 2026-11-21T06:00:00Z, but is {value!r}"
        try:
            time = datetime.fromisoformat(value)
        except ValueError:
            raise self.malformed(name, problem) from None
        if time.tzinfo is None:
            raise self.malformed(name, f"should name its time zone, but is {value!r}")
        if time.year not in YEARS:
            raise self.malformed(name, problem)
        return time.astimezone(UTC)

    def http_time(self, name: str) -> datetime:
        """A field that is a time as mail and HTTP have it, Sat, 21 Nov 2026 06:00:00 GMT."""
        value = self.text(name)
        try:
            time = parsedate_to_datetime(value)
            if time.tzinfo is not None and time.year in YEARS:
                return time.astimezone(UTC)
        except (ValueError, OverflowError):
            pass
        problem = f"should be a time such as Sat, 21 Nov 2026 06:00:00 GMT, but is {value!r}"
        raise self.malformed(name, problem)

    def instance_id(self, name: str) -> str:
        """A field that is the id of an EC2 instance."""
        value = self.text(name)
        if not INSTANCE_ID.fullmatch(value):
            problem = f"should be an instance id such as i-1234567890abcdef0, but is {value!r}"
            raise self.malformed(name, problem)
        return value

    def action(self) -> tuple[InstanceAction, str]:
        """The field that says what EC2 does to the instance, and what was unusual about it.

        One that EC2 has not had so far counts as a termination.
        """
        word = self.text("instance-action")
        try:
            return InstanceAction(word), ""
        except ValueError:
            warning = f"instance-action {word!r} is new to Evenkeel and counts as terminate"
            return InstanceAction.TERMINATE, warning

    def _value(self, name: str) -> Any:
        if name not in self._values:
            raise self.malformed(name, "is missing")
        return self._values[name]


def _name(value: object) -> str:
    """What JSON calls a value."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case Mapping():
            return "an object"
    return "an array"


@dataclass(frozen=True, slots=True)
class Event:
    """An event: who says it, what kind it is, when it was given, and the fields of ``detail``.

    The ARN in ``resources`` differs from kind to kind, and is not read.
    """

    event_id: str
    source: str
    detail_type: str
    time: datetime
    detail: Fields

    @classmethod
    def read(cls, fields: Fields) -> "Event":
        """Read the envelope. Raises MalformedNoticeError."""
        return cls(
            event_id=fields.text("id"),
            source=fields.text("source"),
            detail_type=fields.text("detail-type"),
            time=fields.time("time"),
            detail=fields.nested("detail"),
        )

    def harmless(self, message: str) -> "Harmless":
        """It takes no node away, and why not."""
        return Harmless(event_id=self.event_id, detail_type=self.detail_type, message=message)


class Understood(msgspec.Struct, frozen=True, kw_only=True):
    """The event is a notice, or one for each of the instances that it names.

    ``warning`` tells what was unusual about it.
    """

    notices: tuple[Notice, ...]
    warning: str = ""

    @property
    def notice(self) -> Notice:
        """The notice; of several the first."""
        return self.notices[0]


class Harmless(msgspec.Struct, frozen=True, kw_only=True):
    """The event is of a known kind that takes no node away; ``message`` says why not."""

    event_id: str
    detail_type: str
    message: str


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """The event asks whether it gets to the API server."""

    event_id: str


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """The event is of a kind that Evenkeel does not know."""

    event_id: str
    source: str
    detail_type: str


type Reading = Understood | Harmless | Probe | Unknown
