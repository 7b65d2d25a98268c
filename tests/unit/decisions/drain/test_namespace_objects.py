"""What surrounds a pod: the budgets that select it, and who owns it."""

from collections import Counter

import msgspec
import pytest

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.drain.owner import Owner
from evenkeel.model import names
from evenkeel.model.balancers import Ingress
from evenkeel.model.cluster_objects import (
    NetworkPolicy,
    NetworkPolicySpec,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
)
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.gang import PodGroup
from evenkeel.model.meta import (
    KubernetesObject,
    LabelSelector,
    LabelSelectorRequirement,
    Reference,
)
from tests.kit import builders


def test_a_pod_has_the_budgets_that_select_its_labels_and_none_without_a_selector() -> None:
    pod = builders.pod(labels={"app": "web", "tier": "front"})
    its = builders.budget("its")
    everyones = msgspec.structs.replace(
        builders.budget("all"), spec=PodDisruptionBudgetSpec(selector=LabelSelector())
    )
    nobodys = msgspec.structs.replace(builders.budget("none"), spec=PodDisruptionBudgetSpec())
    others = builders.budget("other", selects={"app": "web", "tier": "back"})
    namespace_objects = NamespaceObjects(budgets=[others, its, nobodys, everyones])
    assert namespace_objects.budgets_of(pod) == [its, everyones]


def clauses(number: int) -> LabelSelector:
    """A selector of so many clauses, each of which holds for every pod."""
    key = names.TEMPLATE_HASH
    one = LabelSelectorRequirement(key=key, operator="NotIn", values=("bank",))
    return LabelSelector(match_expressions=(one,) * number)


def broad(number: int) -> PodDisruptionBudget:
    spec = PodDisruptionBudgetSpec(selector=clauses(number))
    return msgspec.structs.replace(builders.budget(f"broad-{number}"), spec=spec)


def by_hash(number: int) -> NetworkPolicy:
    spec = NetworkPolicySpec(pod_selector=clauses(number))
    return msgspec.structs.replace(builders.policy(), spec=spec)


def test_selectors_are_looked_at_once_for_all_pods_with_the_same_labels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = Counter[str]()
    matches = LabelSelector.matches

    def counted(self: LabelSelector, labels: dict[str, str]) -> bool:
        asked[labels["app"]] += 1
        return matches(self, labels)

    monkeypatch.setattr(LabelSelector, "matches", counted)
    found = NamespaceObjects.of([broad(2), by_hash(2)])
    for number in range(30):
        pod = builders.pod(f"web-{number}", labels={"app": f"web-{number % 2}"})
        assert found.budgets_of(pod) == found.budgets
        assert found.policy_by_hash(pod.metadata.labels) == found.policies[0]
    assert asked == {"web-0": 2, "web-1": 2}


@pytest.mark.parametrize(
    "objects", [[broad(2_501)], [by_hash(2_501)], [broad(1_300), by_hash(1_300)]]
)
def test_of_a_namespace_that_selects_by_too_much_nothing_is_known(
    objects: list[KubernetesObject],
) -> None:
    service = builders.service()
    found = NamespaceObjects.of([*objects, service])
    assert (found.budgets, found.policies, found.services) == ((), (), [service])
    assert "select by more than 5000 terms" in found.unread
    assert not NamespaceObjects.of([broad(1_200), by_hash(1_200)]).unread


def test_a_workload_is_named_after_its_deployment_else_its_controller_else_not_at_all() -> None:
    deployment, replica_set = builders.deployment(), builders.replica_set()
    assert builders.owner(replica_set, deployment).workload == deployment.reference
    assert builders.owner(replica_set).workload == Reference(
        kind="ReplicaSet",
        namespace="default",
        name=replica_set.name,
        uid=replica_set.uid,
    )
    assert Owner(kind="DaemonSet").workload is None


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ((), ""),
        (("deployment",), "deployment"),
        (("controller", "deployment"), "controller"),
        (("pod", "controller", "deployment"), "pod"),
        (("pod", "deployment"), "pod"),
    ],
)
def test_an_annotation_counts_where_it_is_set_nearest_to_the_pod(
    places: tuple[str, ...], expected: str
) -> None:
    def on(place: str) -> dict[str, str]:
        return {"example.com/key": place} if place in places else {}

    deployment = builders.deployment(annotations=on("deployment"))
    replica_set = builders.replica_set(of=deployment, annotations=on("controller"))
    owner = builders.owner(replica_set, deployment)
    pod = builders.pod(of=replica_set, annotations=on("pod"))
    assert owner.annotation("example.com/key", pod) == expected


def test_a_pods_own_annotation_is_no_annotation_of_its_owner() -> None:
    replica_set = builders.replica_set()
    pod = builders.pod(of=replica_set, annotations={"example.com/key": "pod"})
    owner = builders.owner(replica_set)
    assert (owner.annotation("example.com/key"), owner.annotation("example.com/key", pod)) == (
        "",
        "pod",
    )


WHOLE = builders.deployment(replicas=3)


def sized(note: str) -> ReplicaSet:
    """Of two replicas, with this note of how many its Deployment wants."""
    return builders.replica_set(replicas=2, annotations={names.DESIRED_REPLICAS: note})


@pytest.mark.parametrize(
    ("owner", "in_rollout"),
    [
        (builders.owner(builders.replica_set(of=WHOLE, replicas=2), WHOLE), True),
        (builders.owner(builders.replica_set(of=WHOLE, replicas=3), WHOLE), False),
        (builders.owner(sized("3"), builders.deployment(replicas=2)), True),
        (builders.owner(sized("2"), WHOLE), False),
        (builders.owner(sized(""), WHOLE), False),
        (builders.owner(sized("9" * 5_000), WHOLE), False),
        (builders.owner(builders.replica_set(replicas=2)), False),
        (builders.owner(builders.stateful_set(replicas=2)), False),
        (builders.owner(), False),
    ],
    ids=[
        "a part of it",
        "all of it",
        "the Deployment was scaled in since",
        "it was scaled out since",
        "no note",
        "nonsense",
        "no Deployment",
        "a StatefulSet",
        "no owner",
    ],
)
def test_a_rollout_goes_on_where_a_replica_set_is_not_all_of_its_deployment(
    owner: Owner, *, in_rollout: bool
) -> None:
    assert owner.deployment_in_rollout == (owner.deployment if in_rollout else None)


def test_each_object_of_a_namespace_is_among_those_of_its_kind_and_others_are_left_out() -> None:
    budget, service, policy = builders.budget(), builders.service(), builders.policy()
    claim, other = builders.claim(), builders.pod()
    group = PodGroup(metadata=builders.metadata("train"))
    ingress = Ingress(metadata=builders.metadata("web"))
    found = NamespaceObjects.of([claim, other, policy, service, budget, ingress, group])
    assert found == NamespaceObjects(
        budgets=[budget],
        services=[service],
        leading=[ingress],
        policies=[policy],
        claims=[claim],
        groups=[group],
    )
