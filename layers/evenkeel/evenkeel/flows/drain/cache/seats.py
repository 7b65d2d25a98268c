"""Seats: which there are, for which pods, and how many there may be."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from evenkeel.flows.drain.cache.pods import Pods
from evenkeel.flows.drain.queue import NODES, Queue
from evenkeel.model import names
from evenkeel.model.pod import Pod
from evenkeel.model.seat import controller_key
from evenkeel.model.times import earliest

MADE_WITHIN: Final = timedelta(seconds=60)
"""So long after a pod is gone its next one may take to be made. Its controller makes none then."""


class Taking(NamedTuple):
    """Seats that are of use, each by the uid of its pod, and when the next one is not any more."""

    seats: Mapping[str, Pod]
    until: datetime | None


class Seats:
    """Seats, each by the uid of its pod, at its highest resource version."""

    def __init__(self, queue: Queue, most: int = 0) -> None:
        """``most``: so many there may be at a time."""
        self.most = most
        self._queue = queue
        self._seats: dict[str, Pod] = {}
        self._revisions: dict[str, int] = {}
        self._asked = dict[str, frozenset[str]]()  # by controller: the pods that get seats now
        self._went = dict[str, datetime]()  # when it was seen first that a seat's pod is gone
        self._short = set[str]()  # the controllers for whose pods there was no room

    def __iter__(self) -> Iterator[Pod]:
        """All of them."""
        return iter(self._seats.values())

    def of(self, key: str) -> Mapping[str, Pod]:
        """Those for the pods of a controller."""
        return {uid: each for uid, each in self._seats.items() if controller_key(each) == key}

    def in_use(self, key: str, pods: Pods, now: datetime) -> Taking:
        """Those of them whose pods are there, or went a while ago at most: see ``MADE_WITHIN``.

        Those that stop are there.
        """
        found, until = dict[str, Pod](), list[datetime]()
        for uid, seat in self.of(key).items():
            if pods.get(uid) is not None:
                found[uid] = seat
            elif now < (over := self._went.setdefault(uid, now) + MADE_WITHIN):
                found[uid] = seat
                until.append(over)
        return Taking(found, earliest(*until))

    def room(self, key: str) -> int:
        """How many more there may be for a controller's pods."""
        others = (uids for each, uids in self._asked.items() if each != key)
        return max(0, self.most - len(self._seats.keys() | frozenset[str]().union(*others)))

    def ask(self, key: str, uids: Iterable[str], *, is_short: bool) -> None:
        """A controller's plan makes seats for these pods now; ``is_short``: it would for more."""
        is_short &= self.most > 0
        before, now = self._asked.pop(key, frozenset[str]()), frozenset(uids)
        if now:
            self._asked[key] = now
        if is_short:
            self._short.add(key)
        else:
            self._short.discard(key)
        if before - now - self._seats.keys():
            self._room_is_left(but=key)

    def refuse(self) -> bool:
        """One was refused: none is tried any more. Whether it is the first that was."""
        is_first, self.most = self.most > 0, 0
        self._short.clear()
        self._queue.add(list(self._asked), urgent=True)
        return is_first

    def update(self, seat: Pod) -> None:
        """A seat is so."""
        if self._revisions.get(seat.uid, -1) < seat.revision:
            self._revisions[seat.uid] = seat.revision
            self._seats[seat.metadata.labels[names.SEAT]] = seat
            self._queue.add([controller_key(seat), NODES], urgent=True)

    def delete(self, seat: Pod) -> None:
        """A seat is gone."""
        uid = seat.metadata.labels.get(names.SEAT, "")
        known = self._seats.get(uid)
        if known is not None and known.uid == seat.uid:
            del self._seats[uid]
            self._went.pop(uid, None)
            self._revisions[seat.uid] = max(seat.revision, known.revision)
            self._queue.add([controller_key(seat), NODES], urgent=True)
            self._room_is_left()

    def replace(self, seats: Iterable[Pod]) -> None:
        """These are all that there are."""
        listed = {each.uid: each for each in seats}
        for each in [each for each in self if each.uid not in listed]:
            self.delete(each)
        for each in listed.values():
            self.update(each)

    def _room_is_left(self, but: str = "") -> None:
        """There is room for seats that there was none for."""
        self._queue.add(self._short - {but})
