"""Small random worlds: nodes in zones, a few workloads with their rules, and when nodes go."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import Any, Final

from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.options import SimulatorOptions
from evenkeel_sandbox.storms.shapes import Pools, Strike
from tests.kit import manifests
from tests.kit.manifests import Manifest

KINDS: Final = ("Node", "Deployment", "ReplicaSet", "StatefulSet", "Pod", "PodDisruptionBudget")
"""What a world is made of, once it is at rest."""

SETTLES: Final = timedelta(seconds=60)

OTHER_SEED: Final = 987_654_321
"""A storm's own cluster draws its uids by another seed: none of them is there twice."""

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A Deployment or StatefulSet of pods that stop in a second.

    ``apart``: the topology in which its pods keep off one another; empty: none. ``budget``: the
    spec of its PodDisruptionBudget; None: it has none. ``more``: further fields of its spec.
    """

    app: str
    kind: str
    replicas: int
    grace: int
    apart: str
    budget: Manifest | None
    more: Manifest

    @property
    def takes_turns(self) -> bool:
        """Whether a pod has to go before the next one comes."""
        return self.kind == "StatefulSet" or "strategy" in self.more

    @property
    def manifests(self) -> Sequence[Manifest]:
        """It, and its budget."""
        pod: Manifest = {"cpu": "300m", "grace": self.grace}
        if self.apart:
            term = {"topologyKey": self.apart, "labelSelector": {"matchLabels": {"app": self.app}}}
            required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
            pod["affinity"] = {"podAntiAffinity": required}
        make = manifests.deployment if self.kind == "Deployment" else manifests.stateful_set
        made = make(self.app, self.replicas, pod=pod, **self.more)
        return [made] if self.budget is None else [made, manifests.budget(self.app, **self.budget)]


@dataclass(frozen=True, kw_only=True)
class World:
    """What stands before a storm, how fast pods and nodes come, and when which node is warned.

    ``nodes``: the manifests of all nodes, those of on-demand last; ``spot`` are the names of the
    others. ``pod_start`` and ``node_start`` are in seconds.
    """

    nodes: Sequence[Manifest]
    spot: Sequence[str]
    workloads: Sequence[Workload]
    pod_start: float
    node_start: float
    warnings: Sequence[Strike]

    def strikes(self, _pools: Pools, _seed: int) -> Sequence[Strike]:
        """The warnings, as ``simulate`` asks a shape for them."""
        return self.warnings

    def at_rest(self) -> Sequence[dict[str, Any]]:
        """Its objects, once all pods are Ready: on spot, as far as there is room."""
        clock = SimulatedClock()
        options = SimulatorOptions(start_seconds=(1, 1), seed=OTHER_SEED)
        cluster = SimulatedCluster(clock, options)
        for node in self.nodes:
            is_spot = node["metadata"]["name"] in self.spot
            cluster.apply({**node, "spec": {**node["spec"], "unschedulable": not is_spot}})
        for workload in self.workloads:
            cluster.apply(*workload.manifests)
        clock.advance(SETTLES)
        hit = {each.node for each in self.warnings}
        for node in self.nodes:
            is_hit = node["metadata"]["name"] in hit
            cluster.apply({**node, "spec": {**node["spec"], "unschedulable": is_hit}})
        clock.advance(SETTLES)
        found = [each for kind in KINDS for each in cluster.objects(kind)]
        clock.stop()
        return found


def world(seed: int) -> World:
    """One of them; the same seed gives the same."""
    chance = Random(seed)  # noqa: S311 - nothing is kept secret by it
    zones = "abc"[: chance.choice([1, 2, 3])]
    spot = [f"s{number}" for number in range(chance.randint(2, 5))]
    others = [f"o{number}" for number in range(chance.choice([1, 1, 2, 3]))]
    nodes = [_node(name, zones[n % len(zones)], cpu=4, is_spot=True) for n, name in enumerate(spot)]
    nodes += [
        _node(name, zones[n % len(zones)], cpu=chance.choice([1, 2, 4]), is_spot=False)
        for n, name in enumerate(others)
    ]
    most_apart = {"": 9, HOST: len(nodes), ZONE: len(zones)}
    workloads = [_workload(chance, "web", most_apart)]
    hit = spot if chance.random() < 0.6 else chance.sample(spot, chance.randint(1, len(spot)))
    spread = chance.choice([0, 0, 60, 180])
    return World(
        nodes=nodes,
        spot=spot,
        workloads=workloads,
        pod_start=chance.choice([2, 10, 20, 40]),
        node_start=chance.choice([30, 60, 80, 90, 95]),
        warnings=sorted(Strike(timedelta(seconds=chance.randint(0, spread)), name) for name in hit),
    )


def _workload(chance: Random, app: str, most_apart: dict[str, int]) -> Workload:
    kind = chance.choice(["Deployment", "Deployment", "StatefulSet"])
    apart = chance.choice(["", "", "", HOST, ZONE])
    replicas = min(chance.choice([1, 1, 2, 3, 3, 5, 6, 9]), most_apart[apart])
    more: Manifest = {}
    if kind == "StatefulSet":
        more = {"podManagementPolicy": chance.choice(["OrderedReady", "Parallel"])}
    elif chance.random() < 0.2:
        more = manifests.NO_SURGE
    budgets: list[Manifest | None] = [
        None,
        None,
        {"maxUnavailable": 1},
        {"maxUnavailable": "30%"},
        {"minAvailable": max(1, replicas - 1)},
        {"minAvailable": "50%"},
    ]
    return Workload(
        app=app,
        kind=kind,
        replicas=replicas,
        grace=chance.choice([5, 30, 30, 60, 110]),
        apart=apart,
        budget=chance.choice(budgets) if replicas > 1 else None,
        more=more,
    )


def _node(name: str, zone: str, *, cpu: int, is_spot: bool) -> Manifest:
    capacity = {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}
    labels = {
        "karpenter.sh/capacity-type": "spot" if is_spot else "on-demand",
        "node.kubernetes.io/instance-type": "m5.xlarge",
        HOST: name,
        ZONE: zone,
    }
    number = int.from_bytes(name.encode(), "big")
    return manifests.resource(
        "Node",
        name,
        labels=labels,
        spec={"providerID": f"aws:///{zone}/i-{number:017x}"},
        status={
            "conditions": [{"type": "Ready", "status": "True"}],
            "allocatable": capacity,
            "capacity": capacity,
        },
    )
