"""Watches Evictions, and has each answered when it is due."""

from collections.abc import Sequence
from concurrent.futures import Future
from datetime import datetime, timedelta
from functools import partial
from operator import itemgetter
from typing import Final

import msgspec

from evenkeel.model.request import Change, Relisted
from evenkeel.model.times import earliest
from evenkeel.ports import Arrival, Clock, Done, Recorder, Reply, Session
from evenkeel_responder.eviction import EVICTIONS, Eviction
from evenkeel_responder.report import Task, task_of
from evenkeel_responder.responder import AFTER_A_FAILURE, Responder

TURN: Final = timedelta(seconds=1)
"""So long a turn waits for something to happen."""

AT_ONCE: Final = 8
"""So many are answered at the same time."""


class Known(msgspec.Struct):
    """An Eviction, what has to be done about it, and when; ``due`` None: nothing by itself."""

    eviction: Eviction
    task: Task
    due: datetime | None = None
    is_under_way: bool = False
    is_deleted: bool = False


class Responding:
    """A follower of the cluster that has Evictions answered."""

    def __init__(
        self, responder: Responder, clock: Clock, recorder: Recorder, at_once: int = AT_ONCE
    ) -> None:
        """``at_once``: so many are answered at the same time."""
        self._responder = responder
        self._clock = clock
        self._recorder = recorder
        self._at_once = at_once
        self._known: dict[str, Known] = {}  # by uid

    def begin(self, session: Session) -> None:
        """Watch all Evictions of which Evenkeel is a responder.

        Of what is under way by an earlier session the end is not heard of: it is done once more.
        """
        for each in self._known.values():
            each.is_under_way, each.due = False, self._due(each.task)
        session.watch(EVICTIONS)

    def turn(self, session: Session) -> None:
        """Take what has happened, and have those answered that are due.

        Raises the ClusterError by which the API server refuses the watch.
        """
        due = earliest(*(each.due for each in self._ready())) if self._room else None
        wait = TURN if due is None else min(TURN, max(timedelta(), due - self._clock.now()))
        for arrival in session.next(wait):
            self._take(arrival)
        now = self._clock.now()
        ready = [each for each in self._ready() if each.due is not None and each.due <= now]
        for each in ready[: self._room]:
            each.due, each.is_under_way = None, True
            work = partial(self._responder.carry_out, each.task, each.eviction)
            session.start(work, partial(self._carried_out, each))

    def _ready(self) -> Sequence[Known]:
        """Those that are due at some time and not under way, the first to be due first."""
        waiting = (each for each in self._known.values() if not each.is_under_way)
        due = [(each.due, each) for each in waiting if each.due is not None]
        return [each for _, each in sorted(due, key=itemgetter(0))]

    @property
    def _room(self) -> int:
        """How many more may be answered now."""
        return self._at_once - sum(each.is_under_way for each in self._known.values())

    def _take(self, arrival: Arrival) -> None:
        match arrival:
            case Done(then=take):
                take()
            case Change(object=Eviction() as found, deleted=is_deleted):
                self._saw(found, is_deleted=is_deleted)
            case Relisted(listing=listing):
                here = {each.uid: each for each in listing.items if isinstance(each, Eviction)}
                gone = [k.eviction for uid, k in self._known.items() if uid not in here]
                for each in gone:
                    self._saw(each, is_deleted=True)
                for each in here.values():
                    self._saw(each)
            case Reply(error=error) if error is not None:
                raise error

    def _saw(self, eviction: Eviction, *, is_deleted: bool = False) -> None:
        """An Eviction is so now. What it says of Evenkeel's own last heartbeat changes nothing."""
        known, task = self._known.get(eviction.uid), task_of(eviction, is_deleted=is_deleted)
        if known is None:
            if not is_deleted:
                self._known[eviction.uid] = Known(eviction, task, self._due(task))
            return
        if task is not known.task:
            known.due = self._due(task)
        known.eviction, known.task, known.is_deleted = eviction, task, is_deleted
        self._forget(known)

    def _due(self, task: Task) -> datetime | None:
        return None if task is Task.NONE else self._clock.now()

    def _carried_out(self, known: Known, work: Future[timedelta | None]) -> None:
        """Something was done. One that has changed meanwhile is due already."""
        known.is_under_way = False
        try:
            again_in = work.result()
        except Exception as error:  # noqa: BLE001 - one must not keep the others waiting
            kind = type(error).__name__
            self._recorder.noted(f"an eviction could not be answered: {error}", error=kind)
            again_in = AFTER_A_FAILURE
        if again_in is not None and known.due is None and known.task is not Task.NONE:
            known.due = self._clock.now() + again_in
        self._forget(known)

    def _forget(self, known: Known) -> None:
        """One that is deleted is forgotten once there is nothing to do about it."""
        if known.is_deleted and known.due is None and not known.is_under_way:
            self._known.pop(known.eviction.uid, None)
