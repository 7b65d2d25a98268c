"""How many pods one pool is to have at most, and what is said where it has more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.pools.goal import goal_of, remarks_on
from evenkeel.decisions.pools.spread import Spread
from evenkeel.model import names
from evenkeel.model.pool import Pool
from tests import builders

A, B = Pool("m5.large", "a"), Pool("m5.large", "b")


def says(text: str) -> dict[str, str]:
    return {names.ONE_POOL_AT_MOST: text}


def test_without_a_word_there_is_no_goal() -> None:
    assert goal_of(builders.deployment(replicas=10), None, {names.ON_DEMAND: "2"}) is None


@pytest.mark.parametrize(
    ("of_pods", "own", "goal"),
    [(says("1"), says("2"), 1), ({}, says("2"), 2), (None, {}, 3), ({}, says("few"), None)],
    ids=["template", "workload", "namespace", "what means nothing, before the namespace"],
)
def test_the_first_that_says_something_counts(
    of_pods: dict[str, str] | None, own: dict[str, str], goal: int | None
) -> None:
    workload = builders.deployment(replicas=10, annotations=own)
    assert goal_of(workload, of_pods, says("30%")) == goal


def test_a_percentage_is_of_the_pods_that_are_wanted() -> None:
    job = builders.job(parallelism=6)
    assert goal_of(builders.stateful_set(replicas=4), says("50%"), None) == 2
    assert goal_of(job, says("50%"), None) == 3


def reasons(held: dict[Pool, int], goal: int, pools: int) -> list[str]:
    return [each.reason for each in remarks_on(Spread({}, held), goal, lambda: pools)]


def test_a_pool_with_more_than_its_goal_is_named() -> None:
    assert reasons({}, 1, 0) == []
    assert reasons({A: 2, B: 2}, 2, 2) == []
    (remark,) = remarks_on(Spread({}, {A: 1, B: 3}), 2, lambda: 2)
    assert (remark.reason, remark.brief, remark.warning) == ("PoolTooFull", "pool too full", True)
    assert remark.message.startswith(
        "3 of its pods are in one pool (m5.large in b), which is to have 2 at most"
    )


def test_pools_are_counted_only_where_one_has_more_than_its_goal() -> None:
    counted: list[int] = []

    def count() -> int:
        counted.append(2)
        return 2

    assert remarks_on(Spread({}, {A: 2, B: 2}), 2, count) == []
    assert counted == []
    assert remarks_on(Spread({}, {A: 3, B: 1}), 2, count)
    assert counted == [2]


def test_where_there_are_too_few_pools_that_is_said_instead() -> None:
    (remark,) = remarks_on(Spread({}, {A: 3, B: 4}), 2, lambda: 3)
    assert (remark.reason, remark.warning) == ("PoolsTooFew", True)
    assert remark.message == (
        "its 7 pods on spot need 4 pools to have 2 at most in each, and 3 can take them: add"
        " instance types or zones"
    )


@given(st.lists(st.integers(1, 9), max_size=5), st.integers(1, 9), st.integers(0, 9))
def test_pools_are_too_few_where_no_way_to_share_the_pods_keeps_the_goal(
    held: list[int], goal: int, pools: int
) -> None:
    """Filling one pool after the other to its goal leaves no pod if any way does."""
    found = reasons({Pool(str(i)): pods for i, pods in enumerate(held)}, goal, pools)
    left = sum(held)
    for _ in range(pools):
        left -= min(left, goal)
    if all(pods <= goal for pods in held):
        assert found == []
    else:
        assert found == ["PoolsTooFew" if left else "PoolTooFull"]
