"""Groups of pods that are placed together or not at all, as far as schedulers know them."""

from collections.abc import Sequence

from evenkeel.model.gang import LABELS
from evenkeel_sandbox.simulator.api.objects import (
    Obj,
    at,
    is_finished,
    is_leaving,
    labels_of,
    node_of,
)
from evenkeel_sandbox.simulator.api.store import Store


def group_of(pod: Obj) -> str:
    """The name of a pod's group; empty without one."""
    own = at(pod, "spec", "schedulingGroup", "podGroupName", default="")
    labels = labels_of(pod)
    return str(own) or next((labels[each] for each in LABELS if each in labels), "")


def together(store: Store, pod: Obj) -> Sequence[Obj]:
    """The pods that have to find nodes at once, this one first; none where there are too few.

    Once as many as the group's minimum have nodes, each further one is placed by itself. A group
    that is not there has no minimum yet, so its pods wait.
    """
    name = group_of(pod)
    if not name:
        return [pod]
    namespace = pod["metadata"]["namespace"]
    group = store.get("PodGroup", (namespace, name))
    if group is None:
        return []
    gang = at(group, "spec", "schedulingPolicy", "gang", "minCount", default=None)
    minimum = int(gang or at(group, "spec", "minMember", default=1))
    living = [
        each
        for each in store.all("Pod", namespace)
        if group_of(each) == name and not is_finished(each)
    ]
    missing = minimum - sum(bool(node_of(each)) for each in living)
    if missing <= 1:
        return [pod]
    uid = pod["metadata"]["uid"]
    waiting = [
        each
        for each in living
        if not node_of(each) and not is_leaving(each) and each["metadata"]["uid"] != uid
    ]
    return [pod, *waiting[: missing - 1]] if len(waiting) >= missing - 1 else []
