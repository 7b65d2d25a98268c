"""Small random worlds: nodes in zones, a workload with its rules, strangers, and when nodes go."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from random import Random
from typing import Any, Final

from evenkeel.model.notice import NoticeKind
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.options import SimulatorOptions
from evenkeel_sandbox.storms.shapes import Pools, Strike
from tests.kit import manifests
from tests.kit.manifests import Manifest
from tests.kit.queueing import GATED, opens_gates

KINDS: Final = (
    "Node",
    "ResourceQuota",
    "Deployment",
    "ReplicaSet",
    "StatefulSet",
    "Job",
    "Pod",
    "PodDisruptionBudget",
    "Service",
)
"""What a world is made of, once it is at rest."""

SETTLES: Final = timedelta(seconds=60)
"""What it takes beside the starts of its pods, one after the other, to be at rest."""

OTHER_SEED: Final = 987_654_321
"""A storm's own cluster draws its uids by another seed: none of them is there twice."""

HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
MANY: Final = 20
"""More seats than a world has pods."""

WARNED: Final = 120
"""Seconds from a warning to the end of a node."""

STOP, COMPLETE, LOCK = (
    f"evenkeel.test/{each}" for each in ("stop-after", "complete-after", "lock")
)


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A Deployment, StatefulSet or Job.

    ``stop``: seconds that its pods take to stop, if their grace period allows it. ``apart``: the
    topology in which its pods keep off one another; empty: none. ``budgets``: the
    specs of its PodDisruptionBudgets. ``is_gated``: a queue lets in no more than
    ``replicas`` of its pods; ``has_quota``: a quota allows no more. ``runs``: seconds for which a
    Job's pods run, and ``runs_on`` for which those run on that are there when the storm begins.
    ``is_locked``: a pod of it crashes while another one runs. ``is_balanced``: a load balancer
    leads to it. ``more``: further fields of its spec.
    """

    app: str
    kind: str
    replicas: int
    grace: int
    stop: int
    apart: str
    budgets: Sequence[Manifest]
    is_gated: bool
    has_quota: bool
    runs: int
    runs_on: int
    more: Manifest
    is_locked: bool = False
    is_balanced: bool = False

    @property
    def takes_turns(self) -> bool:
        """Whether a pod has to go before the next one comes."""
        by_kind = self.kind == "StatefulSet" or "strategy" in self.more
        return by_kind or self.apart == ZONE or self.is_gated or self.has_quota

    @property
    def makes_in_order(self) -> bool:
        """Whether its controller makes one pod after the other."""
        return self.more.get("podManagementPolicy") == "OrderedReady"

    @property
    def manifests(self) -> Sequence[Manifest]:
        """It, its budgets, its Service, and its namespace's quota."""
        notes = {STOP: f"{self.stop}s", **({LOCK: self.app} if self.is_locked else {})}
        pod: Manifest = {"cpu": "300m", "grace": self.grace, "annotations": notes}
        if self.apart:
            pod |= manifests.apart(self.app, self.apart)
        if self.is_gated:
            pod |= GATED
        return [
            self._made(pod),
            *(
                manifests.budget(f"{self.app}-{number}", self.app, **spec)
                for number, spec in enumerate(self.budgets)
            ),
            *([manifests.balanced(self.app)] if self.is_balanced else []),
            *([manifests.quota(pods=str(self.replicas))] if self.has_quota else []),
        ]

    def _made(self, pod: Manifest) -> Manifest:
        if self.kind == "Job":
            pod["annotations"] |= {COMPLETE: f"{self.runs}s"}
            each: Manifest = {"parallelism": self.replicas, "completions": self.replicas}
            return manifests.job(self.app, pod=pod, **each)
        make = manifests.deployment if self.kind == "Deployment" else manifests.stateful_set
        return make(self.app, self.replicas, pod=pod, **self.more)


@dataclass(frozen=True, kw_only=True)
class World:
    """What stands before a storm, how fast pods and nodes come, and when which node is warned.

    ``seats``: so many there may be. ``has_hooks``: Auto Scaling groups take the nodes, and wait for
    lifecycle hooks, five minutes if nobody answers.
    ``nodes``: the manifests of all nodes, those of on-demand last; ``spot`` are the names of the
    others. ``pod_start`` and ``node_start`` are in seconds. ``sold_out``: the zone in which no node
    can be had; empty: none is.
    """

    nodes: Sequence[Manifest]
    spot: Sequence[str]
    workload: Workload
    pod_start: float
    node_start: float
    sold_out: str
    warnings: Sequence[Strike]
    seats: int = 0
    has_hooks: bool = False

    def strikes(self, _pools: Pools, _seed: int) -> Sequence[Strike]:
        """The warnings, as ``simulate`` asks a shape for them."""
        return self.warnings

    def strangers(self, clock: SimulatedClock, cluster: SimulatedCluster) -> None:
        """Let others act that the world has."""
        if self.workload.is_gated:
            opens_gates(clock, cluster, self.workload.replicas)

    def at_rest(self) -> Sequence[dict[str, Any]]:
        """Its objects, once all pods are Ready: on spot, as far as there is room."""
        clock = SimulatedClock()
        start, number = self.pod_start, self.workload.replicas
        options = SimulatorOptions(start_seconds=(start, start), seed=OTHER_SEED)
        cluster = SimulatedCluster(clock, options)
        for node in self.nodes:
            is_spot = node["metadata"]["name"] in self.spot
            cluster.apply({**node, "spec": {**node["spec"], "unschedulable": not is_spot}})
        cluster.apply(*self.workload.manifests)
        self.strangers(clock, cluster)
        clock.advance(SETTLES + number * timedelta(seconds=start))
        hit = {each.node for each in self.warnings}
        for node in self.nodes:
            is_hit = node["metadata"]["name"] in hit
            cluster.apply({**node, "spec": {**node["spec"], "unschedulable": is_hit}})
        clock.advance(SETTLES)
        found = [each for kind in KINDS for each in cluster.objects(kind)]
        clock.stop()
        for each in found:
            notes = each["metadata"].get("annotations", {})
            if each["kind"] == "Pod" and COMPLETE in notes:
                notes[COMPLETE] = f"{self.workload.runs_on}s"
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
    workload = _workload(chance, "web", most_apart)
    hit = spot if chance.random() < 0.6 else chance.sample(spot, chance.randint(1, len(spot)))
    spread = chance.choice([0, 0, 60, 180])
    warnings = [Strike(timedelta(seconds=chance.randint(0, spread)), name) for name in hit]
    starts = chance.choice([2, 10, 20, 40, 100]), chance.choice([30, 60, 80, 90, 95])
    sold_out, hints = chance.choice(["", "", "", "", *zones]), _hints(chance, spot)
    if (workload.kind, workload.replicas) == ("Deployment", 1):
        workload = replace(workload, is_locked=chance.random() < 0.3)
    seats, has_hooks = chance.choice([0, MANY]), chance.random() < 0.1
    is_balanced = workload.kind != "Job" and chance.random() < 0.5
    return World(
        nodes=nodes,
        spot=spot,
        workload=replace(workload, is_balanced=is_balanced),
        pod_start=starts[0],
        node_start=starts[1],
        sold_out=sold_out,
        warnings=sorted([*hints, *warnings]),
        seats=seats,
        has_hooks=has_hooks,
    )


def _hints(chance: Random, spot: Sequence[str]) -> Sequence[Strike]:
    """Recommendations for some nodes, seldom. Those of the nodes that die come before, or late."""
    if chance.random() < 0.75:
        return []
    kind, most = NoticeKind.REBALANCE, chance.choice([0, 60, 180])
    hinted = chance.sample(spot, chance.randint(1, len(spot)))
    return [Strike(timedelta(seconds=chance.randint(0, most)), name, kind) for name in hinted]


def _workload(chance: Random, app: str, most_apart: dict[str, int]) -> Workload:
    kind = chance.choice(["Deployment"] * 4 + ["StatefulSet"] * 2 + ["Job"])
    apart = chance.choice(["", "", "", HOST, ZONE])
    replicas = min(chance.choice([1, 1, 2, 3, 3, 5, 6, 9]), most_apart[apart])
    more: Manifest = {}
    if kind == "StatefulSet":
        more = {"podManagementPolicy": chance.choice(["OrderedReady", "Parallel"])}
    elif kind == "Deployment" and chance.random() < 0.2:
        more = manifests.NO_SURGE
    budgets: list[list[Manifest]] = [
        [],
        [],
        [{"maxUnavailable": 0}],
        [{"maxUnavailable": 1}],
        [{"maxUnavailable": "30%"}],
        [{"minAvailable": max(1, replicas - 1)}],
        [{"minAvailable": "50%"}],
        [{"maxUnavailable": 1}, {"minAvailable": "50%"}],
    ]
    grace = chance.choice([5, 30, 30, 60, 110])
    return Workload(
        app=app,
        kind=kind,
        replicas=replicas,
        grace=grace,
        stop=min(grace, chance.choice([1, 1, 1, 5, 20, 60])),
        apart=apart,
        budgets=chance.choice(budgets) if replicas > 1 and kind != "Job" else [],
        is_gated=kind == "Deployment" and chance.random() < 0.1,
        has_quota=kind == "Deployment" and chance.random() < 0.1,
        runs=chance.choice([1_200, 1_500]),
        runs_on=chance.choice([20, 60, 100, 200]),
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
