"""How pods start and go."""

from datetime import timedelta

import pytest

from evenkeel.errors import ConflictError, NotFoundError
from evenkeel.model.pod import Pod
from evenkeel.model.request import Delete, Get
from tests.contract.ground import Ground
from tests.contract.manifests import QUICK, SLOW_START, SLOW_STOP, pod


@pytest.fixture
def running(ground: Ground) -> Pod:
    """A pod that takes three seconds to stop."""
    ground.add_node("n")
    ground.apply(pod("p", annotations=SLOW_STOP, terminationGracePeriodSeconds=60))
    return ground.ready_pods(1)[0]


def is_gone(ground: Ground, name: str) -> bool:
    reply = ground.cluster.perform([Get(Pod, name, ground.namespace)])[0]
    return isinstance(reply.error, NotFoundError)


def test_a_pod_becomes_ready_on_its_node(ground: Ground) -> None:
    name = ground.add_node("n")
    ground.apply(pod("p"))
    (ready,) = ground.ready_pods(1)
    assert ready.spec.node_name == name
    assert ready.status.phase == "Running"
    assert ready.status.start_time is not None
    assert ready.ready_since is not None
    assert ready.grace == timedelta(seconds=30)


def test_a_deleted_pod_stays_until_it_has_stopped(ground: Ground, running: Pod) -> None:
    before = ground.clock.now()
    ground.delete(running)
    leaving = ground.get(Pod, running.name)
    assert leaving.leaving
    assert leaving.metadata.deletion_grace_period_seconds == 60
    assert leaving.metadata.deletion_timestamp is not None
    ends = leaving.metadata.deletion_timestamp - before
    assert timedelta(seconds=58) < ends <= timedelta(seconds=62), "it is when the grace ends"
    assert leaving.status.phase == "Running"
    ground.gone(running)


def test_a_second_deletion_shortens_the_grace_period_but_never_lengthens_it(
    ground: Ground, running: Pod
) -> None:
    ground.delete(running)
    ground.delete(running, grace_seconds=300)
    assert ground.get(Pod, "p").metadata.deletion_grace_period_seconds == 60
    ground.delete(running, grace_seconds=20)
    assert ground.get(Pod, "p").metadata.deletion_grace_period_seconds == 20
    ground.delete(running)
    assert ground.get(Pod, "p").metadata.deletion_grace_period_seconds == 20


def test_a_pod_is_gone_at_once_when_its_deletion_is_forced(ground: Ground, running: Pod) -> None:
    ground.delete(running, grace_seconds=0)
    assert is_gone(ground, running.name)


def test_a_pod_without_a_node_is_gone_at_once_when_deleted(ground: Ground) -> None:
    ground.apply(pod("waits"))
    ground.delete(ground.get(Pod, "waits"))
    assert is_gone(ground, "waits")


def test_a_finished_pod_is_gone_at_once_when_deleted(ground: Ground) -> None:
    ground.add_node("n")
    ground.apply(pod("p", annotations={**QUICK, "evenkeel.test/complete-after": "100ms"}))
    ground.eventually(lambda: ground.get(Pod, "p").status.phase == "Succeeded")
    assert not ground.get(Pod, "p").ready
    ground.delete(ground.get(Pod, "p"))
    assert is_gone(ground, "p")


def test_a_pod_stays_when_a_deletion_means_another_uid(ground: Ground, running: Pod) -> None:
    delete = Delete(Pod, running.name, ground.namespace, uid="not-this-one")
    assert isinstance(ground.refused(delete), ConflictError)
    assert not ground.get(Pod, running.name).leaving


def test_a_pod_that_starts_slowly_is_pending_and_not_ready(ground: Ground) -> None:
    ground.add_node("n")
    ground.apply(pod("p", annotations=SLOW_START))
    ground.eventually(lambda: ground.get(Pod, "p").spec.node_name)
    slow = ground.get(Pod, "p")
    assert (slow.status.phase, slow.ready) == ("Pending", False)
