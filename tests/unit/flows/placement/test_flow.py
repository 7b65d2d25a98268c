"""One new pod: where it is sent, what is added to it, told, counted and swept."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.errors import UnavailableError
from evenkeel.flows.placement.flow import PlacementFlow, PodChange
from evenkeel.model import names
from evenkeel.model.admission import AdmissionRequest
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Lease, Namespace
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.metrics import Metric
from evenkeel.model.move import new_move
from evenkeel.model.placement import NewPod
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.release import ReleaseReason
from evenkeel.model.request import List, Selection
from evenkeel.settings import Mode, PlacementSettings
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.options import SimulatorOptions
from tests.kit import builders
from tests.kit.asking import asks, noting
from tests.kit.builders import NOW, seconds

MANAGED = {names.MANAGED: "true"}
SWEEPS = asks(List, selection=Selection(Lease, names.SYSTEM_NAMESPACE, labels=names.CLAIM_OF))
SPREAD = {
    "maxSkew": 1,
    "topologyKey": names.ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "web"}},
}


class Placing:
    """The flow before a cluster in which nothing happens by itself, and what it records.

    ``clock`` is the flow's: the cluster's own stands still.
    """

    def __init__(self, *objects: KubernetesObject, mode: Mode = Mode.ACT) -> None:
        self.clock = SimulatedClock(NOW)
        self.cluster = SimulatedCluster(SimulatedClock(NOW), SimulatorOptions(latency=timedelta()))
        self.recorder = InMemoryRecorder()
        spaces = [space("default", MANAGED), space(names.SYSTEM_NAMESPACE)]
        self.cluster.load(*map(builders.manifest, (*spaces, *objects)))
        settings = PlacementSettings(mode=mode, cluster_name="prod", tokens=("0" * 64,))
        self.flow = PlacementFlow(settings, self.cluster, self.clock, self.recorder)

    def placed(self, owner: KubernetesObject, uid: str = "review", **spec: Any) -> PodChange:
        """A pod of this owner is made."""
        return self.flow.place(AdmissionRequest(uid=uid, namespace="default"), new(owner, **spec))


def space(name: str, labels: Mapping[str, str] | None = None) -> Namespace:
    return Namespace(metadata=builders.metadata(name, namespace="", labels=dict(labels or {})))


def new(owner: KubernetesObject, **spec: Any) -> NewPod:
    of = builders.pod(of=owner)
    metadata = {
        "generateName": f"{owner.name}-",
        "labels": of.metadata.labels,
        "ownerReferences": msgspec.to_builtins(of.metadata.owner_references),
    }
    return msgspec.convert({"metadata": metadata, "spec": spec}, NewPod)


def added(change: PodChange) -> dict[str, Any]:
    """What a patch says, by where."""
    wire = msgspec.json.encode([each.to_wire() for each in change.patch])
    return {each["path"]: each.get("value") for each in json.loads(wire)}


def floored(floor: str, replicas: int = 3, **other: Any) -> Any:
    return builders.replica_set(
        of=None, replicas=replicas, annotations={names.ON_DEMAND: floor}, **other
    )


def test_a_pod_of_a_floor_of_all_is_sent_to_on_demand_and_told_and_counted() -> None:
    owner = floored("all")
    placing = Placing(owner)
    change = placing.placed(owner)
    (note,) = [
        json.loads(each[names.PLACED]) for each in added(change).values() if names.PLACED in each
    ]
    assert note["as"] == "on-demand"
    assert change.summary.startswith("to on-demand: ")
    assert placing.recorder.total(Metric.PODS_PLACED_ON_DEMAND) == 1
    (told,) = placing.recorder.decisions
    assert told.workload == owner.reference


def test_a_pod_of_no_floor_is_sent_to_spot() -> None:
    owner = floored("none")
    placing = Placing(owner)
    assert placing.placed(owner).summary.startswith("to spot: ")
    assert placing.recorder.total(Metric.PODS_PLACED_ON_SPOT) == 1


def test_in_observe_mode_nothing_is_added() -> None:
    owner = floored("all")
    change = Placing(owner, mode=Mode.OBSERVE).placed(owner)
    assert change.patch == ()
    assert change.summary.startswith("only observes: to on-demand: ")


@pytest.mark.parametrize("has_deployment", [True, False])
def test_a_hard_spread_of_a_deployment_s_pods_gets_what_it_lacks(*, has_deployment: bool) -> None:
    web = builders.deployment(annotations={names.ON_DEMAND: "all"})
    owner = builders.replica_set(of=web) if has_deployment else floored("all")
    placing = Placing(*([web, owner] if has_deployment else [owner]))
    found = added(placing.placed(owner, topologySpreadConstraints=[SPREAD]))
    lacks = [path for path in found if "topologySpreadConstraints" in path]
    assert bool(lacks) is has_deployment


@pytest.mark.parametrize("target", [Capacity.ON_DEMAND, Capacity.SPOT])
def test_a_pod_that_is_made_for_a_move_has_to_go_where_that_goes(target: Capacity) -> None:
    owner = floored("1")
    release = builders.release(owner, reason=ReleaseReason.RESTORE, target=target)
    moved = builders.pod("moved", of=owner, released=release)
    lease = new_move(owner.reference, moved.reference, target, NOW, NOW + seconds(300))
    placing = Placing(owner, moved, lease)
    lists = noting(placing.cluster, asks(List, of=Pod))
    change = placing.placed(owner)
    assert placing.recorder.decisions[-1].reason is Reason.MOVED
    assert change.summary.startswith(f"to {target}: ")
    text = json.dumps(added(change))
    assert moved.uid in text
    assert "preferredDuringScheduling" not in text or target is Capacity.SPOT
    assert lists
    assert all(each.metadata_only for each in lists)


def test_a_pod_that_is_counted_is_counted_by_the_metadata_of_others() -> None:
    owner = floored("1")
    placing = Placing(owner)
    lists = noting(placing.cluster, asks(List, of=Pod))
    assert placing.placed(owner).summary.startswith("to on-demand: ")
    assert lists
    assert all(each.metadata_only for each in lists)


def test_old_claims_are_swept_once_a_minute() -> None:
    owner = floored("8", replicas=9)
    placing = Placing(owner)
    sweeps = noting(placing.cluster, SWEEPS)
    placing.clock.advance(seconds(59))
    placing.placed(owner, "a")
    assert sweeps == []
    for second in range(3):
        placing.clock.advance(seconds(1))
        placing.placed(owner, f"b{second}")
        assert len(sweeps) == 1
    placing.clock.advance(seconds(60))
    placing.placed(owner, "c")
    assert len(sweeps) == 2


def test_a_pod_that_has_waited_long_sweeps_no_claims() -> None:
    owner = floored("1")
    placing = Placing(owner)
    sweeps = noting(placing.cluster, SWEEPS)
    placing.clock.advance(seconds(60))
    slow = asks(List, of=Pod)
    noting(placing.cluster, slow, then=lambda: placing.clock.advance(seconds(0.501)))
    placing.placed(owner)
    assert sweeps == []


def test_in_observe_mode_no_claims_are_swept() -> None:
    owner = floored("1")
    placing = Placing(owner, mode=Mode.OBSERVE)
    sweeps = noting(placing.cluster, SWEEPS)
    placing.clock.advance(seconds(60))
    placing.placed(owner)
    assert sweeps == []


def test_a_pod_whose_owner_cannot_be_read_is_left_as_it_is() -> None:
    owner = floored("all")
    placing = Placing(owner)

    def fail(_request: Any, _proceed: Any) -> Any:
        raise UnavailableError("away")

    placing.cluster.intercept(fail)
    change = placing.placed(owner)
    assert change == PodChange(summary="did not place this pod (away)")
    assert placing.recorder.decisions[-1].reason is Reason.UNREADABLE
    assert placing.recorder.total(Metric.PODS_LEFT) == 1


def test_a_pod_whose_owner_is_gone_is_left_as_it_is() -> None:
    placing = Placing()
    change = placing.placed(floored("all"))
    assert change.patch == ()
    assert placing.recorder.decisions[-1].reason is Reason.OWNER_GONE


def test_a_floor_that_cannot_be_read_is_warned_of_once_in_ten_minutes() -> None:
    owner = floored("many")
    placing = Placing(owner)
    for wait, warnings in ((0, 1), (599, 1), (1, 2)):
        placing.clock.advance(seconds(wait))
        placing.placed(owner)
        told = [each for each in placing.recorder.decisions if each.reason is Reason.BAD_FLOOR]
        assert len(told) == warnings
        assert all(each.warning for each in told)
