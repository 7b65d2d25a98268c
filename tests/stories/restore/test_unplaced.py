"""Nothing would place the pod that is made for a moved one: it would come back to where it was."""

from typing import Any

import pytest

from evenkeel.errors import ForbiddenError, NotFoundError
from evenkeel.model import names
from evenkeel.model.cluster_objects import (
    MutatingAdmissionPolicyBinding,
    MutatingWebhookConfiguration,
)
from tests.kit.asking import asks
from tests.kit.manifests import deployment, resource, stateful_set
from tests.kit.restoring import RestoreScene

HOUR = 3600.0
ALL = {names.ON_DEMAND: "all"}


def given(scene: RestoreScene, *manifests: Any) -> None:
    """Workloads on spot whose floors have room on on-demand, and no webhook places their pods."""
    scene.end_webhook()
    scene.given(*manifests, on="s0 s1", spare="o0 o1")


def test_no_pod_is_moved_for_an_hour_and_the_reason_is_told(scene: RestoreScene) -> None:
    given(scene, stateful_set("db", 1, notes=ALL), deployment("web", 2, notes=ALL))
    db, web = scene.made("db"), scene.made("web")
    scene.run(until=HOUR)
    assert (len(db), len(web)) == (1, 2)
    assert (scene.lowest("db"), scene.lowest("web")) == (1, 2)
    told = {
        decision.subject.name: decision.message
        for _, decision in scene.told("NothingPlaces")
        if decision.write is None
    }
    message = "no webhook or policy places new pods in the namespace default: no pod is moved"
    assert told == {"db": message, "web": message}


def test_pods_are_moved_from_when_a_webhook_places_them(scene: RestoreScene) -> None:
    given(scene, stateful_set("db", 1, notes=ALL), deployment("web", 2, notes=ALL))
    scene.run(until=120)
    assert scene.moves() == []
    scene.start_webhook()
    scene.run(until=600)
    assert scene.split("db") == {"on-demand": 1}
    assert scene.split("web") == {"on-demand": 2}


def test_a_webhook_for_other_namespaces_places_none(scene: RestoreScene) -> None:
    given(scene, deployment("web", 2, notes=ALL))
    scene.start_webhook(namespaces={"matchLabels": {"team": "a"}})
    scene.run(until=120)
    assert scene.moves() == []


def test_without_the_right_to_see_the_webhook_none_is_moved_and_that_is_said(
    scene: RestoreScene,
) -> None:
    """A role of a version before has not this right."""
    scene.fail(ForbiddenError("403"), asks(of=MutatingWebhookConfiguration))
    given(scene, deployment("web", 2, notes=ALL))
    scene.run(until=120)
    assert scene.moves() == []
    (_, told), *_ = scene.told("NothingPlaces")
    assert told.message.startswith("no right to list mutatingwebhookconfigurations evenkeel")


def bound(**selector: Any) -> Any:
    """What has the API server place pods by the policy, in these namespaces."""
    spec = {"policyName": names.PLACING, "matchResources": {"namespaceSelector": selector}}
    return resource("MutatingAdmissionPolicyBinding", names.PLACING, spec=spec)


def test_pods_are_moved_that_the_policy_places_as_their_owner_wants_it(scene: RestoreScene) -> None:
    seen, unseen = deployment("seen", 2, notes={}), deployment("unseen", 2, notes=ALL)
    seen["spec"]["template"]["metadata"]["annotations"] = ALL
    given(scene, seen, unseen)
    scene.cluster.apply(bound(matchLabels={names.MANAGED: names.TRUE}))
    scene.run(until=120)
    assert scene.moves("seen")
    assert not scene.moves("unseen")
    (_, told), *_ = scene.told("PolicyCannotTell")
    assert told.subject.name == "unseen"


def test_a_policy_for_other_namespaces_places_none(scene: RestoreScene) -> None:
    given(scene, deployment("web", 2, notes=ALL))
    scene.cluster.apply(bound(matchLabels={"team": "a"}))
    scene.run(until=120)
    assert scene.moves() == []
    assert scene.told("NothingPlaces")


def test_without_the_right_to_see_the_policy_none_is_moved_either(scene: RestoreScene) -> None:
    scene.fail(ForbiddenError("403"), asks(of=MutatingAdmissionPolicyBinding))
    given(scene, deployment("web", 2, notes=ALL))
    scene.run(until=120)
    assert scene.moves() == []
    (_, told), *_ = scene.told("NothingPlaces")
    assert told.message.startswith("no right to list mutatingadmissionpolicybindings evenkeel")


def test_an_api_server_that_knows_no_policies_has_none(scene: RestoreScene) -> None:
    scene.fail(NotFoundError("404"), asks(of=MutatingAdmissionPolicyBinding))
    given(scene, deployment("web", 2, notes=ALL))
    scene.start_webhook()
    scene.run(until=120)
    assert scene.moves()


@pytest.mark.parametrize(("scheduler", "moves"), [("evenkeel", True), ("volcano", False)])
def test_pods_of_evenkeels_own_scheduler_need_no_webhook(
    scene: RestoreScene, scheduler: str, *, moves: bool
) -> None:
    given(scene, deployment("web", 2, notes=ALL, pod={"schedulerName": scheduler}))
    scene.run(until=120)
    assert bool(scene.moves()) is moves
