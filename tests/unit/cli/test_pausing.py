from collections.abc import Sequence

import pytest

from evenkeel.flows.pause import is_paused
from evenkeel.model import names
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.request import Create, Request
from evenkeel.ports import Reply
from evenkeel_cli import pausing
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.clocks import NOW
from tests.kit.manifests import PAUSED, SYSTEM


@pytest.fixture
def cluster() -> SimulatedCluster:
    return SimulatedCluster(SimulatedClock(NOW))


def test_evenkeel_is_paused_when_a_pause_begins_on_a_fresh_cluster(
    cluster: SimulatedCluster,
) -> None:
    assert pausing.begin(cluster, pausing.planned("ada@ops", NOW, "upgrade"))

    assert is_paused(cluster)
    assert str(pausing.find(cluster)) == "paused since 2026-11-21T06:00:00Z by ada@ops: upgrade"


def test_the_first_pause_stays_when_a_second_one_begins(cluster: SimulatedCluster) -> None:
    pausing.begin(cluster, pausing.planned("ada@ops", NOW))

    assert not pausing.begin(cluster, pausing.planned("bob@ops", NOW))
    assert str(pausing.find(cluster)) == "paused since 2026-11-21T06:00:00Z by ada@ops"


def test_a_pause_begins_when_another_makes_the_namespace_in_the_same_moment(
    cluster: SimulatedCluster,
) -> None:
    class Racing:
        def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
            if isinstance(requests[0], Create) and isinstance(requests[0].object, Namespace):
                cluster.apply(SYSTEM)
            return cluster.perform(requests)

        session = cluster.session

    assert pausing.begin(Racing(), pausing.planned("ada@ops", NOW))
    assert is_paused(cluster)


def test_nothing_is_paused_any_more_when_the_pause_ends(cluster: SimulatedCluster) -> None:
    pausing.begin(cluster, pausing.planned("ada@ops", NOW))
    found = pausing.find(cluster)
    assert found is not None

    assert pausing.end(cluster, found)
    assert not is_paused(cluster)


def test_a_pause_that_another_ended_is_told(cluster: SimulatedCluster) -> None:
    pausing.begin(cluster, pausing.planned("ada@ops", NOW))
    found = pausing.find(cluster)
    assert found is not None
    cluster.delete("ConfigMap", names.PAUSED, names.SYSTEM_NAMESPACE)

    assert not pausing.end(cluster, found)


def test_a_pause_made_by_hand_tells_what_it_knows(cluster: SimulatedCluster) -> None:
    cluster.apply(PAUSED)

    assert str(pausing.find(cluster)) == "paused"
