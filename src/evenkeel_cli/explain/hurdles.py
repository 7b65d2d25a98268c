"""What stands in the way of a handover on this very cluster: quotas without room."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from evenkeel.decisions.drain.returning import WARNING
from evenkeel.errors import ForbiddenError
from evenkeel.flows.reads import list_all
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.pod import PLACES
from evenkeel.model.quantity import number
from evenkeel.model.request import List, Selection
from evenkeel.model.way import Way
from evenkeel.ports import Cluster
from evenkeel_cli.resource_quota import ResourceQuota
from evenkeel_cli.ways import Situation

LIMITED: Final[Mapping[str, str]] = {
    "pods": PLACES,
    "count/pods": PLACES,
    "cpu": "cpu",
    "memory": "memory",
    "requests.cpu": "cpu",
    "requests.memory": "memory",
}
"""The limits of a quota of which a replacement takes something, and of which resource."""

IN_TURNS: Final = (
    "its pods go in turns on a warning, each new one in the place of an old one, and stay on a"
    " recommendation"
)
AT_THE_END: Final = "its pod goes at its last moment on a warning, and stays on a recommendation"


def find(cluster: Cluster, situations: Collection[Situation]) -> list[str]:
    """Sentences about the quotas under which no replacement of a pod can be made.

    Whether a node has room for it is not looked at. Raises ClusterError, but for a person who
    may not read quotas: then a sentence says that.
    """
    handed = defaultdict[str, list[Situation]](list)
    for each in situations:
        if each.way_for(WARNING).way is Way.HANDOVER:
            handed[each.pod.namespace].append(each)
    requests: list[List[Any]] = [
        List(Selection(ResourceQuota, namespace)) for namespace in sorted(handed)
    ]
    try:
        found = list_all(cluster, requests)
    except ForbiddenError as error:
        return [f"Whether a ResourceQuota leaves room for replacements is unknown: {error}."]
    return [
        sentence
        for quotas in found
        for quota in quotas
        for sentence in _about(quota, handed[quota.namespace])
    ]


def _about(quota: ResourceQuota, handed: Collection[Situation]) -> Iterator[str]:
    """A sentence if a quota has no room for another one like one of these pods."""
    hard, used = quota.status.hard, quota.status.used
    full = [
        f"{key} {used[key]} of {hard[key]}"
        for key, resource in LIMITED.items()
        if key in hard and key in used
        if number(used[key]) + max(each.pod.spec.requests.get(resource, 0) for each in handed)
        > max(number(hard[key]), number(used[key]))
    ]
    if full:
        how = IN_TURNS if any(map(_is_one_of_several, handed)) else AT_THE_END
        yield (
            f"ResourceQuota {quota.namespace}/{quota.name} leaves no room ({', '.join(full)}): no"
            f" replacement can be made beside the old pod. As it is now, {how}."
        )


def _is_one_of_several(situation: Situation) -> bool:
    controller = situation.owner.controller
    return isinstance(controller, ReplicaSet) and controller.spec.replicas > 1
