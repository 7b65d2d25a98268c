"""Reading where workloads stand: from lists, none of which has to be fresh."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenkeel.decisions.floor.source import floor_of
from evenkeel.decisions.floor.standing import Standing, Workload, stand
from evenkeel.flows.handover.pods import controller_key_of
from evenkeel.flows.handover.reading import list_all
from evenkeel.model import names
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import List, Selection
from evenkeel.model.surroundings import Namespace
from evenkeel.model.workload import Deployment, ReplicaSet, StatefulSet
from evenkeel.ports import Cluster


@dataclass(frozen=True, slots=True)
class Found:
    """Where each workload stands, and the nodes that have no label of a capacity type."""

    standings: Sequence[Standing]
    unlabelled: Sequence[str]


def gather(cluster: Cluster, namespace: str = "") -> Found:
    """Read a namespace, or all. Raises ClusterError."""
    kinds: list[Any] = [Deployment, StatefulSet, ReplicaSet, Pod]
    requests: list[List[Any]] = [List(Selection(kind, namespace), fresh=False) for kind in kinds]
    requests += [List(Selection(Namespace), fresh=False), List(Selection(Node), fresh=False)]
    deployments, stateful_sets, replica_sets, pods, namespaces, nodes = list_all(cluster, requests)
    pods_of = _pods_by_workload(pods, replica_sets)
    spaces = {each.name: each for each in namespaces}
    by_name = {node.name: node for node in nodes}
    standings = [
        _standing(workload, spaces, pods_of[workload.key], by_name)
        for workload in (*deployments, *stateful_sets)
    ]
    standings.sort(key=lambda each: (each.workload.namespace, each.workload.name))
    unlabelled = sorted(
        node.name
        for node in nodes
        if not any(label in node.metadata.labels for label in names.CAPACITY_LABELS)
    )
    return Found(standings, unlabelled)


def _pods_by_workload(
    pods: Iterable[Pod], replica_sets: Iterable[ReplicaSet]
) -> Mapping[str, Sequence[Pod]]:
    """By the key of the Deployment or StatefulSet that owns them, or did before a release."""
    above = {each.key: each.controller_key for each in replica_sets}
    found: defaultdict[str, list[Pod]] = defaultdict(list)
    for pod in pods:
        key = controller_key_of(pod)
        found[above.get(key, key)].append(pod)
    return found


def _standing(
    workload: Workload,
    spaces: Mapping[str, Namespace],
    pods: Sequence[Pod],
    nodes: Mapping[str, Node],
) -> Standing:
    space = spaces.get(workload.namespace)
    annotations = space.metadata.annotations if space is not None else {}
    labels = space.metadata.labels if space is not None else {}
    return stand(
        workload,
        floor_of(workload, annotations),
        pods,
        nodes,
        is_managed=labels.get(names.MANAGED) == "true",
    )
