"""The envelope that EventBridge puts around every event, and what an event can turn out to be."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import msgspec

from evenkeel.decisions.notice.fields import Fields
from evenkeel.model.notice import Notice

EC2: Final = "aws.ec2"


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
