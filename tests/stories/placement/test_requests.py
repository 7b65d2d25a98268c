"""What comes to the webhook's door: who is let in, what is refused, and how."""

import json
from base64 import b64encode
from typing import Any

import pytest

from evenkeel.errors import UnavailableError
from evenkeel.handlers.requests import LARGEST
from tests.kit.asking import failing
from tests.kit.reviews import TOKEN
from tests.stories.placement.scene import Placement, event, pod, review

OTHER = "fedcba9876543210" * 4
SECRETS = (TOKEN, OTHER)


@pytest.fixture
def scene() -> Placement:
    return Placement()


def a_review(scene: Placement, **request: Any) -> dict[str, Any]:
    return review(pod(scene.replica_set(4, "2")), **request)


def status(scene: Placement, asked: dict[str, Any]) -> int:
    answer = scene.handlers[0](asked, None)
    assert isinstance(answer["body"], str)
    told = json.dumps([answer, scene.recorder.notes], default=str)
    assert not any(secret in told for secret in SECRETS)
    assert "Traceback" not in told
    code: int = answer["statusCode"]
    return code


def test_a_review_is_answered_in_kind(scene: Placement) -> None:
    answer = scene.handlers[0](event(a_review(scene, uid="u7")), None)
    assert answer["statusCode"] == 200
    assert answer["headers"] == {"content-type": "application/json"}
    answered = json.loads(answer["body"])
    assert (answered["apiVersion"], answered["kind"]) == ("admission.k8s.io/v1", "AdmissionReview")
    assert answered["response"]["uid"] == "u7"
    assert answered["response"]["allowed"] is True
    assert answered["response"]["patchType"] == "JSONPatch"
    assert scene.recorder.flushes == 1


def test_the_body_may_be_base64(scene: Placement) -> None:
    body = b64encode(json.dumps(a_review(scene)).encode()).decode()
    assert status(scene, event(body, isBase64Encoded=True)) == 200


def test_both_tokens_are_let_in_while_they_are_rotated() -> None:
    scene = Placement(tokens=(OTHER, TOKEN))
    assert status(scene, event(a_review(scene))) == 200
    assert status(scene, event(a_review(scene), rawPath=f"/v1/{OTHER}")) == 200


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (f"/v1/{OTHER}", 401),
        (f"/v1/{TOKEN}/", 404),
        (f"/v1/{TOKEN}/more", 404),
        (f"/v1/{OTHER[:-1]}/evictions", 401),
        (f"/v1/{TOKEN[:-1]}", 401),
        ("/v1/", 401),
        ("/v1/\u00e9\udce9", 401),
        (f"/v2/{TOKEN}", 404),
        ("/", 404),
        ("", 404),
    ],
)
def test_no_other_request_is_let_in(scene: Placement, path: str, code: int) -> None:
    assert status(scene, event(a_review(scene), rawPath=path)) == code


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"requestContext": {"http": {"method": "GET"}}}, 405),
        ({"headers": {"content-type": "text/plain"}}, 415),
        ({"headers": {}}, 415),
        ({"headers": None}, 415),
        ({"headers": {"content-type": "Application/JSON; charset=utf-8"}}, 200),
        ({"requestContext": {}}, 400),
        ({"requestContext": None}, 400),
        ({"body": None}, 400),
        ({"body": 7}, 400),
        ({"body": "{"}, 400),
        ({"body": "[" * 100_000}, 400),
        ({"body": "\udce9"}, 400),
        ({"body": "%%%", "isBase64Encoded": True}, 400),
        ({"body": "é", "isBase64Encoded": True}, 400),
        ({"body": b64encode(b"\xff").decode(), "isBase64Encoded": True}, 400),
        ({"body": "x" * (LARGEST + 1)}, 413),
        ({"body": "é" * (LARGEST // 2 + 1)}, 413),
        ({"body": b64encode(b"x" * (LARGEST + 1)).decode(), "isBase64Encoded": True}, 413),
        ({"body": "x" * (LARGEST * 2), "isBase64Encoded": True}, 413),
    ],
)
def test_what_is_no_review_is_refused(scene: Placement, changes: dict[str, Any], code: int) -> None:
    assert status(scene, event(a_review(scene)) | changes) == code


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        {"apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview"},
        {"apiVersion": "admission.k8s.io/v1", "kind": "Pod"},
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"},
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {}},
        {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": ""}},
    ],
)
def test_another_version_or_kind_is_refused(scene: Placement, body: Any) -> None:
    assert status(scene, event(body)) == 400


@pytest.mark.parametrize(
    "request_",
    [
        {"resource": {"group": "", "version": "v1", "resource": "configmaps"}},
        {"resource": {"group": "apps", "version": "v1", "resource": "pods"}},
        {"subResource": "ephemeralcontainers"},
        {"operation": "UPDATE"},
        {"operation": "DELETE", "object": None},
    ],
)
def test_what_makes_no_pod_passes_unchanged(scene: Placement, request_: dict[str, Any]) -> None:
    answer = scene.ask(pod(scene.replica_set(4, "all")), **request_)
    assert answer == {"uid": "review", "allowed": True}


@pytest.mark.parametrize("asked", [None, 7, {"metadata": 7}, {"metadata": {"labels": {"a": 1}}}])
def test_a_pod_that_cannot_be_read_passes_with_a_warning(scene: Placement, asked: Any) -> None:
    body = a_review(scene)
    body["request"]["object"] = asked
    answer = scene.handlers[0](event(body), None)
    response = json.loads(answer["body"])["response"]
    assert response["allowed"] is True
    assert "patch" not in response
    assert response["warnings"] == ["evenkeel did not place this pod (UnreadableError)"]
    assert scene.recorder.total("PlacementsFailed") == 1


def test_whatever_fails_a_pod_passes(scene: Placement) -> None:
    asked = pod(scene.replica_set(4, "all"))
    failing(scene.cluster, UnavailableError("nobody answers"))
    assert scene.ask(asked) == {"uid": "review", "allowed": True}
    assert scene.recorder.decisions[-1].reason == "Unreadable"


def test_an_unforeseen_error_is_told_and_the_pod_passes(scene: Placement) -> None:
    asked = pod(scene.replica_set(4, "all"))
    failing(scene.cluster, ZeroDivisionError("secret"))
    answer = scene.ask(asked)
    assert answer["allowed"] is True
    assert answer["warnings"] == ["evenkeel did not place this pod (ZeroDivisionError)"]
