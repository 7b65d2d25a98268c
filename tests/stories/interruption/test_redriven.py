"""Notices that somebody moves out of the dead letters, hours after they were given."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.decisions.notice import mark
from evenkeel.errors import InstancesError
from tests.kit.builders import NOW
from tests.stories.interruption.scene import Scene, event, instance_id, state_change, warning

LATER = NOW + timedelta(hours=5)


@pytest.fixture
def scene() -> Scene:
    return Scene()


def recommendation(number: int) -> dict[str, Any]:
    return event("EC2 Instance Rebalance Recommendation", number)


def stopping(number: int) -> dict[str, Any]:
    return state_change(number, "stopping")


def lives_on(scene: Scene) -> None:
    """The instance was not taken."""


def started_anew(scene: Scene) -> None:
    """It was stopped, and somebody has started it."""
    scene.instances.set_state(instance_id(1), "running")


def of_another(scene: Scene) -> None:
    """Its node is gone, and the node of a new instance has the name."""
    scene.instances.set_state(instance_id(1), "terminated")
    scene.cluster.server.delete("Node", ("", "n1"))
    scene.add_node("n1", 11)


def unknown_by_now(scene: Scene) -> None:
    """The same, so long ago that EC2 lists the old instance no more."""
    of_another(scene)
    scene.instances.forget(instance_id(1))


def not_known(scene: Scene) -> None:
    """EC2 does not answer."""
    scene.instances.fail(InstancesError("timed out"))


def not_listed(scene: Scene) -> None:
    """EC2 does not list the instances that EKS manages."""
    scene.instances.forget(instance_id(1))


@pytest.mark.parametrize("given", [warning, recommendation, stopping])
@pytest.mark.parametrize(
    "now", [lives_on, started_anew, of_another, unknown_by_now, not_known, not_listed]
)
def test_nothing_is_done_to_the_node_that_is_there_by_now(
    scene: Scene, given: Callable[[int], dict[str, Any]], now: Callable[[Scene], None]
) -> None:
    scene.clock.advance(LATER - NOW)
    now(scene)

    failed = scene.deliver(given(1))

    assert scene.writes() == []
    assert bool(failed) == (now is not_known), "it comes again until EC2 answers"
    assert mark.read(scene.node("n1")) is None


def test_a_warning_whose_time_is_over_counts_again_once_ec2_says_that_the_instance_ends(
    scene: Scene,
) -> None:
    """The node is still there, and its volumes have to come free."""
    scene.clock.advance(LATER - NOW)
    scene.instances.set_state(instance_id(1), "shutting-down")
    assert scene.deliver(warning(1)) == []
    assert mark.read(scene.node("n1")) is not None
