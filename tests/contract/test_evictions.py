"""Evictions, and what PodDisruptionBudgets make of them."""

from datetime import timedelta
from typing import Any

import pytest

from evenkeel.errors import (
    ConflictError,
    DisruptionRefusedError,
    MultipleBudgetsError,
    NotFoundError,
)
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.pod import Pod
from evenkeel.model.request import Evict
from tests.contract.ground import Ground
from tests.contract.manifests import (
    QUICK,
    SLOW_START,
    SLOW_STOP,
    budget,
    deployment,
    pod,
    template,
)


@pytest.fixture(autouse=True)
def _node(ground: Ground) -> None:
    ground.add_node("n")


def web(ground: Ground, replicas: int, *, slow: bool = False) -> list[Pod]:
    """A Deployment's ready pods; ``slow`` ones take three seconds to stop."""
    annotations = SLOW_STOP if slow else QUICK
    ground.apply(deployment("web", template("web", annotations), replicas=replicas))
    return list(ground.ready_pods(replicas))


def counted(ground: Ground, name: str = "web", **wanted: int) -> PodDisruptionBudget:
    """Wait until a budget's status has these numbers."""

    def as_wanted() -> PodDisruptionBudget | None:
        found = ground.get(PodDisruptionBudget, name)
        has = {key: getattr(found.status, key) for key in wanted}
        is_counted = ground.counts(PodDisruptionBudget, name).observed_generation > 0
        return found if has == wanted and is_counted else None

    return ground.eventually(as_wanted, f"{name}: {wanted}")


def test_an_evicted_pod_goes_gracefully_and_says_why(ground: Ground) -> None:
    ground.apply(pod("p", annotations=SLOW_STOP))
    (evicted,) = ground.ready_pods(1)
    ground.evict(evicted)
    leaving = ground.get(Pod, "p")
    assert leaving.leaving
    assert leaving.metadata.deletion_grace_period_seconds == 30
    assert ("DisruptionTarget", "True", "EvictionByEvictionAPI") in [
        (c.type, c.status, c.reason) for c in leaving.status.conditions
    ]
    ground.evict(evicted)
    ground.gone(evicted)
    assert isinstance(ground.refused_eviction(evicted), NotFoundError)


def test_an_eviction_conflicts_when_it_means_another_uid(ground: Ground) -> None:
    ground.apply(pod("p"))
    (only,) = ground.ready_pods(1)
    assert isinstance(ground.refused_eviction(only, "not-this-one"), ConflictError)
    assert not ground.get(Pod, "p").leaving


def test_a_budget_counts_its_pods(ground: Ground) -> None:
    ground.apply(budget("web", "web", minAvailable=2))
    web(ground, 3)
    counted(ground, current_healthy=3, desired_healthy=2, disruptions_allowed=1)


@pytest.mark.parametrize(
    ("spec", "desired", "allowed"),
    [
        ({"maxUnavailable": 1}, 3, 1),
        ({"maxUnavailable": 0}, 4, 0),
        ({"maxUnavailable": "30%"}, 2, 2),
        ({"minAvailable": "60%"}, 3, 1),
        ({"minAvailable": "100%"}, 4, 0),
        ({"minAvailable": 9}, 9, 0),
    ],
)
def test_a_budget_rounds_up(
    ground: Ground, spec: dict[str, int | str], desired: int, allowed: int
) -> None:
    ground.apply(budget("web", "web", **spec))
    web(ground, 4)
    counted(ground, current_healthy=4, desired_healthy=desired, disruptions_allowed=allowed)


def test_a_budget_refuses_when_too_few_would_be_left(ground: Ground) -> None:
    ground.apply(budget("web", "web", minAvailable=1))
    (only,) = web(ground, 1)
    counted(ground, current_healthy=1, disruptions_allowed=0)
    assert isinstance(ground.refused_eviction(only), DisruptionRefusedError)
    assert not ground.get(Pod, only.name).leaving


def test_a_budget_is_spent_at_the_eviction_and_refilled_by_the_replacement(
    ground: Ground,
) -> None:
    ground.apply(budget("web", "web", minAvailable=2))
    first, second, _ = web(ground, 3, slow=True)
    counted(ground, disruptions_allowed=1)
    ground.evict(first)
    assert ground.get(PodDisruptionBudget, "web").status.disruptions_allowed == 0
    assert isinstance(ground.refused_eviction(second), DisruptionRefusedError)
    counted(ground, current_healthy=3, disruptions_allowed=1)
    ground.evict(second)


def test_a_leaving_pod_is_not_healthy_though_it_is_still_ready(ground: Ground) -> None:
    ground.apply(budget("web", "web", minAvailable=1))
    ground.apply(pod("web", labels={"app": "web"}, annotations=SLOW_STOP))
    (only,) = ground.ready_pods(1)
    counted(ground, current_healthy=1)
    ground.delete(only)
    counted(ground, current_healthy=0)
    left = ground.get(Pod, "web")
    assert (left.leaving, left.ready) == (True, True)


def test_a_budget_still_being_counted_refuses(ground: Ground) -> None:
    """A budget that its controller has not seen since its last change allows nothing."""
    ground.apply(budget("web", "web", minAvailable=0))
    (only,) = web(ground, 1)
    counted(ground, disruptions_allowed=1)
    ground.apply(budget("web", "web", minAvailable=1))
    assert isinstance(ground.refused_eviction(only), DisruptionRefusedError)


def test_two_budgets_on_one_pod_are_an_error(ground: Ground) -> None:
    ground.apply(budget("one", "web", minAvailable=0), budget("two", "web", minAvailable=0))
    (only,) = web(ground, 1)
    assert isinstance(ground.refused_eviction(only), MultipleBudgetsError)
    assert not ground.get(Pod, only.name).leaving


def test_a_pending_pod_needs_no_budget(ground: Ground) -> None:
    ground.apply(budget("web", "web", minAvailable=1))
    ground.apply(deployment("web", template("web", SLOW_START)))
    pending = ground.eventually(lambda: [p for p in ground.pods() if p.spec.node_name])[0]
    ground.evict(pending)
    ground.gone(pending)


def test_a_leaving_pod_needs_no_budget(ground: Ground) -> None:
    ground.apply(budget("web", "web", minAvailable=1))
    (only,) = web(ground, 1, slow=True)
    counted(ground, current_healthy=1)
    ground.delete(only)
    ground.evict(only)


@pytest.mark.parametrize(
    ("spec", "goes"),
    [
        pytest.param({"minAvailable": 2}, False, id="the others are too few"),
        pytest.param({"minAvailable": 1}, True, id="the others are enough"),
        pytest.param(
            {"minAvailable": 2, "unhealthyPodEvictionPolicy": "AlwaysAllow"},
            True,
            id="the policy allows it always",
        ),
    ],
)
def test_a_pod_that_is_not_ready_goes_by_what_the_others_are_and_by_the_policy(
    ground: Ground, spec: dict[str, Any], *, goes: bool
) -> None:
    ground.apply(budget("web", "web", **spec))
    broken = web(ground, 2)[0]
    counted(ground, current_healthy=2)
    ground.fail_probe(broken)
    counted(ground, current_healthy=1, disruptions_allowed=0)
    if goes:
        ground.evict(broken)
    else:
        assert isinstance(ground.refused_eviction(broken), DisruptionRefusedError)


@pytest.mark.parametrize(
    "spec", [{"minAvailable": 1}, {"maxUnavailable": 0}, {"minAvailable": "100%"}]
)
def test_the_budget_of_a_single_replica_allows_its_eviction_once_its_replacement_is_ready(
    ground: Ground, spec: dict[str, int | str]
) -> None:
    """A released pod counts as healthy, and expects nothing: it has no controller."""
    ground.apply(budget("web", "web", **spec))
    (old,) = web(ground, 1)
    counted(ground, current_healthy=1, desired_healthy=1, disruptions_allowed=0)
    ground.release(old)
    ground.ready_pods(2)
    counted(ground, current_healthy=2, desired_healthy=1, disruptions_allowed=1)
    ground.evict(old)
    ground.gone(old)
    counted(ground, current_healthy=1, desired_healthy=1, disruptions_allowed=0)


def test_a_stale_uid_spends_the_budget(ground: Ground) -> None:
    """The API server takes the budget before it looks at the uid: never evict by a guess."""
    ground.apply(budget("web", "web", minAvailable=1))
    pods = web(ground, 2)
    counted(ground, disruptions_allowed=1)
    assert isinstance(ground.refused_eviction(pods[0], "not-this-one"), ConflictError)
    assert ground.get(PodDisruptionBudget, "web").status.disruptions_allowed == 0
    assert isinstance(ground.refused_eviction(pods[1]), DisruptionRefusedError)


def test_evictions_one_after_the_other_spend_a_budget_once_while_it_is_counted(
    ground: Ground,
) -> None:
    """A count that was begun before an eviction is not written over what the eviction wrote."""
    ground.apply(budget("web", "web", minAvailable=1))
    ground.apply(*(pod(name, labels={"app": "web"}, annotations=SLOW_STOP) for name in "abcdef"))
    pods = ground.ready_pods(6)
    counted(ground, current_healthy=6, disruptions_allowed=5)
    refused = 0
    for each in pods:
        reply = ground.cluster.perform([Evict(each.name, each.namespace, each.uid)])[0]
        refused += isinstance(reply.error, DisruptionRefusedError)
        ground.clock.sleep(timedelta(milliseconds=14))
    assert refused == 1
