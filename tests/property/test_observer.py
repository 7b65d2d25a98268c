"""What the observer counts is what a list shows, whoever comes to own pods meanwhile."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from evenkeel_sandbox import synthetic
from evenkeel_sandbox.simulation import Simulation
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.options import SimulatorOptions
from tests.kit.agreeing import differences
from tests.property.judging import tries

SECOND = timedelta(seconds=1)
BEGIN = datetime(2026, 2, 1, tzinfo=UTC)
SECONDS = 160
COLLECTED = 75
"""So many seconds after a node is gone its pods are, too."""

NODES = 4


class Change(NamedTuple):
    """What somebody does after so many seconds, and to which object, by its position."""

    after: int
    what: str
    which: int


class Tale(NamedTuple):
    """A cluster, how many requests a controller may send a second, and what is done meanwhile."""

    objects: Sequence[dict[str, Any]]
    qps: float
    changes: Sequence[Change]


def _without_owners(each: dict[str, Any]) -> dict[str, Any]:
    metadata = {k: v for k, v in each["metadata"].items() if k != "ownerReferences"}
    return {**each, "metadata": metadata}


@st.composite
def tales(draw: st.DrawFn) -> Tale:
    """A made-up cluster, some of whose pods and ReplicaSets have lost their owners."""
    objects = synthetic.objects(NODES, draw(st.integers(4, 16)))
    stripped = [
        _without_owners(each)
        if each["kind"] in ("Pod", "ReplicaSet") and draw(st.booleans())
        else each
        for each in objects
    ]
    whats = st.sampled_from(["kill", "kill and come back", "scale", "delete", "orphan"])
    changes = st.builds(Change, st.integers(0, 60), whats, st.integers(0, 99))
    return Tale(stripped, draw(st.sampled_from([1.0, 20.0])), draw(st.lists(changes, max_size=4)))


def _make(simulation: Simulation, change: Change) -> None:
    cluster = simulation.cluster

    def one(kind: str) -> dict[str, Any] | None:
        there = cluster.objects(kind)
        return there[change.which % len(there)] if there else None

    match change.what:
        case "kill" | "kill and come back" if (node := one("Node")) is not None:
            name = node["metadata"]["name"]
            cluster.kill_node(name, remove_after=SECOND)
            simulation.observer.lose(name)
            if change.what != "kill":
                simulation.clock.call_in(COLLECTED * SECOND, lambda: simulation.join([node]))
        case "scale" if (each := one("Deployment")) is not None:
            metadata = each["metadata"]
            cluster.scale("Deployment", metadata["name"], metadata["namespace"], change.which % 5)
        case "delete" if (pod := one("Pod")) is not None:
            cluster.delete("Pod", pod["metadata"]["name"], pod["metadata"]["namespace"])
        case "orphan" if (replica_set := one("ReplicaSet")) is not None:
            cluster.apply({**replica_set, "metadata": _orphaned(replica_set)})


def _orphaned(each: dict[str, Any]) -> dict[str, Any]:
    metadata = each["metadata"]
    named = {"name": metadata["name"], "namespace": metadata["namespace"]}
    return {**named, "ownerReferences": None}


@tries(0.3)
@given(tales())
def test_the_observer_counts_what_a_list_shows(tale: Tale) -> None:
    clock = SimulatedClock(BEGIN)
    options = SimulatorOptions(controller_qps=tale.qps, controller_burst=1)
    cluster = SimulatedCluster(clock, options)
    cluster.load(*tale.objects)
    simulation = Simulation(clock, cluster)
    try:
        for second in range(SECONDS):
            for change in tale.changes:
                if change.after == second:
                    _make(simulation, change)
            simulation.advance(SECOND)
            there = {each["metadata"]["name"] for each in cluster.objects("Node")}
            dead = {name for name in there if cluster._kubelets.is_dead(name)}
            gone = {name for name in _used(cluster) if name not in there}
            told = differences(simulation.observer, cluster, dead | gone)
            assert not told, f"after {second} s: {told}"
    finally:
        simulation.close()


def _used(cluster: SimulatedCluster) -> set[str]:
    return {each["spec"].get("nodeName", "") for each in cluster.objects("Pod")} - {""}
