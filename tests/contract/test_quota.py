"""What a ResourceQuota does to a workload that wants more."""

import pytest

from evenkeel.model.cluster_objects import Event
from evenkeel.model.deployment import Deployment
from evenkeel.model.pod import Pod
from evenkeel_cli.resource_quota import ResourceQuota
from tests.contract.ground import Ground
from tests.contract.manifests import deployment, template
from tests.kit.manifests import resource


@pytest.fixture(autouse=True)
def _node(ground: Ground) -> None:
    ground.add_node("n")


def limit(ground: Ground, **hard: str) -> None:
    """Set a quota and wait until it is known how much is used."""
    ground.apply(resource("ResourceQuota", "limit", spec={"hard": hard}))
    ground.eventually(lambda: ground.get(ResourceQuota, "limit").status.hard == hard)


def test_used_follows_the_pods(ground: Ground) -> None:
    limit(ground, pods="5")
    ground.apply(deployment("web", replicas=3))
    ground.ready_pods(3)
    assert ground.get(ResourceQuota, "limit").status.used == {"pods": "3"}
    ground.scale(Deployment, "web", 1)
    ground.eventually(lambda: ground.get(ResourceQuota, "limit").status.used == {"pods": "1"})


def test_a_replica_set_says_that_it_cannot_create(ground: Ground) -> None:
    limit(ground, pods="1")
    ground.apply(deployment("web", replicas=2))
    ground.ready_pods(1)
    failure = ground.eventually(lambda: ground.replica_set().cannot_create)
    assert failure.reason == "FailedCreate"
    assert "exceeded quota" in failure.message
    events = ground.eventually(lambda: ground.list(Event, fields="reason=FailedCreate"))
    assert {e.involved_object.uid for e in events} == {ground.replica_set().uid}


@pytest.fixture
def alone(ground: Ground) -> Pod:
    """A released pod beside which the quota allows no replacement."""
    limit(ground, pods="1")
    ground.apply(deployment("web"))
    (old,) = ground.ready_pods(1)
    ground.release(old)
    ground.eventually(lambda: ground.replica_set().cannot_create)
    assert [p.uid for p in ground.pods()] == [old.uid]
    return old


def test_a_replica_set_creates_again_and_forgets_its_failure_when_there_is_room(
    ground: Ground, alone: Pod
) -> None:
    ground.delete(alone, grace_seconds=0)
    (new,) = ground.ready_pods(1)
    assert new.uid != alone.uid
    ground.eventually(lambda: ground.replica_set().cannot_create is None)


def test_a_failure_is_forgotten_when_the_released_pod_is_put_back(
    ground: Ground, alone: Pod
) -> None:
    ground.put_back(alone)
    ground.eventually(lambda: ground.replica_set().cannot_create is None)
    assert [p.uid for p in ground.pods()] == [alone.uid]
    assert ground.get(Pod, alone.name).controller == alone.controller


def test_requests_are_limited_too(ground: Ground) -> None:
    limit(ground, **{"requests.cpu": "300m"})
    wants = {"resources": {"requests": {"cpu": "200m"}}}
    ground.apply(deployment("web", template("web", container=wants), replicas=2))
    ground.ready_pods(1)
    ground.eventually(lambda: ground.replica_set().cannot_create)
    assert ground.get(ResourceQuota, "limit").status.used == {"requests.cpu": "200m"}
