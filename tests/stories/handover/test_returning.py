"""Pods that come back to the node that they are taken from, whatever keeps others off it."""

from collections.abc import Mapping
from typing import Any

import pytest

from evenkeel.model.request import Evict
from tests.kit.manifests import Manifest, deployment, on_node, resource, stateful_set, template
from tests.kit.scene import Scene

TOLERANT: Manifest = {"tolerations": [{"operator": "Exists"}]}
PINNED: Manifest = on_node("s1")
NAMED: Manifest = {**TOLERANT, "nodeName": "s1"}
TO_THE_NODE = [TOLERANT, {**TOLERANT, **PINNED}, NAMED]
IDS = ["tolerates every taint", "and is pinned", "and its template names the node"]


def evictions(scene: Scene) -> list[float]:
    return [sent.at for sent in scene.written() if isinstance(sent.write, Evict)]


def by_field(node: str) -> Manifest:
    """What a DaemonSet's controller adds to each of its pods."""
    clause = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = {"nodeSelectorTerms": [{"matchFields": [clause]}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


class Keeper:
    """A controller that Evenkeel does not know: it makes its pod anew, always on one node."""

    def __init__(self, scene: Scene, node: str, spec: Mapping[str, Any]) -> None:
        self._scene = scene
        self._spec = {**template("own")["spec"], **spec}
        self._node = node
        self.made = 0
        own = {"apiVersion": "apps.kruise.io/v1beta1", "kind": "SomeSet"}
        scene.apply({**own, "metadata": {"name": "own", "namespace": "default"}})
        (there,) = scene.cluster.objects("SomeSet")
        uid = there["metadata"]["uid"]
        self._owner = {**own, "name": "own", "uid": uid, "controller": True}

    def keep(self, until: float) -> None:
        if not self._scene.pods("own", self._node):
            name = f"own-{self.made}"
            made = resource("Pod", name, "default", labels={"app": "own"}, spec=self._spec)
            made["metadata"]["ownerReferences"] = [self._owner]
            self._scene.apply(made)
            self.made += 1
        if self._scene.seconds < until:
            self._scene.later(self._scene.seconds + 1, lambda: self.keep(until))


@pytest.fixture
def foreign(scene: Scene) -> Any:
    def make(**spec: Any) -> Keeper:
        scene.given(deployment("web", 2), spare="o1")
        keeper = Keeper(scene, "s1", spec)
        keeper.keep(600)
        scene.run(until=5)
        return keeper

    return make


@pytest.mark.parametrize("spec", [*TO_THE_NODE, PINNED], ids=[*IDS, "is only pinned"])
def test_a_stateful_sets_pod_that_comes_back_stays_on_a_hint(scene: Scene, spec: Manifest) -> None:
    scene.given(stateful_set("db", 2, pod=spec), spare="o1")

    scene.recommend("s1").run(until=300)

    assert scene.story("db-1").order() == ["leave ReturnsToNode"]
    assert evictions(scene) == []
    assert scene.lowest("db") == 2


@pytest.mark.parametrize("spec", TO_THE_NODE, ids=IDS)
def test_and_goes_once_at_its_last_moment_on_a_warning(scene: Scene, spec: Manifest) -> None:
    scene.given(stateful_set("db", 2, pod=spec), spare="o1")

    scene.interrupt("s1", carried_out=False).run(until=300)

    assert scene.story("db-1")[:2] == ["1.0 wait ReturnsToNode", "88.9 evict LastMoment"]
    assert len(evictions(scene)) == 2


@pytest.mark.parametrize("spec", [*TO_THE_NODE, PINNED], ids=[*IDS, "is only pinned"])
def test_a_deployments_pods_that_come_back_stay_on_a_hint(scene: Scene, spec: Manifest) -> None:
    pods = scene.given(deployment("web", 2, pod=spec))

    scene.recommend("s1").run(until=300)

    assert {word for pod in pods for word in scene.story(pod).order()} == {"leave ReturnsToNode"}
    assert scene.written() == [sent for sent in scene.written() if sent.name == "s1"]


def test_a_pod_that_tolerates_our_taint_is_handed_over_on_a_warning(scene: Scene) -> None:
    """Its replacement may well go elsewhere."""
    scene.given(deployment("one", pod=TOLERANT), spare="o1")
    scene.interrupt("s1", carried_out=False).run(until=300)
    assert scene.lowest("one") == 1


@pytest.mark.parametrize("spec", TO_THE_NODE, ids=IDS)
def test_a_deployments_pods_do_not_move_from_the_node_onto_itself_again_and_again(
    scene: Scene, spec: Manifest
) -> None:
    scene.given(deployment("web", 2, pod=spec))
    scene.interrupt("s1", carried_out=False).run(until=300)
    assert len(evictions(scene)) <= 4


def test_a_pod_bound_to_its_node_counts_as_a_daemon_sets_whoever_owns_it(
    scene: Scene, foreign: Any
) -> None:
    keeper = foreign(**TOLERANT, **by_field("s1"))

    scene.interrupt("s1", carried_out=False).run(until=300)

    assert scene.story("own-0").order() == ["leave DaemonSet"]
    assert keeper.made == 1


@pytest.mark.parametrize("spec", [NAMED, TOLERANT | PINNED], ids=["named", "pinned"])
def test_a_pod_of_an_unknown_controller_that_came_back_goes_at_its_last_moment(
    scene: Scene, foreign: Any, spec: Manifest
) -> None:
    keeper = foreign(**spec)

    scene.interrupt("s1", carried_out=False).run(until=300)

    assert keeper.made <= 3
    assert len([at for at in evictions(scene) if at > 20]) <= 1


@pytest.mark.parametrize("spec", TO_THE_NODE, ids=IDS)
def test_no_pod_that_comes_back_keeps_a_lifecycle_hook_waiting(
    scene: Scene, spec: Manifest
) -> None:
    scene.given(stateful_set("db", 1, pod=spec), deployment("web", 2), spare="o1")

    scene.scale_in("s1").run(until=200)

    (completed,) = scene.told_group("complete")
    assert completed < 90
    assert scene.lowest("web") == 2


@pytest.mark.parametrize("spec", [NAMED, by_field("s1") | TOLERANT], ids=["named", "by field"])
def test_nor_does_one_of_an_unknown_controller(scene: Scene, foreign: Any, spec: Manifest) -> None:
    foreign(**spec)

    scene.scale_in("s1").run(until=200)

    (completed,) = scene.told_group("complete")
    assert completed < 90
