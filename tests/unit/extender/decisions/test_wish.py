"""Which capacity type a pending pod is to have."""

from typing import Any

import msgspec
import pytest

from evenkeel.decisions.placement.verdict import Counted
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN, Capacity
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.placement import Relaxation
from evenkeel_extender.decisions.wish import (
    EITHER,
    Wish,
    beside_own,
    by_count,
    by_floor,
    needs_no_owner,
)
from evenkeel_extender.messages import PendingPod
from tests.kit import builders
from tests.kit.builders import NOW, seconds
from tests.unit.decisions.placement.pods import document

HOME = Namespace(metadata=builders.metadata("shop", namespace="", labels={names.MANAGED: "true"}))


def pending(owner: KubernetesObject | None = None, **fields: Any) -> PendingPod:
    found = document(owner, **fields)
    found["metadata"] |= {"namespace": "shop", "uid": "u"}
    return msgspec.convert(found, PendingPod)


def asked(pod: PendingPod, home: Namespace = HOME, *, everywhere: bool = False) -> Wish | None:
    return needs_no_owner(pod, home, WELL_KNOWN, everywhere=everywhere)


OWNER = builders.replica_set()


def test_what_the_webhook_placed_is_held_there_by_its_affinity() -> None:
    for capacity in Capacity:
        found = asked(pending(OWNER, labels={names.CAPACITY: capacity.value}))
        assert found == Wish(capacity)
        assert found is not None
        assert not found.must


def test_a_label_of_somebody_else_s_is_none() -> None:
    assert asked(pending(OWNER, labels={names.CAPACITY: "whatever"})) is None


def test_what_placement_leaves_as_it_is_may_go_anywhere() -> None:
    assert asked(pending()) is EITHER  # a bare pod
    system = Namespace(metadata=builders.metadata("kube-system", namespace=""))
    assert asked(pending(OWNER), system, everywhere=True) is EITHER
    other = Namespace(metadata=builders.metadata("shop", namespace=""))
    assert asked(pending(OWNER), other) is EITHER
    assert asked(pending(OWNER), other, everywhere=True) is None
    assert asked(pending(OWNER)) is None


@pytest.mark.parametrize(
    ("floor", "wish"),
    [
        ("all", (Capacity.ON_DEMAND, True)),
        ("none", (Capacity.SPOT, False)),
        ("majority", (None, False)),
    ],
)
def test_a_bare_pod_goes_where_all_or_none_of_its_namespace_wants_it(
    floor: str, wish: tuple[Capacity | None, bool]
) -> None:
    annotations = {names.ON_DEMAND: floor}
    metadata = msgspec.structs.replace(HOME.metadata, annotations=annotations)
    found = asked(pending(), msgspec.structs.replace(HOME, metadata=metadata))
    assert found is not None
    assert (found.capacity, found.must) == wish


def wished(
    floor: str, *, size: int = 4, annotations: dict[str, str] | None = None
) -> Wish | Counted:
    deployment = builders.deployment(
        replicas=size, annotations={names.ON_DEMAND: floor} | (annotations or {})
    )
    owner = builders.replica_set(of=deployment, replicas=size)
    return by_floor(pending(owner), owner, deployment, {}, NOW)


@pytest.mark.parametrize(
    ("floor", "capacity", "must"),
    [("none", Capacity.SPOT, False), ("all", Capacity.ON_DEMAND, True)],
)
def test_a_floor_of_none_or_all_needs_no_count(
    floor: str,
    capacity: Capacity,
    must: bool,  # noqa: FBT001 - a table
) -> None:
    found = wished(floor)
    assert isinstance(found, Wish)
    assert (found.capacity, found.must) == (capacity, must)


def test_others_are_counted() -> None:
    assert wished("2") == Counted(2, 4)


def test_a_relaxed_floor_is_not_held() -> None:
    until = msgspec.json.encode(Relaxation(until=NOW + seconds(60))).decode()
    found = wished("all", annotations={names.FLOOR_RELAXED: until})
    assert isinstance(found, Wish)
    assert found.capacity is Capacity.SPOT


def test_where_the_template_says_it_the_extender_does_not() -> None:
    assert wished("2", annotations={names.PLACEMENT: "template"}) is EITHER


@pytest.mark.parametrize(
    ("notes", "must"),
    [({names.ON_DEMAND: "majority"}, [True, True, False]), ({}, [False, False, False])],
    ids=["asked", "default"],
)
def test_an_ordinal_has_to_go_to_on_demand_if_somebody_asked_for_its_floor(
    notes: dict[str, str], must: list[bool]
) -> None:
    owner: StatefulSet = builders.stateful_set(replicas=3, annotations=notes)
    above: Deployment | None = None
    found = [
        by_floor(pending(owner, name=f"db-{ordinal}"), owner, above, {}, NOW)
        for ordinal in range(3)
    ]
    wishes = [each for each in found if isinstance(each, Wish)]
    assert [each.must for each in wishes] == must
    wanted = [Capacity.ON_DEMAND, Capacity.ON_DEMAND, Capacity.SPOT]
    assert [each.capacity for each in wishes] == wanted


@pytest.mark.parametrize(("taken", "must"), [(0, True), (1, True), (2, False), (3, False)])
def test_a_pod_is_of_the_floor_while_fewer_than_the_floor_are(
    taken: int,
    must: bool,  # noqa: FBT001 - a table
) -> None:
    found = by_count(Counted(2, 4), taken)
    assert (found.must, found.capacity is Capacity.ON_DEMAND) == (must, must)
    assert f"2 of 4, and {taken} hold it" in found.message


@pytest.mark.parametrize(
    ("wish", "found"),
    [
        (Wish(Capacity.SPOT), EITHER),
        (Wish(Capacity.ON_DEMAND), Wish(Capacity.ON_DEMAND)),
        (Wish(Capacity.SPOT, must=True), Wish(Capacity.SPOT, must=True)),
        (EITHER, EITHER),
    ],
)
def test_what_its_owner_prefers_the_other_type_to_is_no_wish(wish: Wish, found: Wish) -> None:
    clause = {"key": names.EKS_CAPACITY, "operator": "In", "values": ["ON_DEMAND"]}
    term = {"weight": 1, "preference": {"matchExpressions": [clause]}}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [term]}
    pod = pending(affinity={"nodeAffinity": preferred})
    assert beside_own(wish, pod, WELL_KNOWN) == found
    assert beside_own(wish, pending(), WELL_KNOWN) == wish
