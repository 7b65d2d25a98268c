"""Among how many reconcilers a storm is divided, and which namespaces stay whole."""

import msgspec
import pytest

from evenkeel.decisions.drain.divide import divide, how_many
from evenkeel.model.cluster_objects import PodDisruptionBudget, PodDisruptionBudgetSpec
from evenkeel.model.division import UNDIVIDED
from evenkeel.model.meta import LabelSelector, LabelSelectorRequirement
from evenkeel.model.pod import Pod
from tests.kit.builders import budget, deployment, pod, replica_set


def of(name: str, **labels: str) -> Pod:
    """A pod of the Deployment of this name."""
    owner = replica_set(of=deployment(name))
    return pod(f"{name}-x", of=owner, labels={"app": name, **labels})


PODS = [of("web", tier="front"), of("api", tier="front"), of("db", tier="back")]


@pytest.mark.parametrize(
    ("pods", "number"), [(0, 1), (10, 1), (11, 2), (20, 2), (21, 3), (10_000, 8)]
)
def test_each_takes_so_many_pods_and_there_are_eight_at_most(pods: int, number: int) -> None:
    assert how_many(pods, 10) == number


def test_a_small_storm_is_not_divided() -> None:
    assert divide(PODS, [], 3) == UNDIVIDED
    assert divide(PODS, [budget(selects={"tier": "front"})], 3) == UNDIVIDED


def test_a_budget_of_one_workload_keeps_no_namespace_whole() -> None:
    found = divide(PODS, [budget(selects={"app": "web"}), budget(selects={"tier": "back"})], 2)
    assert (found.of, found.whole) == (2, frozenset())


@pytest.mark.parametrize(
    "selector",
    [
        LabelSelector(match_labels={"tier": "front"}),
        LabelSelector(),
        LabelSelector(match_expressions=(LabelSelectorRequirement(key="tier", operator="Exists"),)),
        LabelSelector(match_expressions=(LabelSelectorRequirement(key="tier", operator="Gt"),)),
    ],
    ids=["by a label", "all", "by an expression", "by what is not known"],
)
def test_a_namespace_is_whole_in_which_a_budget_has_pods_of_several_workloads(
    selector: LabelSelector,
) -> None:
    broad = msgspec.structs.replace(
        budget("broad"), spec=PodDisruptionBudgetSpec(selector=selector, min_available=1)
    )
    assert divide(PODS, [broad], 1).whole == {PODS[0].namespace}


def test_a_budget_elsewhere_or_without_a_selector_is_nothing() -> None:
    nothing = PodDisruptionBudget(metadata=budget().metadata)
    elsewhere = msgspec.structs.replace(
        budget(selects={"tier": "front"}),
        metadata=msgspec.structs.replace(budget().metadata, namespace="elsewhere"),
    )
    assert divide(PODS, [nothing, elsewhere], 1).whole == frozenset()


def test_a_namespace_whose_budgets_are_not_known_is_whole() -> None:
    assert divide(PODS, [], 1, {PODS[0].namespace}).whole == {PODS[0].namespace}
