"""The simulated API server asks mutating webhooks about new pods, as a real one does."""

import json
from base64 import b64encode
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenkeel.errors import ForbiddenError, UnavailableError
from evenkeel_sandbox.simulator.api.objects import Obj
from evenkeel_sandbox.simulator.api.webhooks import MANAGED, Answer, CallFailedError, Webhook
from tests.kit.manifests import resource
from tests.unit.sandbox.simulator.scene import Scene, pod, template, workload

MANIFEST = Path(__file__).parents[4] / "manifests" / "webhook" / "webhook.yaml"
MARK = [{"op": "add", "path": "/metadata/labels", "value": {"seen": "yes"}}]


class Marker:
    """Patches every pod, and remembers what it was asked."""

    def __init__(self, patch: Any = MARK, took: float = 0.0, **response: Any) -> None:
        self.requests: list[Obj] = []
        self._patch = patch
        self._took = timedelta(seconds=took)
        self._response = response

    def __call__(self, review: bytes) -> Answer:
        request = json.loads(review)["request"]
        self.requests.append(request)
        response = {
            "uid": request["uid"],
            "allowed": True,
            "patchType": "JSONPatch",
            "patch": b64encode(json.dumps(self._patch).encode()).decode(),
            **self._response,
        }
        return Answer(200, json.dumps({"response": response}).encode(), self._took)


@pytest.fixture
def scene() -> Scene:
    scene = Scene()
    scene.cluster.apply(namespace("shop"))
    return scene


def namespace(name: str) -> Obj:
    metadata = {"name": name, "labels": {"evenkeel.dev/managed": "true"}}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}


def labels(made: Obj) -> dict[str, str]:
    found: dict[str, str] = made["metadata"].get("labels", {})
    return found


def test_a_pod_is_stored_as_the_webhook_patches_it(scene: Scene) -> None:
    marker = Marker()
    scene.cluster.ask(Webhook(marker))
    made = scene.cluster.server.create(pod("web"))
    assert labels(made) == {"seen": "yes"}
    assert made["metadata"]["uid"]
    assert made["status"]["phase"] == "Pending"
    (request,) = marker.requests
    assert (request["operation"], request["namespace"], request["name"]) == (
        "CREATE",
        "shop",
        "web",
    )
    assert "uid" not in request["object"]["metadata"]
    assert request["object"]["spec"]["priority"] == 0


def test_a_name_that_is_made_up_is_not_known_to_the_webhook(scene: Scene) -> None:
    marker = Marker()
    scene.cluster.ask(Webhook(marker))
    asked = pod("")
    asked["metadata"]["generateName"] = "web-"
    made = scene.cluster.server.create(asked)
    assert made["metadata"]["name"].startswith("web-")
    assert "name" not in marker.requests[0]["object"]["metadata"]


def test_pods_of_controllers_are_asked_about_until_the_webhook_is_taken_off(scene: Scene) -> None:
    add = {"op": "add", "path": "/metadata/labels/seen", "value": "yes"}
    end = scene.cluster.ask(Webhook(Marker([add])))
    scene.cluster.apply(workload("StatefulSet", "db", replicas=2))
    scene.wait(10)
    end()
    scene.cluster.scale("StatefulSet", "db", "shop", 3)
    scene.wait(10)
    assert [labels(each).get("seen") for each in scene.pods()] == ["yes", "yes", None]


def test_only_namespaces_that_take_part_are_asked_about(scene: Scene) -> None:
    marker = Marker()
    scene.cluster.ask(Webhook(marker))
    scene.cluster.apply(namespace("kube-system"), namespace("evenkeel-system"))
    for name in ("default", "kube-system", "evenkeel-system"):
        asked = pod("web")
        asked["metadata"]["namespace"] = name
        scene.cluster.apply(asked)
    assert marker.requests == []


def test_the_defaults_are_those_of_the_manifest() -> None:
    (manifest,) = yaml.safe_load(MANIFEST.read_text())["webhooks"]
    webhook = Webhook(Marker())
    assert manifest["name"] == webhook.name
    assert manifest["namespaceSelector"] == webhook.namespaces == MANAGED
    assert manifest["timeoutSeconds"] == webhook.timeout.total_seconds()
    assert manifest["failurePolicy"] == "Ignore"


def fail(_: bytes) -> Answer:
    raise CallFailedError


@pytest.mark.parametrize(
    "ask",
    [
        fail,
        lambda _: Answer(503, b""),
        lambda _: Answer(200, b"nonsense"),
        lambda _: Answer(200, b"[]"),
        lambda _: Answer(200, b'{"response": {"uid": "another", "allowed": true}}'),
        Marker(uid="another"),
        Marker(allowed="perhaps"),
        Marker(patchType="MergePatch"),
        Marker(took=3.1),
    ],
)
def test_a_webhook_that_fails_lets_the_pod_pass_as_it_is(
    scene: Scene, ask: Callable[[bytes], Answer]
) -> None:
    scene.cluster.ask(Webhook(ask))
    assert labels(scene.cluster.server.create(pod("web"))) == {}


def test_an_answer_just_in_time_counts_and_no_time_passes(scene: Scene) -> None:
    before = scene.clock.now()
    scene.cluster.ask(Webhook(Marker(took=3.0)))
    assert labels(scene.cluster.server.create(pod("web"))) == {"seen": "yes"}
    assert scene.clock.now() == before


def test_a_webhook_that_says_no_is_obeyed(scene: Scene) -> None:
    scene.cluster.ask(Webhook(Marker(allowed=False, status={"message": "not today"})))
    with pytest.raises(ForbiddenError, match="not today"):
        scene.cluster.server.create(pod("web"))
    assert scene.pods() == []


@pytest.mark.parametrize(
    "patch",
    [[{"op": "test", "path": "/spec/x", "value": 1}], [{"op": "remove", "path": "/spec/x"}]],
)
def test_a_patch_that_does_not_apply_fails_the_request(scene: Scene, patch: Any) -> None:
    scene.cluster.ask(Webhook(Marker(patch)))
    with pytest.raises(UnavailableError, match="Internal error"):
        scene.cluster.server.create(pod("web"))


def test_each_webhook_sees_what_the_one_before_made_of_the_pod(scene: Scene) -> None:
    first = Marker()
    second = Marker([{"op": "add", "path": "/metadata/labels/then", "value": "this"}])
    scene.cluster.ask(Webhook(first))
    scene.cluster.ask(Webhook(second))
    assert labels(scene.cluster.server.create(pod("web"))) == {"seen": "yes", "then": "this"}


def test_a_quota_judges_the_pod_after_the_webhook(scene: Scene) -> None:
    quota: Obj = resource("ResourceQuota", "small", "shop", spec={"hard": {"requests.cpu": "1"}})
    scene.cluster.apply(quota)
    scene.wait(1)
    add = {"op": "add", "path": "/spec/containers/0/resources", "value": {"requests": {"cpu": "2"}}}
    marker = Marker([add])
    scene.cluster.ask(Webhook(marker))
    with pytest.raises(ForbiddenError, match="exceeded quota"):
        scene.cluster.server.create(pod("web"))
    assert len(marker.requests) == 1


def test_what_a_patch_adds_gets_its_defaults(scene: Scene) -> None:
    sidecar = {"name": "sidecar", "image": "image", "ports": [{"containerPort": 80}]}
    scene.cluster.ask(
        Webhook(Marker([{"op": "add", "path": "/spec/containers/-", "value": sidecar}]))
    )
    scene.cluster.apply(workload("Deployment", "web", template("web"), replicas=1))
    scene.wait(5)
    (made,) = scene.pods()
    assert made["spec"]["containers"][1]["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
