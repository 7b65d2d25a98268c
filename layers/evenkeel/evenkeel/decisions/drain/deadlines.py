"""By when a pod has to go."""

from datetime import datetime, timedelta

import msgspec

from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.release import LONGEST_PATIENCE, Release

LONGEST_GRACE = timedelta(seconds=45)
"""No more than this is kept free for the grace period of a pod that another one replaces.

The notice itself is 120 s: what the pod gets, its replacement, or its turn, does not have.
"""

A_FEW_SECONDS = timedelta(seconds=5)
"""A pod that stands last is told to go so long before its node ends at least."""

LONGEST_UNNOTICED = timedelta(minutes=15)
"""A pod on a node without a notice goes back so long after its release, whatever that notes.

One whose eviction was asked for stays for ``LONGEST_PATIENCE`` and ``COMES_BACK`` at most.
"""

COMES_BACK = timedelta(seconds=30)
"""So long a pod is left to the drainer that asked for its eviction, once that may pass.

kubectl asks again after 5 s, Karpenter after 10 s at most.
"""

EVICTION_OVERHEAD = timedelta(seconds=1)
"""What one eviction costs on top of the queue before it: a round trip and a kubelet's sync.

For an API server that takes longer to answer evictions begin earlier (``decisions.drain.agenda``).
"""


class Deadline(msgspec.Struct, frozen=True):
    """When a pod has to be gone, and what happens then.

    ``forced``: it goes then, replacement or not, because its node dies. Otherwise the move
    was voluntary and is rolled back.
    """

    at: datetime
    forced: bool

    def evict_by(self, pod: Pod, *, is_replaced: bool = True) -> datetime:
        """The eviction deadline: sent by then, its grace period fits before the deadline.

        All of it where no other pod replaces this one, which is in the past if it is longer than
        what is left. A grace period below zero, which the API server stores, is none: it never
        comes after the deadline.
        """
        grace = max(pod.grace, timedelta())
        return self.at - (min(grace, LONGEST_GRACE) if is_replaced else grace) - EVICTION_OVERHEAD

    def latest(self, pod: Pod, stops_in: timedelta | None) -> datetime:
        """The eviction deadline of a pod that stands last: what it needs to stop fits, no more.

        ``stops_in``: the longest that one of its workload's pods was seen to take; None: none was.
        Then it is a few seconds from its SIGTERM.
        """
        needed = max(stops_in or A_FEW_SECONDS + pod.sleeps, A_FEW_SECONDS)
        return max(self.evict_by(pod), self.at - needed - EVICTION_OVERHEAD)


def node_deadline(notice: NodeNotice) -> Deadline:
    """The deadline of a pod on a doomed node. Only a notice that is no hint forces."""
    return Deadline(notice.deadline, forced=not notice.is_hint)


def released_deadline(
    release: Release, notice: NodeNotice | None, longer: timedelta = timedelta()
) -> Deadline:
    """The deadline of a released pod.

    - its node dies: the node's. The pod's own, of a recommendation that expires sooner, would
      only take it away while its node still lives;
    - its node may die: the earlier of both, and it goes back then;
    - its node turned out to live: its own, and it goes back, whatever it was released for; and
      before long, for then nothing but the annotation says how long that may take.

    ``longer``: so much later than the release says, for a replacement has a node.
    """
    own = release.deadline + longer
    if notice is None:
        longest = LONGEST_PATIENCE + COMES_BACK if release.is_asked else LONGEST_UNNOTICED
        return Deadline(min(own, release.since + longest), forced=False)
    if not notice.is_hint:
        return Deadline(notice.deadline, forced=True)
    return Deadline(min(notice.deadline, own), forced=False)
