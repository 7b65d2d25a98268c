"""What stands in the way of a handover on this very cluster: quotas that are used up."""

from collections.abc import Collection, Iterator
from typing import Any, Final

from evenkeel.decisions.drain.route import Way
from evenkeel.errors import ForbiddenError
from evenkeel.flows.reads import list_all
from evenkeel.model.cluster_objects import ResourceQuota
from evenkeel.model.request import List, Selection
from evenkeel.ports import Cluster
from evenkeel_cli.ways import Situation
from evenkeel_sandbox.simulator.api.objects import number

NEEDED: Final = ("pods", "count/pods", "cpu", "memory", "requests.cpu", "requests.memory")
"""The limits of a quota that any replacement takes something of."""


def find(cluster: Cluster, situations: Collection[Situation]) -> list[str]:
    """Sentences about the quotas under which no replacement of a pod can be made.

    Whether a node has room for it is not looked at. Raises ClusterError, but for a person who
    may not read quotas: then a sentence says that.
    """
    namespaces = {
        each.pod.namespace for each in situations if each.way(hint=False).way is Way.HANDOVER
    }
    requests: list[List[Any]] = [
        List(Selection(ResourceQuota, namespace)) for namespace in sorted(namespaces)
    ]
    try:
        found = list_all(cluster, requests)
    except ForbiddenError as error:
        return [f"Whether a ResourceQuota leaves room for replacements is unknown: {error}."]
    return [sentence for quotas in found for quota in quotas for sentence in _about(quota)]


def _about(quota: ResourceQuota) -> Iterator[str]:
    hard, used = quota.status.hard, quota.status.used
    full = [
        f"{key} {used[key]} of {hard[key]}"
        for key in NEEDED
        if key in hard and key in used and number(used[key]) >= number(hard[key])
    ]
    if full:
        yield (
            f"ResourceQuota {quota.namespace}/{quota.name} leaves no room ({', '.join(full)}): no"
            " replacement can be made. As it is now, its pods go at their last moment on a"
            " warning, and stay on a recommendation."
        )
