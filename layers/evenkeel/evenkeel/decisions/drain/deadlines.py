"""By when a pod has to go."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import accumulate
from typing import NamedTuple

import msgspec

from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.release import Release

LONGEST_GRACE = timedelta(seconds=45)
"""No more than this is kept free for a pod's grace period: the notice itself is 120 s."""

LONGEST_UNNOTICED = timedelta(minutes=15)
"""A pod on a node without a notice goes back so long after its release, whatever that says."""

EVICTION_OVERHEAD = timedelta(seconds=1)
"""What one eviction costs on top of the queue before it: a round trip and a kubelet's sync."""


class Deadline(msgspec.Struct, frozen=True):
    """When a pod has to be gone, and what happens then.

    ``forced``: it goes then, replacement or not, because its node dies. Otherwise the move
    was voluntary and is rolled back.
    """

    at: datetime
    forced: bool

    def last_moment(self, pod: Pod, margin: timedelta) -> datetime:
        """When it must be told to go, for its grace period to fit before the deadline.

        ``margin`` is the time that the evictions queued before it will take. A grace period
        below zero, which the API server stores, is none: it never comes after the deadline.
        """
        grace = min(max(pod.grace, timedelta()), LONGEST_GRACE)
        return self.at - grace - margin - EVICTION_OVERHEAD


def node_deadline(notice: NodeNotice) -> Deadline:
    """The deadline of a pod on a doomed node. Only a notice that is no hint forces."""
    return Deadline(notice.deadline, forced=not notice.is_hint)


def released_deadline(release: Release, notice: NodeNotice | None) -> Deadline:
    """The deadline of a released pod.

    - its node dies: the node's. The pod's own, of a recommendation that expires sooner, would
      only take it away while its node still lives;
    - its node may die: the earlier of both, and it goes back then;
    - its node turned out to live: its own, and it goes back, whatever it was released for; and
      before long, for then nothing but the annotation says how long that may take.
    """
    if notice is None:
        return Deadline(min(release.deadline, release.since + LONGEST_UNNOTICED), forced=False)
    if not notice.is_hint:
        return Deadline(notice.deadline, forced=True)
    return Deadline(min(notice.deadline, release.deadline), forced=False)


SHARES = 16
"""So many steps of a workload's share are told apart: what is of one step goes together."""


class Margin(msgspec.Struct, frozen=True):
    """How long the evictions take that come before the last moment of a pod with one deadline.

    ``replaced``: of a pod that has its replacement; it goes before all others. ``unreplaced``: of
    one without, by the share that is left of its workload once it is gone (see ``step_of``): the
    more is left, the earlier it goes.
    """

    replaced: timedelta = timedelta()
    unreplaced: Sequence[timedelta] = (timedelta(),) * (SHARES + 1)

    def of(self, left: float) -> timedelta:
        """The margin of a pod without a replacement that leaves so much of its workload."""
        return self.unreplaced[step_of(left)]

    @property
    def first(self) -> timedelta:
        """The margin of the pods without a replacement that go first."""
        return self.unreplaced[-1]


def step_of(left: float) -> int:
    """The step of a share, from 0 for nothing to ``SHARES`` for all and more."""
    return min(SHARES, int(left * SHARES))


type Margins = Mapping[datetime, Margin]
"""The margin of each deadline; one that is not in it needs none."""

NO_MARGIN = Margin()


class Going(NamedTuple):
    """How many pods of a controller go by one deadline, and how many have no replacement."""

    everybody: int
    unreplaced: int


class Leaving(msgspec.Struct, frozen=True):
    """Who of one controller goes by each deadline.

    ``left``: the share of it that is left when all of them are gone. ``each``: the share that
    one pod is.
    """

    going: Mapping[datetime, Going]
    left: float = 1.0
    each: float = 0.0


EVICTIONS_PER_SECOND = 60.0
"""What an API server on two CPUs takes at least beside everything else in a storm: 55 to 100."""

ALL_PER_SECOND = 150.0
"""And while nothing else went on. Who has a replacement goes as soon as that is made sure of; only
who is still there late, because a budget refused, has to go at a last moment. Were that as early as
for all of them together, they would go all at once, and hold up the others' replacements."""

RESERVE = 0.1
"""Of the time that the evictions take so much is kept beside it, for an API server that pauses."""

LONGEST_RESERVE = 2.0
"""But no more seconds than this."""


def count_margins(leaving: Iterable[Leaving]) -> Margins:
    """The margins of the deadlines by which so many pods of these controllers go.

    Of those with one deadline, a pod goes first after which most of its workload is left, and
    last one after which nothing is: so all keep as much as possible for as long as possible, and
    the replacements of those with least have the most time to come.
    """
    everybody = Counter[datetime]()
    steps: dict[datetime, list[int]] = {}
    for each in leaving:
        behind = 0
        for at, going in sorted(each.going.items(), reverse=True):
            everybody[at] += going.everybody
            counts = steps.setdefault(at, [0] * (SHARES + 1))
            for position in range(behind, behind + going.unreplaced):
                counts[step_of(each.left + position * each.each)] += 1
            behind += going.unreplaced
    margins: dict[datetime, Margin] = {}
    all_before = before = 0
    for at, counts in sorted(steps.items()):
        ends = [(before + number) / EVICTIONS_PER_SECOND for number in accumulate(counts)]
        before += sum(counts)
        all_before += everybody[at]
        reserve = min(LONGEST_RESERVE, RESERVE * ends[-1])
        first = max(ends[-1] + reserve, all_before / ALL_PER_SECOND)
        unreplaced = [timedelta(seconds=end + reserve) for end in ends]
        margins[at] = Margin(timedelta(seconds=first), unreplaced)
    return margins
