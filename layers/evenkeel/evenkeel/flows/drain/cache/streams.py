"""How old what the watches show is.

A watch is as fresh as the moment at which the latest of Evenkeel's own writes was sent that it has
shown: what happened before that, it has shown, too. In a storm that costs nothing, for there are
writes all the time. Versions of one resource can be compared (KEP-5504).
"""

import heapq
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from evenkeel.model.pod import Pod
from evenkeel.model.request import Change, Relisted
from evenkeel.ports import Arrival

FRESH_FOR = timedelta(seconds=1)
"""What a watch showed justifies taking pods away for so long."""

TRUNCATED = timedelta(seconds=2)
"""So much before it was sent an own eviction may seem to have been made.

The API server keeps the time of a deletion in whole seconds, by a clock of its own.
"""


@dataclass(slots=True)
class _Stream:
    """How far one watch has come. ``unseen``: own writes by their revision, and when sent."""

    asked_at: datetime
    fresh_at: datetime | None = None
    shown: int = -1
    unseen: list[tuple[int, datetime]] = field(default_factory=list)

    def has_come_to(self, revision: int) -> None:
        self.shown = max(self.shown, revision)
        while self.unseen and self.unseen[0][0] <= self.shown:
            self.is_as_of(heapq.heappop(self.unseen)[1])

    def is_as_of(self, at: datetime) -> None:
        if self.fresh_at is None or self.fresh_at < at:
            self.fresh_at = at


class Streams:
    """The watches of pods of one invocation, by what they select."""

    def __init__(self) -> None:
        """None has begun."""
        self._streams: dict[object, _Stream] = {}
        self._evicted: dict[str, datetime] = {}

    def began(self, selection: object, now: datetime) -> None:
        """A watch begins: its first list will be as fresh as this moment."""
        self._streams[selection] = _Stream(asked_at=now)

    def saw(self, arrival: Arrival) -> None:
        """Take note of how far a watch has come."""
        match arrival:
            case Relisted(selection=selection, listing=listing):
                stream = self._streams.get(selection)
                if stream is not None:
                    if stream.fresh_at is None:
                        stream.is_as_of(stream.asked_at)
                    stream.has_come_to(listing.revision)
            case Change(selection=selection, object=Pod() as pod, deleted=deleted):
                stream = self._streams.get(selection)
                if stream is not None:
                    stream.has_come_to(pod.revision)
                    if deleted or pod.leaving:
                        self._left(stream, pod)
            case _:
                pass

    def wrote(self, selection: object, revision: int, sent_at: datetime) -> None:
        """A write was accepted that made this revision of an object of the selection."""
        stream = self._streams.get(selection)
        if stream is None:
            return
        if revision <= stream.shown:
            stream.is_as_of(sent_at)
        else:
            heapq.heappush(stream.unseen, (revision, sent_at))

    def evicted(self, uid: str, sent_at: datetime) -> None:
        """An eviction or a delete of this pod is sent."""
        self._evicted[uid] = sent_at

    def withdrawn(self, uid: str) -> None:
        """It was refused, or nobody knows what came of it."""
        self._evicted.pop(uid, None)

    def is_fresh(self, selection: object, now: datetime) -> bool:
        """Whether a watch has shown all that had happened a moment ago."""
        stream = self._streams.get(selection)
        if stream is None or stream.fresh_at is None:
            return False
        return timedelta() <= now - stream.fresh_at <= FRESH_FOR

    def _left(self, stream: _Stream, pod: Pod) -> None:
        """A pod goes: by an own eviction, unless somebody else had told it to before that."""
        sent_at = self._evicted.pop(pod.uid, None)
        if sent_at is None:
            return
        told_at = pod.told_at
        if told_at is None or told_at >= sent_at - TRUNCATED:
            stream.is_as_of(sent_at)
