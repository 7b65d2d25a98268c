"""The account of an interruption: a value for what is known, and what one more record makes of it.

The reconciler adds each decision and count when it records it, and keeps numbers of the whole on
its Lease. ``evenkeel history`` adds those of a log. So pods are late, workloads are low for the
interruption, and it is over by the same rules in both:

- ``Departure`` of one pod: whether it was told to go, and too late;
- ``Level`` of one workload: how low the interruption brings it;
- ``follow`` of all of it: it begins, goes on, is over, and that is to be told.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.model.decision import Verb
from evenkeel.model.interruption import (
    MOST_UNTOLD,
    NAMED,
    NODES_NOTED,
    UNTOLD_FOR,
    Account,
    Dip,
    Interruption,
    Tally,
    Untold,
    dip_of,
)
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod_count import PodCount
from evenkeel.model.reasons import Reason

GOES: Final = frozenset({Verb.EVICT, Verb.DELETE})
"""Verbs with which a pod is told to go."""

MOVES: Final = GOES | {Verb.RELEASE}
"""Verbs with which a pod begins to go."""

AT_THE_END: Final = frozenset(
    {
        Reason.LAST_MOMENT,
        Reason.BUDGET_REFUSED_AT_LAST_MOMENT,
        Reason.EVICTION_REFUSED_AT_LAST_MOMENT,
    }
)
"""Reasons behind which there is another one: why it came to that."""

LAST_ON_PURPOSE: Final = frozenset({Reason.JOB_MAY_FINISH, Reason.BARE_POD})
"""Reasons for which a pod stays to its last moment although it could go before."""

APART: Final = timedelta(seconds=2)
"""A count may be told so long after the pods of which it tells were told to go, or before that."""


class Departure(msgspec.Struct, frozen=True, kw_only=True):
    """When one pod was told to go last, if it was, and whether that was too late.

    It is too late where the node is gone already, or where the pod goes by force before its
    replacement is available. A pod that is meant to go at the last moment is not late by that.
    ``reason`` is that of the last decision about the pod which is not one ``AT_THE_END``.
    """

    at: datetime | None = None
    is_late: bool = False
    reason: str = ""

    def add(
        self, at: datetime, verb: str, reason: str, *, forced: bool, warning: bool
    ) -> "Departure":
        """The same after one more decision about the pod, see ``Decision``, made ``at`` a time."""
        behind = self.reason if reason in AT_THE_END else reason
        if verb not in GOES:
            return msgspec.structs.replace(self, reason=behind)
        is_late = forced and warning and behind not in LAST_ON_PURPOSE
        return Departure(at=at, is_late=is_late or reason == Reason.NODE_GONE, reason=behind)

    @property
    def tally(self) -> Tally:
        """What is counted of the pod."""
        return Tally(pods=int(self.at is not None), late=int(self.is_late))


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """The last count of one workload, and what the interruption makes of its counts.

    ``before`` is the count before the ``last`` one, and ``went_at`` when the last of its pods went
    for the interruption. ``is_low``: that leaves the workload fewer pods than wanted now. ``dip``
    is how few it left at worst; None: always enough.
    """

    before: PodCount | None = None
    last: PodCount | None = None
    went_at: datetime | None = None
    is_low: bool = False
    dip: Dip | None = None

    def add(self, count: PodCount) -> "Level":
        """The same after one more count.

        A dip begins with a count that is low because pods went for the interruption. It goes on up
        to the count that is not low, or says nothing.
        """
        is_low = count.is_low and (self.is_low or is_taken(self.last, count, self.went_at))
        dip = self.dip
        if dip is None and is_low:
            dip = dip_of(count)
        elif dip is not None and (is_low or count.is_whole):
            dip = dip.counted(count)
        return Level(before=self.last, last=count, went_at=self.went_at, is_low=is_low, dip=dip)

    def leave(self, at: datetime) -> "Level":
        """The same after a pod went for the interruption. The last count may tell of it already."""
        if self.last is None or self.is_low or at > self.last.at + APART:
            return msgspec.structs.replace(self, went_at=at)
        return msgspec.structs.replace(self, last=self.before, went_at=at).add(self.last)

    @property
    def tally(self) -> Tally:
        """What is counted of the workload."""
        if self.dip is None:
            return Tally()
        return Tally(below=1, at_zero=int(self.dip.is_zero), worst=(self.dip,))


def is_less(last: PodCount | None, count: PodCount) -> bool:
    """Whether fewer pods are available than at the last count, or than wanted if none says that."""
    before = None if last is None else last.available
    return (count.wanted if before is None else before) > (count.available or 0)


def is_taken(last: PodCount | None, count: PodCount, went_at: datetime | None) -> bool:
    """Whether a low count is low because pods went, the last of them at ``went_at``.

    Fewer are available than at the ``last`` count, and some went since. Else the workload was short
    before, or others took pods, or more are wanted.
    """
    since = count.at if last is None else last.at
    return went_at is not None and went_at >= since - APART and is_less(last, count)


def follow(
    known: Account,
    at: datetime,
    notices: Mapping[str, NodeNotice],
    pods: int,
    counted: Collection[str] = (),
) -> Account:
    """The account after a look, with what has to be told since.

    ``notices`` are those of nodes with ``pods`` that have to move: of a hint, too, once they do.

    - An interruption that was quiet for long enough is over, also where the next one begins now.
    - The first node with pods that have to move begins one. ``counted`` are nodes that count as its
      own already, beside those that the account names.
    - What could not be told for a day is dropped, and the oldest where there is too much of it.
    """
    untold, now = list(known.untold), known.open
    if now is not None and at >= now.over_at:
        untold.append(Untold(at=at, is_over=True, about=_in_short(now)))
        now = None
    if now is None and notices:
        begun = Interruption(began_at=at, active_at=at, to_move=pods)
        now = _go_on(begun, at, notices, ())
        untold.append(Untold(at=at, is_over=False, about=_in_short(now)))
    elif now is not None and notices:
        now = _go_on(now, at, notices, counted)
    recent = [each for each in untold if at - each.at < UNTOLD_FOR]
    return Account(open=now, untold=tuple(recent[-MOST_UNTOLD:]))


def _go_on(
    known: Interruption, at: datetime, notices: Mapping[str, NodeNotice], counted: Collection[str]
) -> Interruption:
    """The interruption with the nodes of a look."""
    new = [name for name in notices if name not in known.named and name not in counted]
    ends = (notice.deadline for notice in notices.values() if not notice.is_hint)
    return msgspec.structs.replace(
        known.goes_on(at, *ends),
        nodes=known.nodes + len(new),
        named=(*known.named, *new)[:NODES_NOTED],
    )


def _in_short(known: Interruption) -> Interruption:
    """What is told of it: a few of its nodes and workloads, and the tallies as one."""
    total = msgspec.structs.replace(known.total, worst=known.total.worst[:NAMED])
    tallies = {0: total} if known.tallies else {}
    return msgspec.structs.replace(known, named=known.named[:NAMED], tallies=tallies)
