"""Released pods whose eviction somebody else asked for: that drainer is to finish it.

docs/decisions/0019 says why.
"""

from typing import Final

from evenkeel.decisions.drain import verdicts
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.deadlines import COMES_BACK
from evenkeel.decisions.drain.movers import ReleasedPod
from evenkeel.decisions.drain.pod_plan import PodPlan
from evenkeel.model import names
from evenkeel.model.reasons import Reason
from evenkeel.model.times import in_words

FINISHED_HERE: Final = frozenset({names.ASKED_BEFORE, names.REQUEST_EVICT_ONLY})
"""Annotations of pods that the reconciler evicts as soon as their replacements are available.

They were put back before and are asked for again, or their owner has evictions go on in the
background.
"""


def before_eviction(census: Census, item: ReleasedPod) -> PodPlan | None:
    """Why a pod that has a replacement is not evicted by the reconciler; None if it is.

    - its node dies, or nobody is to ask for it again (``FINISHED_HERE``): it is evicted;
    - the drainer may still come back, until the release ends: it is left to the drainer;
    - it did not come back. Where the node is kept empty it gave up in the middle, and the pod is
      evicted. Where that is not known yet, the pod waits. Where the node takes pods, the pod goes
      back, with a note: that was a single eviction, or its drainer comes seldom.
    """
    pod, release, deadline = item.pod, item.release, item.deadline
    if not release.is_asked or deadline.forced:
        return None
    if not FINISHED_HERE.isdisjoint(pod.metadata.annotations):
        return None
    until = max(release.since, census.last_available_at or release.since)
    until += census.settle + COMES_BACK
    until = min(until, deadline.at)
    cause = f"it is left to {release.asked_by}"
    wait = verdicts.wait(census, pod, Reason.LEFT_TO_DRAINER, until, cause)
    if census.now < until:
        return PodPlan(wait, until)
    is_kept_empty = census.nodes.kept_empty.get(pod.spec.node_name)
    if is_kept_empty:
        return None
    if is_kept_empty is None and census.now < deadline.at:
        return PodPlan(wait, deadline.at)
    message = f"{release.asked_by} asked for its eviction once"
    note = {names.ASKED_BEFORE: in_words(census.now)}
    back = verdicts.roll_back(census, item, Reason.NOT_ASKED_AGAIN, message, note)
    return PodPlan(back, deadline.at)
