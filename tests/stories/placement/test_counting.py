"""Floors are counted exactly: at once, in any order, over refusals, crashes and restarts."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenkeel.errors import ForbiddenError, UnavailableError
from evenkeel.flows.placement.claims import sweep_claims
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.request import List, Selection
from tests.kit.asking import asks, failing, noting
from tests.stories.placement.scene import CLAIMS_A_PLACE, Placement, pod, workload


@pytest.mark.parametrize(
    ("pods", "floor", "expected"), [(50, "30%", 15), (50, "1", 1), (9, "majority", 5)]
)
@pytest.mark.parametrize("webhooks", [1, 2])
def test_a_burst_gets_exactly_its_floor(
    pods: int, floor: str, expected: int, webhooks: int
) -> None:
    scene = Placement(webhooks=webhooks)
    owner = scene.replica_set(pods, floor)
    for number in range(pods):
        scene.create(owner, webhook=number % webhooks)
    scene.run()
    assert scene.split() == {"on-demand": expected, "spot": pods - expected}
    assert scene.recorder.total("PlacementsNotCounted") == 0


def test_a_clone_sets_floor_is_counted_as_well() -> None:
    scene = Placement()
    scene.cluster.apply(workload("CloneSet", "web", 5, "2"))
    owner = scene.read("CloneSet", "web")
    scene.grow(owner, 5)
    assert scene.split() == {"on-demand": 2, "spot": 3}


def test_the_place_of_a_pod_that_is_gone_is_free_again() -> None:
    scene = Placement()
    owner = scene.replica_set(10, "3")
    scene.grow(owner, 10)
    for gone in scene.pods("on-demand")[:2] + scene.pods("spot")[:3]:
        scene.delete(gone)
    scene.clock.advance(timedelta(seconds=5))
    scene.grow(owner, 5)
    assert scene.split() == {"on-demand": 3, "spot": 7}


def test_a_pod_on_its_way_out_holds_no_place() -> None:
    scene = Placement()
    owner = scene.replica_set(2, "1")
    scene.grow(owner, 1)
    (leaving,) = scene.pods()
    key = ("shop", leaving["metadata"]["name"])
    scene.cluster.server.patch("Pod", key, {"metadata": {"finalizers": ["example.com/slow"]}})
    scene.delete(leaving)
    scene.clock.advance(timedelta(seconds=2))
    scene.grow(owner, 1)
    assert scene.split() == {"on-demand": 1}


def test_a_refused_pods_place_is_taken_by_the_next_pod() -> None:
    scene = Placement()
    owner = scene.replica_set(3, "1")
    scene.create(owner, refused=True)
    scene.run()
    scene.grow(owner, 1)
    assert scene.split() == {"on-demand": 1}
    assert scene.recorder.decisions[-1].reason == "InFloor"
    scene.grow(owner, 2)
    assert scene.split() == {"on-demand": 1, "spot": 2}


@pytest.mark.parametrize("error", [ForbiddenError("no"), UnavailableError("silence")])
def test_a_claim_that_cannot_be_had_means_on_demand(error: Exception) -> None:
    scene = Placement()
    owner = scene.replica_set(3, "1")
    failing(scene.cluster, error, CLAIMS_A_PLACE)
    scene.grow(owner, 3)
    assert scene.split() == {"on-demand": 3}
    assert scene.recorder.total("PlacementsNotCounted") == 3
    for each in scene.pods():
        affinity = each["spec"]["affinity"]["nodeAffinity"]
        assert "requiredDuringSchedulingIgnoredDuringExecution" in affinity


def test_claims_are_listed_less_and_less_often_while_nobody_answers() -> None:
    scene = Placement()
    owner = scene.replica_set(3, "1")
    asked = noting(scene.cluster, asks(List, of=Lease))
    failing(scene.cluster, UnavailableError("silence"), asks(List, of=Lease))
    scene.ask(pod(owner))
    assert 2 < len(asked) < 25


def test_a_claim_whose_answer_was_lost_is_found_again() -> None:
    scene = Placement()
    owner = scene.replica_set(2, "1")
    lost = UnavailableError("the connection broke")
    failing(scene.cluster, lost, CLAIMS_A_PLACE, times=1, done=True)
    began = scene.clock.now()
    scene.grow(owner, 1)
    assert scene.clock.now() - began < timedelta(seconds=0.5)
    assert scene.split() == {"on-demand": 1}
    assert scene.recorder.total("PlacementsNotCounted") == 0
    assert len(scene.claims()) == 1


def test_claims_are_read_afresh_only_when_a_first_look_did_not_do() -> None:
    scene = Placement(webhooks=2)
    owner = scene.replica_set(3, "1")
    asked = noting(scene.cluster, asks(List, of=Lease))
    scene.create(owner)
    scene.create(owner, webhook=1, after=0.001, until_stored=0.5)
    scene.run()
    assert scene.split() == {"on-demand": 1, "spot": 1}
    looks = [each.fresh for each in asked]
    assert looks[:2] == [False, False]
    assert len(looks) > 2
    assert all(looks[2:])


def test_no_answer_is_waited_for_longer_than_the_api_server_waits() -> None:
    scene = Placement()
    owner = scene.replica_set(3, "1")
    scene.create(owner, refused=True, until_stored=0)
    scene.ask(pod(owner))
    scene.run()
    began = scene.clock.now()
    failing(scene.cluster, UnavailableError("silence"))
    scene.ask(pod(owner))
    assert scene.clock.now() - began < timedelta(seconds=3)


def test_the_namespace_of_the_claims_is_made_where_it_is_missing() -> None:
    scene = Placement()
    owner = scene.replica_set(2, "1")
    scene.cluster.delete("Namespace", "evenkeel-system")
    scene.clock.advance(timedelta(seconds=5))
    scene.grow(owner, 1)
    assert scene.split() == {"on-demand": 1}
    assert len(scene.claims()) == 1


def test_claims_that_are_of_no_use_are_swept() -> None:
    scene = Placement()
    owner = scene.replica_set(4, "3")
    scene.grow(owner, 4)
    assert sweep_claims(scene.cluster, scene.clock.now()) == 0
    scene.clock.advance(timedelta(minutes=2))
    assert sweep_claims(scene.cluster, scene.clock.now()) == 3
    assert scene.claims() == []
    scene.create(scene.replica_set(5, "4"))
    scene.run()
    assert scene.split() == {"on-demand": 4, "spot": 1}


def test_the_webhook_sweeps_now_and_then_and_forgives_what_goes_wrong() -> None:
    scene = Placement()
    owner = scene.replica_set(9, "3")
    scene.grow(owner, 4)
    scene.clock.advance(timedelta(minutes=3))
    sweeps = Selection(Lease, "evenkeel-system", labels="evenkeel.dev/claim-of")
    again = failing(scene.cluster, ForbiddenError("no"), asks(List, selection=sweeps))
    scene.grow(owner, 1)
    assert len(scene.claims()) == 3
    again()
    scene.clock.advance(timedelta(minutes=1))
    scene.grow(owner, 1)
    assert scene.claims() == []
    assert scene.recorder.total("ClaimsSwept") == 3


ADMISSIONS = st.lists(
    st.fixed_dictionaries(
        {
            "webhook": st.integers(0, 1),
            "after": st.floats(0, 0.3),
            "until_stored": st.floats(0, 0.2),
        }
    ),
    min_size=1,
    max_size=14,
)


@settings(max_examples=100, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    floor=st.integers(0, 8),
    rounds=st.lists(st.tuples(ADMISSIONS, st.sets(st.integers(0, 13))), min_size=1, max_size=3),
)
def test_in_any_order_of_admissions_and_deletions_the_floor_is_exact(
    floor: int, rounds: list[tuple[list[dict[str, Any]], set[int]]]
) -> None:
    """Every new pod is one of the floor until it is held, and none is afterwards."""
    scene = Placement(webhooks=2)
    for admissions, deletions in rounds:
        owner = scene.replica_set(50, str(floor))
        before = len(scene.pods("on-demand"))
        for admission in admissions:
            scene.create(owner, **admission)
        scene.run()
        assert len(scene.pods("on-demand")) == min(floor, before + len(admissions))
        for number, each in enumerate(scene.pods()):
            if number in deletions:
                scene.delete(each)
        scene.clock.advance(timedelta(seconds=2))


@settings(max_examples=100, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    floor=st.integers(1, 5),
    admissions=ADMISSIONS,
    dies_at=st.sets(st.integers(0, 20), max_size=4),
    refused=st.sets(st.integers(0, 13), max_size=4),
)
def test_whatever_dies_or_is_refused_spot_is_never_justified_by_it(
    floor: int, admissions: list[dict[str, Any]], dies_at: set[int], refused: set[int]
) -> None:
    """A webhook dies after some of its writes; then its pod is made as it was, unplaced."""
    scene = Placement(webhooks=2, dies_at=dies_at)
    owner = scene.replica_set(50, str(floor))
    for number, admission in enumerate(admissions):
        scene.create(owner, refused=number in refused, **admission)
    scene.run()
    live = scene.split()
    if live.get("spot"):
        assert live["on-demand"] >= floor
    if not scene.client.deaths and not refused:
        assert live.get("on-demand", 0) == min(floor, len(admissions))
