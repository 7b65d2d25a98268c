"""Bounds and budgets come to the same numbers as in Kubernetes' own controllers."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.drain import budgets
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.deployment import Deployment, DeploymentSpec, DeploymentStrategy, IntOrString
from tests.kit import builders


@pytest.mark.parametrize(
    ("value", "total", "down", "up"),
    [
        (0, 10, 0, 0),
        (3, 10, 3, 3),
        (30, 10, 30, 30),
        ("0%", 10, 0, 0),
        ("25%", 4, 1, 1),
        ("25%", 3, 0, 1),
        ("25%", 5, 1, 2),
        ("33%", 10, 3, 4),
        ("100%", 7, 7, 7),
        ("150%", 3, 4, 5),
        ("1%", 1, 0, 1),
        ("50%", 0, 0, 0),
        ("00123456789%", 100, 123456789, 123456789),
        ("9999999999%", 100, 10**9, 10**9),
    ],
)
def test_percentages_are_rounded_towards_the_side_asked_for(
    value: IntOrString, total: int, down: int, up: int
) -> None:
    assert budgets.scaled(value, total, round_up=False) == down
    assert budgets.scaled(value, total, round_up=True) == up


@given(percent=st.integers(0, 1000), total=st.integers(0, 200_000))
def test_a_percentage_is_exact_whatever_the_number_of_replicas(percent: int, total: int) -> None:
    share = Fraction(percent * total, 100)

    down = budgets.scaled(f"{percent}%", total, round_up=False)
    up = budgets.scaled(f"{percent}%", total, round_up=True)

    assert down <= share <= up
    assert up - down == (0 if share.denominator == 1 else 1)


@pytest.mark.parametrize("value", ["", "%", "1", "ten%", "-5%", "5 %", "1.5%", "5%%"])
def test_a_string_is_refused_when_it_is_no_percentage(value: str) -> None:
    with pytest.raises(ValueError, match="is no percentage"):
        budgets.scaled(value, 10, round_up=True)


@pytest.mark.parametrize(
    ("deployment", "unavailable"),
    [
        (None, 0),
        (builders.deployment(replicas=9, strategy="Recreate"), 0),
        (builders.deployment(replicas=9), 2),
        (builders.deployment(replicas=3), 0),
        (builders.deployment(replicas=9, max_unavailable=4), 4),
        (builders.deployment(replicas=9, max_unavailable="0%"), 0),
        (builders.deployment(replicas=0, max_unavailable="50%"), 0),
    ],
)
def test_max_unavailable_is_what_a_rolling_update_may_take_away(
    deployment: Deployment | None, unavailable: int
) -> None:
    assert budgets.max_unavailable(deployment) == unavailable


@pytest.mark.parametrize(
    ("deployment", "size", "ration"),
    [
        (None, 3, 1),
        (builders.deployment(replicas=0), 3, 1),
        (builders.deployment(replicas=12), 12, 3),
        (builders.deployment(replicas=12), 8, 2),
        (builders.deployment(replicas=12), 3, 1),
        (builders.deployment(replicas=12, max_unavailable=20), 6, 6),
    ],
)
def test_a_replica_set_goes_by_its_part_of_what_may_be_missing(
    deployment: Deployment | None, size: int, ration: int
) -> None:
    assert budgets.ration(deployment, size) == ration


@pytest.mark.parametrize(
    ("deployment", "surge"),
    [
        (builders.deployment(replicas=9), 3),
        (builders.deployment(replicas=1), 1),
        (builders.deployment(replicas=9, max_surge=0), 0),
        (builders.deployment(replicas=9, max_surge="0%"), 0),
        (builders.deployment(replicas=1000, max_surge="1%"), 10),
        (builders.deployment(replicas=3, max_surge="1%"), 1),
    ],
)
def test_max_surge_is_what_a_rolling_update_may_add(deployment: Deployment, surge: int) -> None:
    assert budgets.max_surge(deployment) == surge


@pytest.mark.parametrize(("replicas", "unavailable", "surge"), [(3, 0, 1), (8, 2, 2), (9, 2, 3)])
def test_a_quarter_either_way_is_allowed_when_the_bounds_are_left_out(
    replicas: int, unavailable: int, surge: int
) -> None:
    deployment = Deployment(
        metadata=builders.metadata("web"),
        spec=DeploymentSpec(replicas=replicas, strategy=DeploymentStrategy()),
    )
    assert budgets.max_unavailable(deployment) == unavailable
    assert budgets.max_surge(deployment) == surge


FORBIDDING = [
    builders.budget(max_unavailable=0),
    builders.budget(max_unavailable="0%"),
    builders.budget(max_unavailable="00%"),
    builders.budget(min_available="100%"),
    builders.budget(),
]
LENIENT = [
    builders.budget(max_unavailable=1),
    builders.budget(max_unavailable="1%"),
    builders.budget(min_available="99%"),
    builders.budget(min_available="0%"),
    builders.budget(min_available=0),
    builders.budget(min_available=100),
]


@pytest.mark.parametrize("budget", FORBIDDING, ids=lambda b: str(b.spec))
def test_a_budget_may_forbid_all_disruptions(budget: PodDisruptionBudget) -> None:
    assert budgets.never_allows(budget)
    assert budgets.hold_now([budget]) is budget


@pytest.mark.parametrize("budget", LENIENT, ids=lambda b: str(b.spec))
def test_a_budget_whose_bound_leaves_room_can_allow_one(budget: PodDisruptionBudget) -> None:
    assert not budgets.never_allows(budget)
    assert budgets.hold_now([budget]) is None


@pytest.mark.parametrize(("healthy", "held"), [(0, True), (1, True), (2, False), (3, False)])
def test_a_budget_holds_when_fewer_are_healthy_than_it_demands(healthy: int, *, held: bool) -> None:
    budget = builders.budget(min_available=2, healthy=healthy, demanded=2)
    assert (budgets.hold_now([budget]) is budget) is held


def test_pods_are_held_back_that_two_budgets_select() -> None:
    first = builders.budget("one", max_unavailable=1)
    assert budgets.hold_now([first, builders.budget("two", max_unavailable=1)]) is first


def test_nothing_is_held_back_when_no_budget_selects_it() -> None:
    assert budgets.hold_now([]) is None


@pytest.mark.parametrize("digits", ["9" * 5_000, "0" * 5_000 + "7"])
def test_a_surge_of_any_number_of_digits_is_a_number(digits: str) -> None:
    """The API server stores a maxSurge of so many per cent, of which int() makes none."""
    surge = budgets.max_surge(builders.deployment(replicas=2**31 - 1, max_surge=f"{digits}%"))
    assert surge >= (2**31 - 1) * 7 // 100
