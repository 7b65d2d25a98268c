"""By when a pod has to go."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
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


class Margin(NamedTuple):
    """How long the evictions take that come before the last moment of a pod with one deadline.

    ``unreplaced``: of a pod without a replacement; those alone are before it that have none
    either. ``replaced``: of one with a replacement, which goes before all those.
    """

    replaced: timedelta = timedelta()
    unreplaced: timedelta = timedelta()


type Margins = Mapping[datetime, Margin]
"""A controller's margin for each deadline; one that is not in it needs none."""

NO_MARGIN = Margin()


class Going(NamedTuple):
    """How many pods go by one deadline, and how many of them have no replacement."""

    everybody: int
    unreplaced: int


class Leaving(msgspec.Struct, frozen=True):
    """Who of one controller goes by each deadline, and the share of it that would be left."""

    going: Mapping[datetime, Going]
    left: float = 1.0


EVICTIONS_PER_SECOND = 75.0
"""What an API server on two CPUs took beside everything else in a storm: 60 to 100."""

ALL_PER_SECOND = 150.0
"""And while nothing else went on. Who has a replacement goes as soon as that is made sure of; only
who is still there late, because a budget refused, has to go at a last moment. Were that as early as
for all of them together, they would go all at once, and hold up the others' replacements."""


def count_margins(leaving: Mapping[str, Leaving]) -> Mapping[str, Margins]:
    """The margins of controllers, by their keys.

    Of those with one deadline, the controller goes first of which most would be left, and last
    the one of which least would be: its replacements have the most time to come. Of equals the
    smaller goes last, for it keeps the others waiting least.
    """
    by_deadline: dict[datetime, list[tuple[float, int, str, Going]]] = {}
    for key, each in leaving.items():
        for at, going in each.going.items():
            by_deadline.setdefault(at, []).append((each.left, going.unreplaced, key, going))
    margins: dict[str, dict[datetime, Margin]] = {key: {} for key in leaving}
    everybody = unreplaced = 0
    for at, group in sorted(by_deadline.items()):
        everybody += sum(going.everybody for _, _, _, going in group)
        ends: dict[str, timedelta] = {}
        for _, number, key, _ in sorted(group):
            unreplaced += number
            ends[key] = timedelta(seconds=unreplaced / EVICTIONS_PER_SECOND)
        first = timedelta(seconds=unreplaced / EVICTIONS_PER_SECOND)
        first = max(first, timedelta(seconds=everybody / ALL_PER_SECOND))
        for key, end in ends.items():
            margins[key][at] = Margin(first, end)
    return margins


def longest(margins: Iterable[Margins]) -> Margins:
    """Of each deadline the margins of those who go first by it."""
    found: dict[datetime, Margin] = {}
    for each in margins:
        for at, margin in each.items():
            so_far = found.get(at, NO_MARGIN)
            found[at] = Margin(
                max(margin.replaced, so_far.replaced), max(margin.unreplaced, so_far.unreplaced)
            )
    return found
