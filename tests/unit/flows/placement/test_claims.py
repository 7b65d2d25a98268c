"""Claims on places of a floor: which slot is taken, and how one that is left over is."""

from datetime import timedelta

import pytest

from evenkeel.decisions.placement.floor_count import Free
from evenkeel.errors import ConflictError, UnavailableError
from evenkeel.flows.placement.claims import CLAIM_SWEPT_AFTER, TRIES, selection, sweep_claims, take
from evenkeel.flows.reads import ask
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease, Namespace
from evenkeel.model.meta import Reference
from evenkeel.model.placement import claims_of
from evenkeel.model.request import Create, List
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.options import SimulatorOptions
from tests.kit import builders
from tests.kit.asking import asks, failing, noting
from tests.kit.builders import NOW, seconds

OWNER = Reference(kind="ReplicaSet", namespace="shop", name="web-1", uid="owner")


@pytest.fixture
def cluster() -> SimulatedCluster:
    made = SimulatedCluster(SimulatedClock(NOW), SimulatorOptions(latency=timedelta()))
    home = Namespace(metadata=builders.metadata(names.SYSTEM_NAMESPACE, namespace=""))
    made.load(builders.manifest(home))
    return made


def leases(cluster: SimulatedCluster) -> list[Lease]:
    return [*ask(cluster, List(selection(OWNER.uid))).items]


def test_reviews_take_different_places_until_none_is_left(cluster: SimulatedCluster) -> None:
    taken: list[int] = []
    for number in range(3):
        free = Free(left=3 - len(taken), taken=sorted(taken))
        slot = take(cluster, OWNER, free, f"review-{number}", NOW)
        assert slot is not None
        taken.append(slot)
    assert sorted(taken) == [0, 1, 2]
    assert take(cluster, OWNER, Free(left=0, taken=[0, 1, 2]), "late", NOW) is None


def test_a_claim_that_is_left_over_changes_hands_once_more(cluster: SimulatedCluster) -> None:
    assert take(cluster, OWNER, Free(left=1), "first", NOW) == 0
    for times, holder in enumerate(("second", "third"), start=1):
        found = {claim.slot: claim for claim in claims_of(leases(cluster), OWNER.uid)}
        later = NOW + seconds(10 * times)
        assert take(cluster, OWNER, Free(left=1, claims=found), holder, later) == 0
        (lease,) = leases(cluster)
        assert lease.spec.holder_identity == holder
        assert lease.spec.lease_transitions == times
        assert lease.held_since == later


def test_where_others_are_faster_some_places_are_tried_and_then_none_is_taken(
    cluster: SimulatedCluster,
) -> None:
    tried = noting(cluster, asks(Create, of=Lease))
    failing(cluster, ConflictError("late"), asks(Create, of=Lease))
    assert take(cluster, OWNER, Free(left=9), "review", NOW) is None
    names_tried = [each.object.name for each in tried]
    assert len(set(names_tried)) == len(names_tried) == TRIES


def test_an_api_server_that_does_not_answer_is_no_rival(cluster: SimulatedCluster) -> None:
    failing(cluster, UnavailableError("away"), asks(Create, of=Lease))
    with pytest.raises(UnavailableError):
        take(cluster, OWNER, Free(left=9), "review", NOW)


@pytest.mark.parametrize(
    ("age", "swept"),
    [(CLAIM_SWEPT_AFTER - seconds(1), 0), (CLAIM_SWEPT_AFTER, 1), (-CLAIM_SWEPT_AFTER, 1)],
    ids=["young", "old", "of a clock that was ahead"],
)
def test_claims_are_swept_once_they_are_of_no_use(
    cluster: SimulatedCluster, age: timedelta, swept: int
) -> None:
    assert take(cluster, OWNER, Free(left=1), "review", NOW) == 0
    assert sweep_claims(cluster, NOW + age) == swept
    assert len(leases(cluster)) == 1 - swept
