"""Webhooks that the API server asks about new pods and about evictions."""

from typing import Any

import pytest

from evenkeel.errors import (
    ClusterError,
    DisruptionRefusedError,
    ForbiddenError,
)
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.pod import Pod
from tests.contract.ground import Ground
from tests.contract.manifests import budget, deployment, pod, template
from tests.contract.webhooks import EVICTION, TIMEOUT, Hook, Respond, name_of, responded
from tests.kit.manifests import resource

SEEN = {"op": "add", "path": "/metadata/labels", "value": {"seen": "yes"}}
BUDGET_CAUSE = {"reason": "DisruptionBudget", "message": "wait for it"}


def hang_up(_: str) -> tuple[int, bytes]:
    raise ConnectionResetError


FAILING: list[Any] = [
    pytest.param(Hook(SEEN, respond=hang_up), id="hangs up"),
    pytest.param(Hook(SEEN, respond=lambda _: (503, b"")), id="answers 503"),
    pytest.param(Hook(SEEN, respond=lambda _: (200, b"nonsense")), id="answers no JSON"),
    pytest.param(Hook(SEEN, respond=lambda _: (200, b"[]")), id="answers no review"),
    pytest.param(Hook(SEEN, uid="another"), id="answers another review"),
    pytest.param(Hook(SEEN, allowed="perhaps"), id="does not say whether"),
    pytest.param(Hook(SEEN, patchType="MergePatch"), id="answers another kind of patch"),
    pytest.param(Hook(SEEN, takes=TIMEOUT + 1), id="takes too long"),
]


def labels(ground: Ground, name: str) -> dict[str, str]:
    return dict(ground.get(Pod, name).metadata.labels)


def why_there_is_no_pod(ground: Ground) -> str:
    """What the ReplicaSet of a new Deployment says about the pod that it cannot make."""
    ground.apply(deployment("web"))
    refused = ground.eventually(
        lambda: next((each.cannot_create for each in ground.list(ReplicaSet)), None)
    )
    assert not ground.pods()
    return str(refused.message)


def test_a_pod_is_stored_as_the_webhook_patches_it(ground: Ground) -> None:
    hook = Hook(SEEN)
    with ground.asking(hook):
        ground.apply(pod("web"))
    assert labels(ground, "web") == {"seen": "yes"}
    (request,) = hook.requests
    assert (request["operation"], request["namespace"], request["name"]) == (
        "CREATE",
        ground.namespace,
        "web",
    )
    assert (request["dryRun"], request.get("subResource", "")) == (False, "")
    asked = request["object"]
    assert asked["spec"]["priority"] == 0, "the plugins that change a pod come before"
    assert {each["tolerationSeconds"] for each in asked["spec"]["tolerations"]} == {300}
    assert "uid" not in asked["metadata"]
    assert not asked["status"].get("phase")


def test_a_webhook_does_not_know_the_name_of_a_controllers_pod(ground: Ground) -> None:
    hook = Hook()
    with ground.asking(hook):
        ground.apply(deployment("web"))
        ground.eventually(ground.pods)
    (request,) = hook.requests
    assert request.get("name", "") == ""
    assert "name" not in request["object"]["metadata"]
    assert request["object"]["metadata"]["generateName"].startswith("web-")


def test_a_webhook_is_asked_where_the_labels_of_the_namespace_say_so(ground: Ground) -> None:
    chosen, always = Hook(namespaces={"example.org/part": "yes"}), Hook()
    with ground.asking(chosen, always):
        ground.apply(pod("before"))
        ground.apply(resource("Namespace", ground.namespace, labels={"example.org/part": "yes"}))
        # The API server's webhooks hear of the label a moment later.
        ground.never(lambda: False, seconds=1)
        ground.apply(pod("after"))
    assert [each["name"] for each in always.requests] == ["before", "after"]
    assert [each["name"] for each in chosen.requests] == ["after"]


@pytest.mark.parametrize("hook", FAILING)
def test_a_pod_passes_as_it_is_when_the_webhook_fails(ground: Ground, hook: Hook) -> None:
    with ground.asking(hook):
        ground.apply(pod("web"))
    assert labels(ground, "web") == {}


def test_an_answer_in_time_counts_though_it_is_late(ground: Ground) -> None:
    with ground.asking(Hook(SEEN, takes=TIMEOUT / 2)):
        ground.apply(pod("web"))
    assert labels(ground, "web") == {"seen": "yes"}


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ({"message": "not today", "code": 403}, ": not today"),
        ({"message": "not today"}, ": not today"),
        ({"reason": "Forbidden"}, ": Forbidden"),
        (None, " without explanation"),
    ],
)
def test_a_webhook_that_says_no_is_obeyed(
    ground: Ground, status: dict[str, Any] | None, message: str
) -> None:
    with ground.asking(Hook(allowed=False, status=status)):
        found = why_there_is_no_pod(ground)
    assert found.endswith(f'admission webhook "{name_of(0)}" denied the request{message}')


@pytest.mark.parametrize("operation", ["test", "remove"])
def test_no_pod_is_made_when_a_patch_does_not_apply(ground: Ground, operation: str) -> None:
    with ground.asking(Hook({"op": operation, "path": "/spec/absent", "value": 1})):
        assert "Internal error occurred" in why_there_is_no_pod(ground)


def test_each_webhook_sees_what_the_one_before_made_of_the_pod(ground: Ground) -> None:
    second = Hook({"op": "add", "path": "/metadata/labels/then", "value": "this"})
    with ground.asking(Hook(SEEN), second):
        ground.apply(pod("web"))
    assert labels(ground, "web") == {"seen": "yes", "then": "this"}
    assert second.requests[0]["object"]["metadata"]["labels"] == {"seen": "yes"}


def test_a_quota_judges_what_the_webhook_made_of_the_pod(ground: Ground) -> None:
    quota = resource("ResourceQuota", "small", spec={"hard": {"requests.cpu": "1"}})
    ground.apply(quota)
    wants = {"requests": {"cpu": "2"}}
    hook = Hook({"op": "add", "path": "/spec/containers/0/resources", "value": wants})
    with ground.asking(hook):
        assert "exceeded quota" in why_there_is_no_pod(ground)


def test_what_a_patch_adds_gets_its_defaults(ground: Ground) -> None:
    sidecar = {"name": "sidecar", "image": "image", "ports": [{"containerPort": 80}]}
    second = Hook()
    with ground.asking(Hook({"op": "add", "path": "/spec/containers/-", "value": sidecar}), second):
        ground.apply(pod("web"))
    (request,) = second.requests
    assert request["object"]["spec"]["containers"][1]["ports"] == [
        {"containerPort": 80, "protocol": "TCP"}
    ]


# Evictions.


@pytest.fixture
def running(ground: Ground) -> Pod:
    """A pod that runs, and a budget that lets it go."""
    ground.add_node("n")
    ground.apply(budget("web", "web", minAvailable=0), deployment("web", template("web")))
    (only,) = ground.ready_pods(1)
    ground.eventually(lambda: allowed(ground) == 1)
    return only


def allowed(ground: Ground) -> int:
    return ground.get(PodDisruptionBudget, "web").status.disruptions_allowed


def refusal(ground: Ground, running: Pod) -> ClusterError:
    error = ground.refused_eviction(running)
    assert not ground.get(Pod, running.name).leaving
    return error


def test_a_pod_goes_when_the_webhook_lets_its_eviction_pass(ground: Ground, running: Pod) -> None:
    hook = Hook(sub_resource=EVICTION)
    with ground.asking(hook):
        ground.evict(running)
    ground.gone(running)
    (request,) = hook.requests
    assert (request["operation"], request["subResource"], request["name"]) == (
        "CREATE",
        EVICTION,
        running.name,
    )
    assert request["resource"] == {"group": "", "version": "v1", "resource": "pods"}
    assert request["object"]["kind"] == "Eviction"
    assert request["object"]["deleteOptions"]["preconditions"]["uid"] == running.uid
    assert "system:authenticated" in request["userInfo"]["groups"]


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (
            {"code": 429, "details": {"causes": [BUDGET_CAUSE], "retryAfterSeconds": 7}},
            DisruptionRefusedError,
        ),
        ({"code": 429}, ClusterError),
        ({"code": 403}, ForbiddenError),
        ({}, ClusterError),
    ],
)
def test_a_pod_stays_and_its_budget_is_not_spent_when_the_webhook_refuses_its_eviction(
    ground: Ground, running: Pod, status: dict[str, Any], error: type[ClusterError]
) -> None:
    status = {"message": "not now", **status}
    with ground.asking(Hook(sub_resource=EVICTION, allowed=False, status=status)):
        found = refusal(ground, running)
    assert type(found) is error
    assert "not now" in str(found)
    assert allowed(ground) == 1
    if isinstance(found, DisruptionRefusedError):
        assert found.retry_after == 7


@pytest.mark.parametrize(
    ("respond", "takes"),
    [
        pytest.param(hang_up, 0, id="hangs up"),
        pytest.param(lambda _: (500, b""), 0, id="answers 500"),
        pytest.param(None, TIMEOUT + 1, id="takes too long"),
    ],
)
def test_an_eviction_passes_when_the_webhook_fails(
    ground: Ground, running: Pod, respond: Respond | None, takes: float
) -> None:
    hook = Hook(sub_resource=EVICTION, respond=respond, takes=takes, allowed=False)
    with ground.asking(hook):
        ground.evict(running)
    ground.gone(running)


def test_a_budget_refuses_what_the_webhook_lets_pass(ground: Ground, running: Pod) -> None:
    ground.apply(budget("web", "web", minAvailable=1))
    ground.eventually(lambda: allowed(ground) == 0)
    hook = Hook(sub_resource=EVICTION)
    with ground.asking(hook):
        assert isinstance(refusal(ground, running), DisruptionRefusedError)
    assert len(hook.requests) == 1


def test_one_webhook_that_refuses_an_eviction_is_enough(ground: Ground, running: Pod) -> None:
    says_no = Hook(sub_resource=EVICTION, respond=lambda uid: (200, responded(uid, allowed=False)))
    with ground.asking(says_no, Hook(sub_resource=EVICTION)):
        refusal(ground, running)
