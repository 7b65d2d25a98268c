"""Who adopts a released pod, and how budgets count it, by what it names as its owner."""

from typing import Any

import pytest

from evenkeel.errors import InvalidError
from evenkeel.model import names
from evenkeel.model.cluster_objects import Event, PodDisruptionBudget
from evenkeel.model.deployment import Deployment
from evenkeel.model.pod import Pod
from evenkeel.model.request import Operation, Patch, pointer
from tests.contract.ground import Ground
from tests.contract.manifests import QUICK, budget, deployment
from tests.kit import argo
from tests.kit.manifests import Manifest, resource
from tests.kit.others import WORDS, adopter

HASH = pointer("metadata", "labels", names.TEMPLATE_HASH)
FROM = pointer("metadata", "labels", names.RELEASED_FROM)
OWNERS = "/metadata/ownerReferences"

ADOPTERS = {
    "a ReplicaSet without replicas": adopter("web", namespace=""),
    "a DaemonSet of no node": adopter("web", "DaemonSet", namespace=""),
}


@pytest.fixture(params=[*ADOPTERS.values()], ids=[*ADOPTERS])
def other(request: pytest.FixtureRequest) -> Manifest:
    """What selects the pods of ``web`` without their template hash, and wants none."""
    found: Manifest = request.param
    return found


@pytest.fixture
def web(ground: Ground) -> Pod:
    """The first pod of a Deployment of three."""
    ground.add_node("n")
    ground.apply(deployment("web", replicas=3))
    return ground.ready_pods(3)[0]


def release(ground: Ground, pod: Pod, *owners: dict[str, Any]) -> Patch:
    """The request that lets a ReplicaSet go of a pod, which has these owners from then on."""
    value = pod.metadata.labels[names.TEMPLATE_HASH]
    return Patch(
        Pod,
        pod.name,
        [
            Operation("test", "/metadata/uid", pod.uid),
            Operation("add", FROM, value),
            Operation("replace", HASH, f"{value}-released"),
            Operation("replace", OWNERS, list(owners)),
        ],
        ground.namespace,
    )


def of_its_deployment(ground: Ground) -> dict[str, Any]:
    """The reference to ``web``, which keeps nobody from deleting it."""
    owner = ground.get(Deployment, "web")
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": owner.name,
        "uid": owner.uid,
        "controller": True,
    }


def warnings(ground: Ground) -> list[str]:
    """The reasons of the Warnings about the budget so far."""
    return [
        event.reason
        for event in ground.list(Event)
        if event.type == "Warning" and event.involved_object.kind == "PodDisruptionBudget"
    ]


def expect(ground: Ground, **counts: int) -> None:
    """Wait until the budget's status says this.

    Its controller hears of a new kind within 30 s, and does not count again by itself.
    """

    def counted() -> bool:
        noted = {"metadata": {"annotations": {"counted-at": str(ground.clock.now())}}}
        ground.patch(PodDisruptionBudget, "web", noted)
        status = ground.whole("PodDisruptionBudget", "web").get("status", {})
        return all(status.get(key) == count for key, count in counts.items())

    ground.eventually(counted, str(counts))


def test_one_that_nobody_owns_is_adopted_and_deleted(
    ground: Ground, web: Pod, other: Manifest
) -> None:
    ground.apply(other)
    ground.ask(release(ground, web))
    ground.gone(web)


def test_one_that_its_deployment_owns_is_left_alone(
    ground: Ground, web: Pod, other: Manifest
) -> None:
    ground.apply(other)
    ground.ask(release(ground, web, of_its_deployment(ground)))
    ground.ready_pods(4)
    ground.never(lambda: len([pod for pod in ground.pods() if pod.active]) != 4)
    assert not ground.get(Pod, web.name).leaving


@pytest.mark.parametrize(
    ("bound", "expected", "allowed"),
    [
        ({"minAvailable": "50%"}, 3, 2),
        ({"maxUnavailable": "34%"}, 3, 3),
        ({"maxUnavailable": 1}, 3, 2),
        ({"minAvailable": 3}, 4, 1),
    ],
)
def test_a_budget_counts_it_and_its_deployment_s_size_once(
    ground: Ground, web: Pod, bound: dict[str, Any], expected: int, allowed: int
) -> None:
    ground.apply(budget("web", "web", **bound))
    ground.ask(release(ground, web, of_its_deployment(ground)))
    ground.ready_pods(4)

    expect(ground, expectedPods=expected, disruptionsAllowed=allowed, currentHealthy=4)
    assert warnings(ground) == []
    ground.evict(ground.get(Pod, web.name))


@pytest.fixture
def rolled(ground: Ground) -> Pod:
    """The first pod of a Rollout of three."""
    ground.add_node("n")
    above = argo.rollout("web", 3)
    ground.serve("Rollout")
    ground.apply(above)
    uid = ground.whole("Rollout", "web")["metadata"]["uid"]
    ground.apply(
        argo.replica_set(above, uid, pods={"annotations": QUICK, "image": "example.org/image"})
    )
    return ground.ready_pods(3)[0]


def let_go(ground: Ground, pod: Pod, **reference: Any) -> None:
    """Take a pod out of the ReplicaSet of a Rollout, which has this as its only owner then."""
    value = pod.metadata.labels[names.ROLLOUT_HASH]
    above = ground.whole("Rollout", "web")
    owner = {key: above[key] for key in ("apiVersion", "kind")}
    owner |= {key: above["metadata"][key] for key in ("name", "uid")}
    label = pointer("metadata", "labels", names.ROLLOUT_HASH)
    ground.patch(
        Pod,
        pod.name,
        [
            Operation("replace", label, f"{value}-released"),
            Operation("replace", OWNERS, [owner | reference]),
        ],
    )
    ground.ready_pods(4)


@pytest.mark.parametrize(
    ("reference", "expected", "allowed"),
    [({}, 3, 2), ({"controller": True}, 6, 0)],
    ids=["a mere owner", "its controller"],
)
def test_a_budget_counts_a_rollout_besides_its_replica_set_if_it_is_a_pod_s_controller(
    ground: Ground, rolled: Pod, reference: dict[str, Any], expected: int, allowed: int
) -> None:
    let_go(ground, rolled, **reference)
    ground.apply(budget("web", "web", maxUnavailable=1))
    expect(ground, expectedPods=expected, disruptionsAllowed=allowed, currentHealthy=4)


def test_a_budget_allows_nothing_if_a_pod_s_controller_has_no_scale(
    ground: Ground, rolled: Pod
) -> None:
    ground.apply(resource("ConfigMap", "without"))
    other = ground.whole("ConfigMap", "without")["metadata"]
    named = {"apiVersion": "v1", "kind": "ConfigMap", "name": "without", "uid": other["uid"]}
    let_go(ground, rolled, **named, controller=True)
    ground.apply(budget("web", "web", maxUnavailable=3))

    def fails_safe() -> bool:
        status = ground.whole("PodDisruptionBudget", "web").get("status", {})
        reasons = [each["reason"] for each in status.get("conditions", ())]
        return reasons == ["SyncFailed"] and status["disruptionsAllowed"] == 0

    ground.eventually(fails_safe)


def test_one_patch_puts_it_back_and_another_goes(ground: Ground, web: Pod, other: Manifest) -> None:
    ground.apply(other)
    ground.ask(release(ground, web, of_its_deployment(ground)))
    # Of two whose ages differ by seconds alone, the ReplicaSet may delete either.
    for pod in ground.ready_pods(4):
        cost = "100" if pod.uid == web.uid else "0"
        annotations = {names.POD_DELETION_COST: cost}
        ground.patch(Pod, pod.name, {"metadata": {"annotations": annotations}})
    mine = web.controller
    assert mine is not None
    reference = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": mine.name,
        "uid": mine.uid,
        "controller": True,
    }
    ground.patch(
        Pod,
        web.name,
        [
            Operation("remove", FROM),
            Operation("replace", HASH, web.metadata.labels[names.TEMPLATE_HASH]),
            Operation("replace", OWNERS, [reference]),
        ],
    )
    left = ground.ready_pods(3)
    assert web.uid in [pod.uid for pod in left]
    ground.never(lambda: ground.get(Pod, web.name).leaving)


def test_it_goes_with_its_deployment(ground: Ground, web: Pod) -> None:
    ground.ask(release(ground, web, of_its_deployment(ground)))
    ground.ready_pods(4)
    ground.delete(ground.get(Deployment, "web"))
    ground.gone(web)


def test_a_policy_refuses_with_its_words(ground: Ground, web: Pod) -> None:
    with ground.refusing("web"):
        error = ground.refused(release(ground, web))
    assert isinstance(error, InvalidError)
    assert f'pods "{web.name}" is forbidden: ValidatingAdmissionPolicy' in str(error)
    assert str(error).endswith(WORDS)
    assert ground.get(Pod, web.name).metadata.labels == web.metadata.labels


def test_a_failed_test_of_a_patch_has_none(ground: Ground, web: Pod) -> None:
    """So that one can be told from the other by what it says."""
    stale = Operation("test", "/metadata/uid", "another's")
    error = ground.refused(Patch(Pod, web.name, [stale], ground.namespace))
    assert isinstance(error, InvalidError)
    assert WORDS not in str(error)


@pytest.mark.parametrize("parts", [("labels",), ("labels", "ownerReferences")])
def test_the_reply_shows_what_a_policy_undid(
    ground: Ground, web: Pod, parts: tuple[str, ...]
) -> None:
    mine = of_its_deployment(ground)
    with ground.undoing("web", *parts):
        reply = ground.ask(release(ground, web, mine))
    assert reply.metadata.labels == web.metadata.labels
    (owner,) = reply.metadata.owner_references
    assert owner.kind == ("ReplicaSet" if "ownerReferences" in parts else "Deployment")
    assert not ground.get(Pod, web.name).leaving
