"""Pods of a floor that wait for something else than room: no other pod is made in their place."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from evenkeel.model import names
from tests.kit.manifests import Manifest, claim, deployment, resource, stateful_set, volume
from tests.kit.restoring import RestoreScene

HOUR = 3600
FLOOR = {names.ON_DEMAND: "all"}
GATED = {"schedulingGates": [{"name": "example.com/quota"}]}
UNBOUND = claim("data") | {"spec": {"accessModes": ["ReadWriteMany"], "storageClassName": ""}}


def counting(scene: RestoreScene, app: str) -> Callable[[], int]:
    """How many pods of an app are made from now on."""
    made = set[str]()

    def look(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> None:
        if old is None and new is not None and new["metadata"]["labels"].get("app") == app:
            made.add(new["metadata"]["uid"])

    scene.cluster.server.store.observe("Pod", look)
    return lambda: len(made)


def left(scene: RestoreScene) -> set[str]:
    """Why restore leaves what it leaves."""
    told = (each for _, each in scene.told() if each.write is None)
    return {each.message for each in told if each.reason == "PodsWait"}


@pytest.mark.parametrize("make", [deployment, stateful_set])
@pytest.mark.parametrize(
    ("pod", "also", "why"),
    [
        (GATED, [], "Scheduling is blocked due to non-empty scheduling gates"),
        (volume("data"), [UNBOUND], "pod has unbound immediate PersistentVolumeClaims"),
        (volume("other"), [], 'persistentvolumeclaim "other" not found'),
        ({"nodeSelector": {"disk": "ssd"}}, [], "node(s) didn't match Pod's node affinity"),
        ({"containers": [{"name": "main", "resources": {"requests": {"cpu": "9"}}}]}, [], "cpu"),
    ],
    ids=["gated", "claim unbound", "claim missing", "selector of no node", "larger than any node"],
)
def test_it_is_left_with_the_scheduler_s_words(
    scene: RestoreScene, make: Any, pod: Manifest, also: list[Manifest], why: str
) -> None:
    made = counting(scene, "web")
    scene.given(*also, make("web", 1, notes=FLOOR, pod=pod), on="o0 s0 s1")
    scene.run(until=HOUR)
    assert made() == 1
    assert not scene.told("FloorRelaxed")
    assert any(why in message for message in left(scene)), left(scene)


def test_once_its_gate_is_open_a_pod_goes_to_spot_as_any_other(scene: RestoreScene) -> None:
    made = counting(scene, "web")
    scene.given(deployment("web", 1, notes=FLOOR, pod=GATED), on="s0")
    scene.run(until=600)
    (pod,) = scene.pods("web")
    assert made() == 1
    scene.apply(resource("Pod", pod.name, "default", spec={"schedulingGates": []}))
    scene.run(until=601)
    (told,) = left(scene)
    assert "gates" in told
    scene.run(until=700)
    (gated,) = scene.pods("web")
    assert gated.uid != pod.uid
    scene.apply(resource("Pod", gated.name, "default", spec={"schedulingGates": []}))
    scene.run(until=HOUR)
    assert made() == 2
    assert scene.split("web") == {"spot": 1}


def test_of_several_that_wait_as_many_go_to_spot_as_have_room_there(scene: RestoreScene) -> None:
    made = counting(scene, "web")
    pod = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}
    scene.given(deployment("web", 4, notes=FLOOR, pod=pod), on="s0", room={"s0": "2"})
    scene.run(until=HOUR)
    assert scene.split("web") == {"spot": 2, "none": 2}
    assert made() == 6
