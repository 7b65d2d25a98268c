"""What a list shows of workloads at one moment, and whether an observer counts the same."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import msgspec

from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.meta import Reference
from evenkeel.model.pod import Pod
from evenkeel_sandbox.observer.workloads import Observer
from evenkeel_sandbox.simulator.cluster import SimulatedCluster


def serving(cluster: SimulatedCluster, lost: Collection[str]) -> Mapping[Reference, int]:
    """How many pods of each workload a list shows that are Ready, and not told to go.

    ``lost`` are nodes without a machine, of whose pods no list tells that.
    """
    above = {
        each.key: _top(each)
        for each in (msgspec.convert(obj, ReplicaSet) for obj in cluster.objects("ReplicaSet"))
    }
    found = Counter[Reference]()
    for obj in cluster.objects("Pod"):
        pod = msgspec.convert(obj, Pod)
        if pod.active and pod.ready and pod.spec.node_name not in lost:
            found[above.get(pod.origin_key) or _owner(pod)] += 1
    return found


def differences(
    observer: Observer, cluster: SimulatedCluster, lost: Collection[str]
) -> Sequence[str]:
    """Where an observer counts other pods than a list shows."""
    listed = serving(cluster, lost)
    counted = {health.workload: health.ready for health in observer.workloads.values()}
    return [
        f"{workload}: {counted.get(workload, 0)} counted, {listed.get(workload, 0)} listed"
        for workload in sorted(counted.keys() | listed.keys(), key=str)
        if counted.get(workload, 0) != listed.get(workload, 0)
    ]


def _top(replica_set: ReplicaSet) -> Reference:
    owner = replica_set.controller
    kind, name = (
        ("ReplicaSet", replica_set.name) if owner is None else (owner.full_kind, owner.name)
    )
    return Reference(kind=kind, namespace=replica_set.namespace, name=name)


def _owner(pod: Pod) -> Reference:
    owner = pod.metadata.controller
    kind, name = ("Pod", pod.name) if owner is None else (owner.full_kind, owner.name)
    return Reference(kind=kind, namespace=pod.namespace, name=name)
