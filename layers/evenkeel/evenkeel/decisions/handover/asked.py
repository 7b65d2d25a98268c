"""Released pods whose eviction somebody else asked for: who asked is to finish it.

docs/decisions/0019 says why.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from evenkeel.decisions.handover import verdicts
from evenkeel.decisions.handover.census import Census, ReleasedPod
from evenkeel.model.decision import Decision
from evenkeel.model.release import ReleaseReason

COMES_BACK: Final = timedelta(seconds=30)
"""So long after its replacement is available a pod is left to the drainer that asked for it.

kubectl asks again after 5 s, Karpenter after 10 s at most.
"""


class Left(NamedTuple):
    """What becomes of a pod instead of an eviction, and when that may change by time alone."""

    decision: Decision
    due: datetime | None = None


def left_to_drainer(census: Census, item: ReleasedPod) -> Left | None:
    """Why a pod that can go is not evicted by the reconciler; None if it is.

    - its node does not die, and the drainer may still come back;
    - it did not: where the node is kept empty it gave up in the middle, and the pod is evicted.
      Where it takes pods, that was a single eviction, and the pod goes back;
    - whether the node is kept empty is not known yet.
    """
    if item.release.reason is not ReleaseReason.EVICTION or census.deadline_of(item).forced:
        return None
    until = max(item.release.since, census.last_available_at or item.release.since) + COMES_BACK
    if census.now < until:
        return Left(verdicts.wait(census, item.pod, "LeftToDrainer", until), until)
    is_kept_empty = census.cordons.get(item.pod.spec.node_name)
    if is_kept_empty:
        return None
    if is_kept_empty is None:
        return Left(verdicts.wait(census, item.pod, "LeftToDrainer", until))
    message = f"{item.release.asked_by} asked for its eviction once: back to its owner"
    return Left(verdicts.roll_back(census, item, "NotAskedAgain", message))
