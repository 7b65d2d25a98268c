"""The nodes of a cluster, and what is taken of each."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain

import msgspec

from evenkeel.model.capacity import WELL_KNOWN, Capacity, CapacityLabels
from evenkeel.model.cluster_objects import PersistentVolume
from evenkeel.model.losses import Loss, lost_pools
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool, pools_of


class Fleet(msgspec.Struct, frozen=True, dict=True):
    """The nodes by name, those that are doomed, and what the pods on each of them asked for.

    ``labels`` tell the nodes' capacity types. ``losses``: which pools lost a node to a warning
    lately, or are about to; some of the nodes are gone. ``volumes`` are the cluster's, by name;
    None: they may not be read.
    """

    nodes: Mapping[str, Node]
    doomed: frozenset[str]
    used: Mapping[str, Mapping[str, float]]
    labels: CapacityLabels = WELL_KNOWN
    losses: Sequence[Loss] = ()
    volumes: Mapping[str, PersistentVolume] | None = None

    @cached_property
    def pools(self) -> Mapping[str, Pool | None]:
        """The pool of each node, by the node's name; None for an on-demand node."""
        return pools_of(self.nodes.values(), self.labels)

    @cached_property
    def lost(self) -> frozenset[str]:
        """The nodes of pools that lost one: others may follow."""
        pools = lost_pools(self.losses)
        return frozenset(node for node, pool in self.pools.items() if pool in pools)

    @cached_property
    def elsewhere(self) -> frozenset[str]:
        """The nodes that no EC2 instance runs."""
        return frozenset(n for n, node in self.nodes.items() if self.labels.elsewhere(node))

    @cached_property
    def capacities(self) -> Mapping[str, Capacity]:
        """The capacity type of each node, by the node's name."""
        return {name: self.labels.of(node) for name, node in self.nodes.items()}

    def capacity(self, pod: Pod) -> Capacity | None:
        """The capacity type of a pod's node; None without a node that is known."""
        return self.capacities.get(pod.spec.node_name)


def used_by(
    pods: Iterable[Pod], others: Iterable[tuple[str, Mapping[str, float]]] = ()
) -> Mapping[str, Mapping[str, float]]:
    """What these pods take of each node, by its name; ``others`` say what else takes how much."""
    used: defaultdict[str, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    of_pods = ((pod.spec.node_name, pod.spec.requests) for pod in pods if pod.spec.node_name)
    for node, amounts in chain(of_pods, others):
        taken = used[node]
        for name, amount in amounts.items():
            taken[name] += amount
    return used
