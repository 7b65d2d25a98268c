"""Bringing a snapshot to life: a simulated cluster that goes on from where the real one was."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from evenkeel.model import names
from evenkeel_sandbox.built_in.cluster import OPTIONS
from evenkeel_sandbox.collecting import uncollected
from evenkeel_sandbox.simulator.api.resources import manifest
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.options import SimulatorOptions

SETTLING: Final = timedelta(seconds=5)
"""For the simulated controllers to look around; a cluster at rest does not change meanwhile."""

UNKNOWN: Final = {names.MANAGED: "unknown"}
"""The labels of a namespace that is not in the snapshot."""

PATIENCE: Final = timedelta(minutes=5)
"""So long they may write on: statuses in their own words, adoptions, 20 a second each."""


MOST_MISSING: Final = 1_000
"""A workload that lacks more pods than these has none made for it: a quota or the like forbids
them, and a tenant may ask for two thousand million."""

SIZES: Final = ("replicas", "parallelism")
"""What workloads say in their specs how many pods they ask for."""


def build(
    objects: Sequence[Mapping[str, Any]],
    clock: SimulatedClock,
    options: SimulatorOptions = OPTIONS,
) -> SimulatedCluster:
    """A simulated cluster with a snapshot's objects as they are: uids, nodes, states."""
    cluster = SimulatedCluster(clock, options)
    cluster.apply(*missing_namespaces(objects))
    with uncollected():
        cluster.load(*_placeholders(objects))
        cluster.load(*sorted(map(bounded, objects), key=lambda item: item["kind"] == "Pod"))
        _settle(cluster, clock)
    return cluster


def bounded(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """A workload as it is, or, where it lacks too many pods, as if it asked for those it has."""
    spec, status = item.get("spec") or {}, item.get("status") or {}
    there = max(int(status.get(each) or 0) for each in ("replicas", "active"))
    wrong = [each for each in SIZES if int(spec.get(each) or 0) > there + MOST_MISSING]
    return {**item, "spec": {**spec, **dict.fromkeys(wrong, there)}} if wrong else item


def _settle(cluster: SimulatedCluster, clock: SimulatedClock) -> None:
    """Let time pass until nothing is written any more: what comes then is not held up by it."""
    end = clock.now() + PATIENCE
    before = None
    while before != cluster.server.store.revision and clock.now() < end:
        before = cluster.server.store.revision
        clock.advance(SETTLING)


def missing_namespaces(objects: Iterable[Mapping[str, Any]]) -> Sequence[dict[str, Any]]:
    """Namespaces in the place of those that objects are in and a snapshot does not hold.

    Whether they are managed is not known, which their label says.
    """
    objects = list(objects)
    present = {item["metadata"]["name"] for item in objects if item["kind"] == "Namespace"}
    used = {item["metadata"].get("namespace", "") for item in objects}
    return [manifest("Namespace", name, labels=UNKNOWN) for name in sorted(used - present - {""})]


def _placeholders(objects: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """An object in the place of every owner that a snapshot does not hold, such as a DaemonSet.

    Without it the garbage collector would delete what it owns. It has a kind of its own, so
    that no simulated controller believes that it should act.
    """
    objects = list(objects)
    present = {item["metadata"].get("uid") for item in objects}
    owners = {
        owner["uid"]: item["metadata"].get("namespace", "")
        for item in objects
        for owner in item["metadata"].get("ownerReferences") or ()
        if owner["uid"] not in present
    }
    return [
        {
            "apiVersion": "evenkeel.dev/v1",
            "kind": "AbsentOwner",
            "metadata": {"name": uid, "uid": uid, **({"namespace": where} if where else {})},
        }
        for uid, where in owners.items()
    ]
