"""A cluster that is loaded as it was goes on from there, and nothing is done to it."""

import json
from typing import Any

import pytest

from evenkeel_sandbox.simulator.api.objects import Obj, is_ready
from tests.kit.manifests import resource
from tests.unit.sandbox.simulator.scene import Scene, node, template, workload


@pytest.fixture
def original() -> Scene:
    scene = Scene(3)
    scene.cluster.apply(
        workload("Deployment", "web", replicas=3),
        workload("StatefulSet", "db", replicas=2),
        workload("Deployment", "broken", template("broken", {"evenkeel.test/ready-after": "9h"})),
        resource(
            "PodDisruptionBudget",
            "web",
            "shop",
            spec={"selector": {"matchLabels": {"app": "web"}}, "minAvailable": 2},
        ),
    )
    scene.wait(30)
    return scene


def loaded(original: Scene, *, without: tuple[str, ...] = ()) -> Scene:
    copy = Scene(0)
    copy.cluster.apply(resource("Namespace", "shop"))
    kinds = ("Node", "Deployment", "ReplicaSet", "StatefulSet", "PodDisruptionBudget", "Pod")
    copy.cluster.load(
        *(o for kind in kinds if kind not in without for o in original.cluster.objects(kind))
    )
    return copy


def essence(scene: Scene) -> list[Any]:
    return [(p["metadata"]["uid"], p["spec"]["nodeName"], is_ready(p)) for p in scene.pods()]


def test_nothing_changes_when_nothing_happens(original: Scene) -> None:
    copy = loaded(original)
    copy.wait(600)
    assert essence(copy) == essence(original)
    assert copy.one("PodDisruptionBudget")["status"]["disruptionsAllowed"] == 1


@pytest.mark.parametrize("field", ["generation", "resourceVersion", "creationTimestamp"])
def test_it_goes_on_when_the_files_were_tidied(original: Scene, field: str) -> None:
    """As people do by hand, and tools that show manifests without what the server adds."""
    tidy = [
        {**obj, "metadata": {k: v for k, v in obj["metadata"].items() if k != field}}
        for kind in (
            "Node",
            "Deployment",
            "ReplicaSet",
            "StatefulSet",
            "PodDisruptionBudget",
            "Pod",
        )
        for obj in original.cluster.objects(kind)
    ]
    copy = Scene(0)
    copy.cluster.load(*tidy)
    copy.wait(60)
    assert essence(copy) == essence(original)
    assert copy.one("PodDisruptionBudget")["status"]["disruptionsAllowed"] == 1


def test_the_controllers_go_on(original: Scene) -> None:
    copy = loaded(original)
    copy.cluster.scale("Deployment", "web", "shop", 5)
    copy.cluster.delete("Pod", "db-0", "shop")
    copy.wait(30)
    before = {p["metadata"]["uid"] for p in original.pods()}
    now = {p["metadata"]["uid"] for p in copy.pods()}
    assert len(now) == len(before) + 2
    assert len(before - now) == 1
    assert copy.ready() == original.ready() + 2


def test_pods_stay_when_their_owners_were_not_loaded(original: Scene) -> None:
    copy = loaded(original, without=("Deployment", "ReplicaSet", "StatefulSet"))
    copy.wait(600)
    assert essence(copy) == essence(original)


def test_a_set_keeps_its_pods_when_its_revisions_have_other_names(original: Scene) -> None:
    old = original.one("StatefulSet")["status"]["updateRevision"]

    def renamed(obj: Obj) -> Obj:
        changed: Obj = json.loads(json.dumps(obj).replace(old, "db-6c8"))
        return changed

    copy = Scene(0)
    copy.cluster.apply(resource("Namespace", "shop"))
    kinds = ("Node", "StatefulSet", "Pod")
    copy.cluster.load(*(renamed(o) for kind in kinds for o in original.cluster.objects(kind)))
    copy.wait(600)
    assert essence(copy) == essence(original)


def test_a_node_that_was_not_ready_has_no_kubelet() -> None:
    scene = Scene(0)
    broken = node("n")
    broken["spec"] = {}
    broken["status"] = {
        "allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"},
        "conditions": [{"type": "Ready", "status": "Unknown"}],
    }
    scene.cluster.load(broken)
    scene.wait(60)
    assert scene.one("Node")["status"]["conditions"][0]["status"] == "Unknown"
    assert "node.kubernetes.io/unreachable" in {
        t["key"] for t in scene.one("Node")["spec"]["taints"]
    }
