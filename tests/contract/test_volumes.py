"""Volumes that one node can use at a time. The driver is played, the controller is not."""

from typing import Any

from evenkeel.model.cluster_objects import Event
from evenkeel.model.names import OUT_OF_SERVICE
from evenkeel.model.pod import Pod
from tests.contract.ground import Ground
from tests.contract.manifests import pod

PATIENCE = 60.0
"""Seconds until the controller tries again what did not work at first."""


def user(name: str, node: str) -> dict[str, Any]:
    """A pod that uses the claim on a node."""
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    return pod(name, nodeName=node, volumes=[volume])


def stop(ground: Ground, name: str) -> None:
    ground.delete(ground.get(Pod, name), grace_seconds=0)


def refusals(ground: Ground) -> list[Event]:
    return [
        each
        for each in ground.list(Event, fields="reason=FailedAttachVolume")
        if "Multi-Attach" in each.message
    ]


def test_a_volume_follows_once_no_pod_of_its_node_uses_it(ground: Ground) -> None:
    here, there = ground.add_node("here"), ground.add_node("there")
    ground.add_claim("data")
    ground.apply(user("first", here), user("second", here))
    ground.eventually(lambda: list(ground.attached("data")) == [here])
    ground.apply(user("elsewhere", there))
    refused = ground.eventually(lambda: refusals(ground), "refused", PATIENCE)
    assert refused[0].involved_object.name == "elsewhere"
    stop(ground, "first")
    ground.never(lambda: list(ground.attached("data")) != [here], seconds=3)
    stop(ground, "second")
    ground.eventually(lambda: list(ground.attached("data")) == [there], "moved", PATIENCE)


def test_a_silent_node_keeps_a_volume_until_it_is_said_to_be_out_of_service(
    ground: Ground,
) -> None:
    ground.add_node("healthy")
    silent = ground.add_silent_node("silent")
    ground.add_claim("data")
    ground.apply(user("lost", silent))
    ground.eventually(lambda: list(ground.attached("data")) == [silent])
    ground.mount(silent, "data")
    stop(ground, "lost")
    ground.never(lambda: not ground.attached("data"), seconds=10)
    ground.taint(silent, {"key": OUT_OF_SERVICE, "effect": "NoExecute"})
    ground.eventually(lambda: not ground.attached("data"), "detached", PATIENCE)
