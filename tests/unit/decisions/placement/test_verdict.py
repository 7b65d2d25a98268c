"""Whether a pod belongs to its workload's floor."""

from typing import Any

import msgspec
import pytest

from evenkeel.decisions.placement.verdict import (
    Chosen,
    Counted,
    FloorVerdict,
    Left,
    verdict_of,
    verdict_of_any,
)
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.stateful_set import Ordinals, StatefulSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import Metadata, OwnerReference
from evenkeel.model.placement import NewPod, NewPodMetadata
from evenkeel.model.reasons import Reason
from tests.kit.builders import deployment, job, replica_set, stateful_set
from tests.unit.decisions.placement.pods import new_pod

ON_DEMAND = "evenkeel.dev/on-demand"


def annotated(item: Any, text: str) -> Any:
    metadata = msgspec.structs.replace(item.metadata, annotations={ON_DEMAND: text})
    return msgspec.structs.replace(item, metadata=metadata)


def sized(item: Any, **spec: Any) -> Any:
    return msgspec.structs.replace(item, spec=msgspec.structs.replace(item.spec, **spec))


def share(
    controller: Any,
    floor: str = "",
    *,
    pod: NewPod | None = None,
    deployment: Deployment | None = None,
    namespace: str = "",
    is_relaxed: bool = False,
    in_gang: bool = False,
) -> FloorVerdict:
    owner = annotated(controller, floor) if floor else controller
    said = {ON_DEMAND: namespace} if namespace else {}
    pod = pod or new_pod(owner)
    return verdict_of(pod, owner, deployment, said, is_relaxed=is_relaxed, in_gang=in_gang)


def ordinal(number: object, stateful: StatefulSet) -> Chosen:
    pod = new_pod(stateful, labels={"apps.kubernetes.io/pod-index": str(number)})
    verdict = share(stateful, pod=pod).verdict
    assert isinstance(verdict, Chosen)
    return verdict


TEN, FOUR = sized(replica_set(), replicas=10), sized(replica_set(), replicas=4)
JOB = sized(job(), parallelism=4)


@pytest.mark.parametrize(
    ("found", "reason", "capacity"),
    [
        (share(TEN), "NoFloor", Capacity.SPOT),
        (share(TEN, "none"), "NoFloor", Capacity.SPOT),
        (share(TEN, "0"), "NoFloor", Capacity.SPOT),
        (share(TEN, "all"), "AllInFloor", Capacity.ON_DEMAND),
        (share(TEN, "100%"), "AllInFloor", Capacity.ON_DEMAND),
        (share(job()), "NoFloor", Capacity.SPOT),
        (share(JOB, "1", in_gang=True), "AllInFloor", Capacity.ON_DEMAND),
        (share(TEN, "all", is_relaxed=True), "FloorRelaxed", Capacity.SPOT),
    ],
)
def test_what_needs_no_count_is_not_counted(
    found: FloorVerdict, reason: str, capacity: Capacity
) -> None:
    assert isinstance(found.verdict, Chosen)
    assert (found.verdict.reason, found.verdict.capacity) == (reason, capacity)


WHOLE = annotated(sized(deployment(), replicas=10), "30%")


@pytest.mark.parametrize(
    ("found", "counted"),
    [
        (share(TEN, "30%"), Counted(3, 10)),
        (share(TEN, "majority"), Counted(6, 10)),
        (share(TEN, "2"), Counted(2, 10)),
        (share(TEN, "25"), Counted(10, 10)),
        (share(TEN, "1%"), Counted(1, 10)),
        (share(JOB, "50%"), Counted(2, 4)),
        (share(FOUR, deployment=WHOLE), Counted(2, 4)),
        (share(FOUR, namespace="1"), Counted(1, 4)),
    ],
    ids=[
        *("a share", "the majority", "a number", "more than there are", "one at least"),
        *("a Job's parallelism", "in a rollout that of its part", "the namespace's"),
    ],
)
def test_a_floor_is_counted_of_the_controllers_pods(found: FloorVerdict, counted: Counted) -> None:
    assert found.verdict == counted


def ml(annotations: dict[str, str]) -> Namespace:
    return Namespace(metadata=Metadata(name="ml", annotations=annotations))


OTHERS = NewPodMetadata(
    generate_name="train-",
    owner_references=(
        OwnerReference(
            api_version="ray.io/v1", kind="RayCluster", name="train", uid="r", controller=True
        ),
    ),
)


@pytest.mark.parametrize(
    ("floor", "in_gang", "reason", "capacity"),
    [
        ("all", False, "AllInFloor", Capacity.ON_DEMAND),
        ("100%", False, "AllInFloor", Capacity.ON_DEMAND),
        ("none", False, "NoFloor", Capacity.SPOT),
        ("0", False, "NoFloor", Capacity.SPOT),
        ("30%", True, "AllInFloor", Capacity.ON_DEMAND),
    ],
)
@pytest.mark.parametrize("metadata", [NewPodMetadata(name="debug"), OTHERS])
@pytest.mark.parametrize("own", [True, False], ids=["its own", "its namespace's"])
def test_all_and_none_place_whoever_owns_the_pod(
    metadata: NewPodMetadata,
    floor: str,
    reason: str,
    capacity: Capacity,
    *,
    in_gang: bool,
    own: bool,
) -> None:
    notes = {ON_DEMAND: floor}
    others = {ON_DEMAND: "majority"} if own else notes
    metadata = msgspec.structs.replace(metadata, annotations=notes if own else None)
    verdict = verdict_of_any(NewPod(metadata=metadata), ml(others), in_gang=in_gang).verdict
    assert isinstance(verdict, Chosen)
    assert (verdict.reason, verdict.capacity) == (reason, capacity)


@pytest.mark.parametrize("floor", ["", "30%", "majority", "2", "most"])
def test_a_pod_whose_siblings_are_not_known_is_left_by_any_other_floor(floor: str) -> None:
    space = ml({ON_DEMAND: floor} if floor else {})
    bare = verdict_of_any(NewPod(), space, in_gang=False).verdict
    assert bare == Left(
        Reason.BARE_POD,
        "it has no controller: its floor, or its namespace's, places it if that is all or none",
    )
    left = verdict_of_any(NewPod(metadata=OTHERS), space, in_gang=False)
    assert left.verdict == Left(
        Reason.UNKNOWN_CONTROLLER,
        "the size of a RayCluster.ray.io is not known: its floor, or its namespace's, places it"
        " if that is all or none",
    )
    assert bool(left.floor.problem) == (floor == "most")


def test_by_a_floor_that_cannot_be_read_a_pod_prefers_on_demand_and_that_is_told() -> None:
    found = share(FOUR, "most")
    assert isinstance(found.verdict, Chosen)
    assert (found.verdict.capacity, found.verdict.is_required) == (Capacity.ON_DEMAND, False)
    assert "most" in found.floor.problem


@pytest.mark.parametrize("size", range(8))
@pytest.mark.parametrize("start", [0, 3])
def test_at_every_size_a_stateful_set_has_exactly_its_majority(size: int, start: int) -> None:
    stateful = sized(stateful_set(), replicas=size, ordinals=Ordinals(start=start))
    chosen = [ordinal(start + index, stateful) for index in range(size)]
    on_demand = [each.capacity is Capacity.ON_DEMAND for each in chosen]
    assert on_demand.count(True) == (size // 2 + 1 if size else 0)
    assert all(f": ordinal {start + i} is " in each.message for i, each in enumerate(chosen))


@pytest.mark.parametrize("number", ["", "x", "-1", "99999999999", "٣", 2])
def test_an_ordinal_that_makes_no_sense_is_one_of_the_floor(number: object) -> None:
    stateful = sized(stateful_set(), replicas=5, ordinals=Ordinals(start=3))
    assert ordinal(number, stateful).capacity is Capacity.ON_DEMAND


STATEFUL = sized(stateful_set(), replicas=3)


@pytest.mark.parametrize(
    ("found", "required"),
    [
        (share(STATEFUL), False),
        (share(STATEFUL, "half"), False),
        (share(STATEFUL, "majority"), True),
        (share(STATEFUL, namespace="majority"), True),
        (share(TEN, "all"), True),
        (share(TEN, "none"), False),
    ],
)
def test_what_somebody_asked_for_is_required_and_a_default_is_not(
    found: FloorVerdict, *, required: bool
) -> None:
    """Of a StatefulSet's pod without a name, which may be any."""
    assert isinstance(found.verdict, Chosen)
    assert found.verdict.is_required is required


@pytest.mark.parametrize(("floor", "required"), [("", False), ("majority", True)])
def test_an_ordinal_of_a_default_floor_is_not_required_to_be_on_on_demand(
    floor: str, *, required: bool
) -> None:
    stateful = annotated(STATEFUL, floor) if floor else STATEFUL
    first, last = ordinal(0, stateful), ordinal(2, stateful)
    assert (first.capacity, first.is_required) == (Capacity.ON_DEMAND, required)
    assert (last.capacity, last.is_required) == (Capacity.SPOT, False)
