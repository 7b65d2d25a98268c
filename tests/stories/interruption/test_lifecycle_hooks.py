"""Groups that wait with the termination of an instance that is no node: nobody else tells them."""

from datetime import timedelta
from typing import Any

import pytest

from evenkeel.decisions.notice import mark
from evenkeel.errors import LifecycleError, NotFoundError, UnavailableError
from evenkeel.model import names
from evenkeel.model.cluster_objects import ConfigMap
from evenkeel.model.hook import Hook, HookTimes, Termination
from evenkeel.model.request import Get, Patch
from evenkeel.settings import Mode
from tests.kit.asking import asks
from tests.kit.builders import NOW
from tests.kit.manifests import PAUSED
from tests.stories.interruption.scene import Scene, instance_id

HOUR = timedelta(hours=1)


@pytest.fixture
def scene() -> Scene:
    return Scene(lifecycle_hook="evenkeel")


def scale_in(scene: Scene, number: int, *, waits: bool = True) -> dict[str, Any]:
    """The event of a group that ends an instance, and ``waits`` for its hook, or does no more."""
    token = f"87654321-4321-4321-4321-{number:012x}"
    hook = Hook(group="workers", name="evenkeel", token=token)
    scene.auto_scaling.put_hook("workers", "evenkeel", HookTimes(HOUR, HOUR))
    if waits:
        scene.auto_scaling.begin(Termination(hook, instance_id(number)))
    return {
        "version": "0",
        "id": f"event-{number}",
        "detail-type": "EC2 Instance-terminate Lifecycle Action",
        "source": "aws.autoscaling",
        "account": "123456789012",
        "time": NOW.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": "eu-central-1",
        "resources": [],
        "detail": {
            "LifecycleActionToken": token,
            "AutoScalingGroupName": "workers",
            "LifecycleHookName": "evenkeel",
            "EC2InstanceId": instance_id(number),
            "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING",
        },
    }


def called(scene: Scene) -> list[str]:
    return [name for _, name in scene.auto_scaling.calls]


def test_a_group_waits_two_minutes_for_an_instance_that_does_not_join(scene: Scene) -> None:
    scene.add_instance(9, dns_name="n9")
    (failed,) = scene.deliver(scale_in(scene, 9))
    assert scene.reasons() == ["NodeBooting"]
    assert scene.comes_back_after(failed) == 5
    assert scene.come_again(119) == [failed]
    assert called(scene) == []

    assert scene.come_again(5) == []
    (decision,) = scene.recorder.decisions
    assert decision.reason == "LifecycleActionCompleted"
    assert "running and no node yet: the group workers may go on" in decision.message
    assert called(scene) == ["complete"]


def test_an_instance_that_joins_meanwhile_is_a_node_as_any(scene: Scene) -> None:
    scene.add_instance(9, dns_name="n9")
    scene.deliver(scale_in(scene, 9))
    scene.add_node("n9", 9)
    assert scene.come_again(130) == []
    assert mark.read(scene.node("n9")) is not None
    assert called(scene) == ["times"]


@pytest.mark.parametrize(
    ("waits", "reason"), [(True, "LifecycleActionCompleted"), (False, "LifecycleActionGone")]
)
def test_an_instance_that_is_off_and_no_node_is_not_waited_for(
    scene: Scene, *, waits: bool, reason: str
) -> None:
    scene.add_instance(9, state="terminated")
    assert scene.deliver(scale_in(scene, 9, waits=waits)) == []
    assert scene.reasons() == [reason]
    assert called(scene) == ["complete"]


def test_a_node_that_goes_while_it_is_marked_lets_its_group_go_on(scene: Scene) -> None:
    scene.fail(NotFoundError("gone"), asks(Patch))
    (failed,) = scene.deliver(scale_in(scene, 1))
    assert scene.reasons() == ["NodeGone"]
    scene.cluster.delete("Node", "n1")
    assert scene.come_again(11) == [failed]
    assert scene.come_again(120) == []
    assert scene.reasons() == ["LifecycleActionCompleted"]


def test_the_notice_comes_again_until_auto_scaling_answers(scene: Scene) -> None:
    for number in (8, 9):
        scene.add_instance(number, state="terminated")
    scene.auto_scaling.fail(LifecycleError("away"))
    assert len(scene.deliver(scale_in(scene, 8), scale_in(scene, 9))) == 2
    assert scene.reasons() == ["NoAnswerFromAutoScaling"] * 2
    assert called(scene) == ["complete"]
    scene.auto_scaling.fail(None)
    assert scene.come_again() == []
    assert scene.reasons() == ["LifecycleActionCompleted"] * 2


def test_the_group_of_an_instance_that_may_be_another_clusters_is_left_alone(scene: Scene) -> None:
    scene.add_instance(9, dns_name="n9", tags={})
    assert scene.deliver(scale_in(scene, 9)) == []
    assert scene.reasons() == ["NoNode"]
    assert called(scene) == []


def test_a_pause_holds_the_notice_and_no_group_is_told(scene: Scene) -> None:
    scene.add_instance(9, state="terminated")
    scene.cluster.apply(PAUSED)
    assert len(scene.deliver(scale_in(scene, 9))) == 1
    assert scene.reasons() == ["Paused"]
    scene.cluster.delete("ConfigMap", names.PAUSED, names.SYSTEM_NAMESPACE)
    restored = scene.fail(UnavailableError("away"), asks(Get, of=ConfigMap))
    assert len(scene.come_again(5)) == 1
    assert scene.reasons() == ["NoAnswerFromApiServer"]
    assert called(scene) == []
    restored()
    assert scene.come_again() == []
    assert called(scene) == ["complete"]


@pytest.mark.parametrize(
    ("state", "reason"), [("terminated", "NodeGone"), ("running", "NodeBooting")]
)
def test_in_observe_mode_no_group_is_told(state: str, reason: str) -> None:
    scene = Scene(Mode.OBSERVE, lifecycle_hook="evenkeel")
    scene.add_instance(9, state=state)
    scene.clock.advance(timedelta(seconds=130))
    assert scene.deliver(scale_in(scene, 9)) == []
    assert scene.reasons() == [reason]
    assert called(scene) == []
