"""How many pods one pool is to have at most."""

import pytest

from evenkeel.decisions.pools.spread import goal_of
from evenkeel.model import names
from tests.kit import builders


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
