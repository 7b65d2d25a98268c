"""Whether a pod belongs to its workload's floor."""

from typing import Any

import msgspec
import pytest

from evenkeel.decisions.placement.share import share_of
from evenkeel.decisions.placement.verdict import Chosen, Counted
from evenkeel.model.capacity import Capacity
from evenkeel.model.workload import Ordinals, StatefulSet
from tests.kit.builders import deployment, job, replica_set, stateful_set
from tests.unit.decisions.placement.pods import new_pod

ON_DEMAND = "evenkeel.dev/on-demand"


def annotated(item: Any, text: str) -> Any:
    metadata = msgspec.structs.replace(item.metadata, annotations={ON_DEMAND: text})
    return msgspec.structs.replace(item, metadata=metadata)


def sized(item: Any, **spec: Any) -> Any:
    return msgspec.structs.replace(item, spec=msgspec.structs.replace(item.spec, **spec))


def of(controller: Any, floor: str = "", **namespace: str) -> Chosen | Counted:
    owner = annotated(controller, floor) if floor else controller
    return share_of(new_pod(owner), owner, None, namespace, is_relaxed=False, in_gang=False).verdict


def ordinal(number: object, stateful: StatefulSet) -> Capacity:
    pod = new_pod(stateful, labels={"apps.kubernetes.io/pod-index": str(number)})
    verdict = share_of(pod, stateful, None, {}, is_relaxed=False, in_gang=False).verdict
    assert isinstance(verdict, Chosen)
    return verdict.capacity


@pytest.mark.parametrize(
    ("floor", "reason", "capacity"),
    [
        ("", "NoFloor", Capacity.SPOT),
        ("none", "NoFloor", Capacity.SPOT),
        ("0", "NoFloor", Capacity.SPOT),
        ("all", "AllInFloor", Capacity.ON_DEMAND),
        ("100%", "AllInFloor", Capacity.ON_DEMAND),
    ],
)
def test_what_needs_no_count_is_not_counted(floor: str, reason: str, capacity: Capacity) -> None:
    verdict = of(sized(replica_set(), replicas=10), floor)
    assert isinstance(verdict, Chosen)
    assert (verdict.reason, verdict.capacity) == (reason, capacity)


@pytest.mark.parametrize(
    ("floor", "wanted"), [("30%", 3), ("majority", 6), ("2", 2), ("25", 10), ("1%", 1)]
)
def test_a_replica_sets_pods_are_counted(floor: str, wanted: int) -> None:
    assert of(sized(replica_set(), replicas=10), floor) == Counted(wanted, 10)


def test_a_jobs_size_is_its_parallelism() -> None:
    assert of(sized(job(), parallelism=4), "50%") == Counted(2, 4)
    assert isinstance(of(job()), Chosen)


def test_in_a_rollout_each_replica_set_holds_the_floor_of_its_part() -> None:
    whole = annotated(sized(deployment(), replicas=10), "30%")
    part = sized(replica_set(), replicas=4)
    assert share_of(
        new_pod(part), part, whole, {}, is_relaxed=False, in_gang=False
    ).verdict == Counted(2, 4)


def test_the_namespaces_floor_counts_where_the_workload_has_none() -> None:
    part = sized(replica_set(), replicas=4)
    share = share_of(new_pod(part), part, None, {ON_DEMAND: "1"}, is_relaxed=False, in_gang=False)
    assert share.verdict == Counted(1, 4)


def test_a_floor_that_cannot_be_read_counts_as_the_default_and_is_told() -> None:
    part = annotated(sized(replica_set(), replicas=4), "most")
    share = share_of(new_pod(part), part, None, {}, is_relaxed=False, in_gang=False)
    assert isinstance(share.verdict, Chosen)
    assert share.verdict.reason == "NoFloor"
    assert "most" in share.floor.problem


def test_a_relaxed_floor_is_not_held() -> None:
    part = annotated(sized(replica_set(), replicas=4), "all")
    verdict = share_of(new_pod(part), part, None, {}, is_relaxed=True, in_gang=False).verdict
    assert isinstance(verdict, Chosen)
    assert (verdict.capacity, verdict.reason) == (Capacity.SPOT, "FloorRelaxed")


@pytest.mark.parametrize("size", range(8))
@pytest.mark.parametrize("start", [0, 3])
def test_at_every_size_a_stateful_set_has_exactly_its_majority(size: int, start: int) -> None:
    stateful = sized(stateful_set(), replicas=size, ordinals=Ordinals(start=start))
    chosen = [ordinal(start + index, stateful) for index in range(size)]
    assert chosen.count(Capacity.ON_DEMAND) == (size // 2 + 1 if size else 0)


@pytest.mark.parametrize("number", ["", "x", "-1", "99999999999", "٣", 2])
def test_an_ordinal_that_makes_no_sense_is_one_of_the_floor(number: object) -> None:
    stateful = sized(stateful_set(), replicas=5, ordinals=Ordinals(start=3))
    assert ordinal(number, stateful) is Capacity.ON_DEMAND


def test_the_pods_of_a_gang_are_on_one_capacity_type() -> None:
    owner = annotated(sized(job(), parallelism=4), "1")
    verdict = share_of(new_pod(owner), owner, None, {}, is_relaxed=False, in_gang=True).verdict
    assert isinstance(verdict, Chosen)
    assert verdict.capacity is Capacity.ON_DEMAND
