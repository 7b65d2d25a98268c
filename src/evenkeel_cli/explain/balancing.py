"""What it costs a workload's requests that its pods are targets of a load balancer."""

from collections.abc import Iterable, Iterator

import msgspec

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.flows import namespace_objects
from evenkeel.flows.reads import of_kind
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import Get, Read
from evenkeel.ports import Cluster
from evenkeel_cli.decisions.balancing import Cost, costs
from evenkeel_cli.ways import Situation


def find(cluster: Cluster, situations: Iterable[Situation]) -> Iterator[str]:
    """A sentence for each cost. What a cluster does not serve, or let be read, leads nowhere."""
    served = [each for each in situations if each.namespace_objects.services_of(each.pod)]
    found = dict[Cost, None]()
    homes = dict[str, tuple[Namespace | None, NamespaceObjects]]()
    for each in served:
        name = each.pod.namespace
        if name not in homes:
            asked: list[Read] = [Get(Namespace, name), *namespace_objects.leading(name)]
            home, *lists = (reply.result for reply in cluster.perform(asked))
            leading = NamespaceObjects.of(of_kind(KubernetesObject, *lists)).leading
            around = msgspec.structs.replace(each.namespace_objects, leading=leading)
            homes[name] = home if isinstance(home, Namespace) else None, around
        of, around = homes[name]
        found |= dict.fromkeys(costs(each.pod, around, each.owner.min_ready_seconds, of))
    for cost in found:
        yield f"{cost.message[0].upper()}{cost.message[1:]}: {cost.remedy}."
