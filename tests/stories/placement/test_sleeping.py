"""New pods whose containers sleep before their SIGTERM, as the webhook admits them."""

import json
from typing import Any

import pytest

from evenkeel.errors import UnavailableError
from evenkeel.model import names
from evenkeel.settings import Mode
from tests.kit.asking import failing
from tests.kit.manifests import resource
from tests.stories.placement.scene import (
    NAMESPACE,
    Document,
    Placement,
    apply_patch,
    pod,
    workload,
)

SLEEPS = {"preStop": {"sleep": {"seconds": 5}}}


def slept(admitted: Document) -> list[Any]:
    """The hooks of each container; None without any."""
    return [each.get("lifecycle") for each in admitted["spec"]["containers"]]


@pytest.fixture
def scene() -> Placement:
    """A namespace whose pods are to sleep."""
    found = Placement()
    found.cluster.apply(home())
    return found


def home(*, managed: bool = True) -> Document:
    notes, labels = {names.PRE_STOP_SLEEP: "5s"}, {names.MANAGED: str(managed).lower()}
    return resource("Namespace", NAMESPACE, notes=notes, labels=labels)


def admitted(scene: Placement, **spec: Any) -> Document:
    asked = pod(scene.replica_set(4, "2"), **spec)
    return apply_patch(asked, scene.ask(asked))


def test_a_placed_pod_sleeps_as_well(scene: Placement) -> None:
    found = admitted(scene)
    assert slept(found) == [SLEEPS]
    assert found["metadata"]["labels"][names.CAPACITY] == "on-demand"


def test_so_does_one_that_its_own_rules_or_its_scheduler_place(scene: Placement) -> None:
    for spec in (
        {"nodeSelector": {names.KARPENTER_CAPACITY: "on-demand"}},
        {"schedulerName": names.FARGATE_SCHEDULER},
    ):
        found = admitted(scene, **spec)
        assert slept(found) == [SLEEPS]
        assert names.CAPACITY not in found["metadata"]["labels"]


def test_so_does_one_that_its_template_places(scene: Placement) -> None:
    scene.cluster.apply(workload("StatefulSet", "db", 3))
    owner = scene.read("StatefulSet", "db")
    owner["metadata"]["annotations"] = {names.PLACEMENT: names.BY_TEMPLATE}
    scene.cluster.apply(owner)
    asked = pod(owner, name="db-0")
    assert slept(apply_patch(asked, scene.ask(asked))) == [SLEEPS]


def test_so_does_a_container_that_another_webhook_adds(scene: Placement) -> None:
    asked = pod(scene.replica_set(4, "2"))
    once = apply_patch(asked, scene.ask(asked))
    once["spec"]["containers"].append({"name": "proxy", "image": "proxy"})
    assert slept(apply_patch(once, scene.ask(once))) == [SLEEPS, SLEEPS]


@pytest.mark.parametrize(
    "spec", [{"nodeName": "n1"}, {"annotations": {names.MIRROR_POD: "x"}}], ids=["bound", "static"]
)
def test_a_pod_that_is_not_scheduled_is_left(scene: Placement, spec: dict[str, Any]) -> None:
    assert slept(admitted(scene, **spec)) == [None]


def test_a_daemon_set_s_pod_is_left(scene: Placement) -> None:
    asked = pod(scene.replica_set(4))
    asked["metadata"]["ownerReferences"][0]["kind"] = "DaemonSet"
    assert slept(apply_patch(asked, scene.ask(asked))) == [None]


@pytest.mark.parametrize("rules", [{}, {"nodeSelector": {names.KARPENTER_CAPACITY: "spot"}}])
def test_no_pod_is_changed_in_a_namespace_that_takes_no_part(rules: Document) -> None:
    scene = Placement()
    scene.cluster.apply(home(managed=False))
    assert slept(admitted(scene, **rules)) == [None]


@pytest.mark.parametrize("rules", [{}, {"nodeSelector": {names.KARPENTER_CAPACITY: "spot"}}])
def test_no_pod_is_changed_during_a_pause(scene: Placement, rules: Document) -> None:
    scene.cluster.apply(resource("ConfigMap", names.PAUSED, names.SYSTEM_NAMESPACE))
    assert slept(admitted(scene, **rules)) == [None]


@pytest.mark.parametrize("rules", [{}, {"nodeSelector": {names.KARPENTER_CAPACITY: "spot"}}])
def test_no_pod_is_changed_in_observe_mode(rules: Document) -> None:
    scene = Placement(mode=Mode.OBSERVE)
    scene.cluster.apply(home())
    assert slept(admitted(scene, **rules)) == [None]


@pytest.mark.parametrize("rules", [{}, {"nodeSelector": {names.KARPENTER_CAPACITY: "spot"}}])
def test_a_pod_passes_as_it_is_where_nobody_answers(scene: Placement, rules: Document) -> None:
    asked = pod(scene.replica_set(4), **rules)
    failing(scene.cluster, UnavailableError("nobody answers"))
    answer = scene.ask(asked)
    assert json.dumps(answer).count("patch") == 0
    assert answer["allowed"] is True
