"""Forced evictions of pods whose nodes die: one after the other, as late as possible."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from operator import attrgetter
from typing import NamedTuple

import msgspec

from evenkeel.decisions.drain import writes
from evenkeel.decisions.drain.deadlines import EVICTION_OVERHEAD
from evenkeel.decisions.drain.owner import Owner
from evenkeel.model.decision import Decision, Verb, Why
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.way import Way

SLOWEST = timedelta(seconds=4)
"""No eviction is sent earlier than by this because the API server is slow to answer."""

RESERVE = 0.1
"""This part of the time that the evictions take is kept in reserve."""

LONGEST_RESERVE = timedelta(seconds=1)
"""But no more than this."""

FLOOR = 0.25
"""The rate is never taken to be less than this part of its setting, however slow answers come.

At less a storm's evictions would all begin at once, long before their deadlines.
"""

LEAD = timedelta(seconds=4)
"""So long before a pod's eviction the write is sent that has to precede it."""

LEAST_THERE = 0.4
"""At least this part of the pods that may leave is expected to be there when their slots begin.

They were to leave fast of late; it need not go on.
"""

_NEVER = datetime.max.replace(tzinfo=UTC)


class Forced(msgspec.Struct, frozen=True, kw_only=True):
    """A pod whose node dies, and that is evicted by its eviction deadline, replaced or not.

    ``together``: its gang goes, and it with that. ``lives``: its node does, so its budget is
    obeyed. ``share_remaining`` is the share of its workload that serves on once it is
    gone, and 1 of a pod that nothing replaces, as no count gains by its waiting: the pod that
    leaves most of its workload goes first. ``is_replaced``: its replacement is
    available; ``is_coming``: it starts already. ``first`` is a write that precedes the eviction by
    LEAD. ``after``: so long after its own last moment it goes, because it stands last; less than
    nothing: so long before that, because others of its workload go after it.
    """

    pod: Pod
    owner: Owner
    evict_by: datetime
    share_remaining: float = 1.0
    is_replaced: bool = False
    is_coming: bool = False
    first: Decision | None = None
    after: timedelta = timedelta()
    together: bool = False
    lives: bool = False

    @property
    def may_leave(self) -> bool:
        """Whether its replacement is there or starts: it may be gone before its slot begins."""
        return self.is_replaced or self.is_coming

    def eviction(self) -> Decision:
        """The forced eviction; on a node that lives it is none by force."""
        reason, message, why = Reason.LAST_MOMENT, self._last_moment, None
        if self.together:
            reason, message = Reason.GANG_BROKEN, "too few of its gang stay"
            why = Why(way=Way.AT_LAST_MOMENT, cause=message)
            where = "a healthy node" if self.lives else "a dying node"
            message = f"{message}: evicted from {where} together with the others"
        return self.owner.decision(
            self.pod,
            Verb.EVICT,
            reason,
            message,
            warning=not self.is_replaced,
            forced=not self.lives,
            write=writes.evict(self.pod),
            why=why,
        )

    @property
    def _last_moment(self) -> str:
        if self.after > timedelta():
            return (
                "its node dies, and it stood last of its workload: evicted, replacement or not, and"
                f" {self.after.total_seconds():.0f} s of its grace period do not fit"
            )
        there = "its replacement is available" if self.is_replaced else "replacement or not"
        if self.after:
            return f"its node dies, and others of its workload go after it: evicted ahead, {there}"
        return f"its node dies and its grace period has to fit: evicted, {there}"


class Slot(msgspec.Struct, frozen=True):
    """When the eviction of a pod begins."""

    begin: datetime
    forced: Forced

    @property
    def first_at(self) -> datetime:
        """When the write that precedes the eviction is sent; its begin without one."""
        return self.begin if self.forced.first is None else self.begin - LEAD

    def is_due(self, now: datetime) -> bool:
        """Whether a write is to be sent for it now."""
        return now >= self.first_at

    def step(self, now: datetime) -> Decision:
        """The write to be sent for it next: the eviction, or what precedes it."""
        first = self.forced.first
        return self.forced.eviction() if first is None or now >= self.begin else first


class Rate(msgspec.Struct, frozen=True):
    """How fast evictions are sent, per second, and by how much earlier all of them.

    ``shown``: so many a second at least were sent of late, whichever pods they were for.
    """

    per_second: float
    ahead: timedelta = timedelta()
    shown: float = 0

    def slot(self, share: float) -> timedelta:
        """How long an eviction takes of which such a share is expected to be sent."""
        return timedelta(seconds=min(share / self.per_second, 1 / (self.shown or self.per_second)))


class Usual(NamedTuple):
    """How long answers take: ``half`` of them at most, and ``most``, nearly all, at most.

    ``per_second``: so many writes were answered in a second when most were.
    """

    half: timedelta = timedelta()
    most: timedelta = timedelta()
    per_second: float = 0


def rate(per_second: float, usual: Usual, at_once: int, number: int) -> Rate:
    """The rate to reckon with where it is set to so many, and answers take so long.

    ``at_once`` of the ``number`` of evictions can be under way. An API server that took more writes
    of late than are set is expected to do so again, as long as half of ``at_once`` will do for it:
    a pod that goes later serves longer.

    All evictions begin earlier by the time that answers take beyond what a deadline allows for,
    because the last of them takes as long, too; and by a tenth of the time that they need, for an
    API server that pauses.
    """
    seconds = usual.half.total_seconds()
    possible = at_once / seconds if seconds else per_second
    reckoned = max(FLOOR * per_second, min(per_second, possible))
    slow = min(max(usual.most - EVICTION_OVERHEAD, timedelta()), SLOWEST)
    reserve = min(RESERVE * timedelta(seconds=number / reckoned), LONGEST_RESERVE)
    return Rate(reckoned, slow + reserve, min(usual.per_second, possible / 2))


def part_there(forced: Sequence[Forced], leaving: float, rate: Rate, now: datetime) -> float:
    """The part of the pods that may leave that is expected to be there when their slots begin.

    ``leaving``: so many left in a second of late, because they were replaced. Were no slot kept for
    those that leave, and fewer left than did, the last ones would go too late; were one kept for
    each, pods would go by force whose replacements are seconds away.

    As many are taken to go on leaving until the slots begin, which end with the last deadline. So
    of 100 pods of which 2 leave in a second, where 10 are evicted in a second and the last deadline
    is in 20 s, 40 would leave in that time. The other 60 take 7.5 s of slots, at 10 - 2 in a
    second; 75 are there when these begin, and the part is 0.75.
    """
    number = sum(each.may_leave for each in forced)
    per_second = 1 / rate.slot(1.0).total_seconds()
    if not number or leaving >= per_second:
        return LEAST_THERE
    time_left = (max(each.evict_by for each in forced) - now).total_seconds()
    not_leaving = number - leaving * time_left
    seconds_of_slots = not_leaving / (per_second - leaving)
    part = seconds_of_slots * per_second / number
    return min(1.0, max(LEAST_THERE, part))


def schedule(
    forced: Iterable[Forced], rate: Rate, part_there: float = LEAST_THERE
) -> Sequence[Slot]:
    """The latest times at which these evictions can begin, the earliest first.

    Counted backward: the last one has to be sent by its eviction deadline, and each begins before
    the next one does. Of the pods that may still go then a slot is given to the one whose workload
    gains most by its waiting: the one that leaves least of it. So a pod makes another go earlier
    only if its own workload has no more left, whichever has the later deadline. ``part_there``: see
    the function.
    """
    ordered = sorted(forced, key=_order)
    by_deadline = sorted(range(len(ordered)), key=lambda place: ordered[place].evict_by)
    slots, begin, may_go = list[Slot](), _NEVER, list[int]()
    while by_deadline or may_go:
        if not may_go:
            begin = min(begin, ordered[by_deadline[-1]].evict_by - rate.ahead)
        while by_deadline and ordered[by_deadline[-1]].evict_by - rate.ahead >= begin:
            heappush(may_go, -by_deadline.pop())
        each = ordered[-heappop(may_go)]
        begin -= rate.slot(part_there if each.may_leave else 1.0)
        slots.append(Slot(begin, each))
    slots.reverse()
    return slots


def alone(forced: Iterable[Forced]) -> Sequence[Slot]:
    """As ``schedule``, as if each were the only one."""
    ordered = sorted(forced, key=_order)
    return [Slot(each.evict_by, each) for each in sorted(ordered, key=attrgetter("evict_by"))]


def _order(forced: Forced) -> tuple[float, datetime, str]:
    """What waiting is worth to the workload's count; the pod to which it is worth least first."""
    return -forced.share_remaining, forced.evict_by, forced.pod.uid
