"""How much earlier a pod has to go because others go too."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import NamedTuple

import msgspec

from evenkeel.decisions.drain.deadlines import EVICTION_OVERHEAD, Deadline
from evenkeel.model.pod import Pod

SHARES = 16
"""So many steps of a workload's share are told apart: what is of one step goes together."""

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

SLOWEST = timedelta(seconds=4)
"""No pod goes earlier than by this because the API server is slow to answer."""


class Margin(msgspec.Struct, frozen=True):
    """How long the evictions take that come before the last moment of a pod.

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


type Margins = Mapping[datetime, Margin]
"""The margin of those who have to be told to go by one time; without one they need none."""

NO_MARGIN = Margin()


def margin_of(pod: Pod, deadline: Deadline, margins: Margins) -> Margin:
    """The margin of a pod with a deadline."""
    return margins.get(deadline.told_by(pod), NO_MARGIN)


class Dying(NamedTuple):
    """A pod without a replacement, of a node that dies.

    ``by``: when it has to be told to go at the latest. ``left``: the share of its workload that
    serves on once it is gone. ``is_coming``: its replacement starts already, off doomed nodes.
    """

    by: datetime
    left: float = 1.0
    is_coming: bool = False


class Leaving(NamedTuple):
    """Who of one controller goes from nodes that die.

    ``replaced`` have their replacement: so many have to be told to go by each of these times;
    ``dying`` have none.
    """

    replaced: Mapping[datetime, int] = {}
    dying: Sequence[Dying] = ()


def step_of(left: float) -> int:
    """The step of a share, from 0 for nothing to ``SHARES`` for all and more."""
    return min(SHARES, int(left * SHARES))


def count_margins(leaving: Iterable[Leaving], answer: timedelta = EVICTION_OVERHEAD) -> Margins:
    """The margins of the times by which the pods of these controllers have to be told to go.

    Who has to be told first goes first, and begins so early that the next ones can begin in time;
    where these begin only after it, it has the API server for itself until then.

    Of those with one such time, a pod goes first after which most of its workload is left, and
    last one after which nothing is: so all keep as much as possible for as long as possible, and
    the replacements of those with least have the most time to come. Whose replacement starts
    already most likely has it by then, and counts like those that have theirs.

    ``answer``: how long the API server takes for an eviction of late. What that is more than a
    deadline reckons with goes onto every margin.
    """
    everybody = Counter[datetime]()
    steps = defaultdict[datetime, list[float]](lambda: [0.0] * (SHARES + 1))
    for controller in leaving:
        for by, number in controller.replaced.items():
            everybody[by] += number
        for pod in controller.dying:
            everybody[pod.by] += 1
            seconds = 1 / (ALL_PER_SECOND if pod.is_coming else EVICTIONS_PER_SECOND)
            steps[pod.by][step_of(pod.left)] += seconds
    needed = sum(map(sum, steps.values()))
    slow = min(max(answer - EVICTION_OVERHEAD, timedelta()), SLOWEST)
    reserve = slow + timedelta(seconds=min(LONGEST_RESERVE, RESERVE * needed))
    margins: dict[datetime, Margin] = {}
    begin = begin_all = datetime.max.replace(tzinfo=UTC)
    for by in sorted(everybody, reverse=True):
        wait = by - min(by, begin)
        unreplaced = [wait + timedelta(seconds=end) for end in accumulate(steps[by])]
        begin = by - unreplaced[-1]
        begin_all = min(by, begin_all) - timedelta(seconds=everybody[by] / ALL_PER_SECOND)
        replaced = max(unreplaced[-1] + reserve, by - begin_all + slow)
        margins[by] = Margin(replaced, [each + reserve for each in unreplaced])
    return margins
