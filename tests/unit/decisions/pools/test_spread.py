"""How many pods of a workload each pool has."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.pools.spread import spread_of
from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool
from tests.kit import builders

A, B = Pool("m5.large", "a"), Pool("m5.large", "b")
POOLS = {"a1": A, "a2": A, "b1": B, "o1": None}
WEB = builders.deployment(replicas=5)
REPLICA_SET = builders.replica_set(of=WEB, replicas=5)


def on(*nodes: str, ready: bool = True) -> list[Pod]:
    return [
        builders.pod(f"web-{number}", of=REPLICA_SET, node=node, ready=ready)
        for number, node in enumerate(nodes)
    ]


@pytest.mark.parametrize(
    ("pods", "survivors"),
    [
        pytest.param([], 0, id="no pod"),
        pytest.param(on("a1", "a1", "a2", "b1", "o1"), 2, id="the pool with most of them goes"),
        pytest.param(on("a1", "b1"), 1, id="both have as many"),
        pytest.param(on("o1", "o1"), 2, id="on on-demand all stay"),
        pytest.param(on("a1", "o1", "lost"), 1, id="nobody knows of a node that is gone"),
        pytest.param(
            [*on("a1", "a2", ready=False), *on("b1", "o1", "o1")],
            2,
            id="who is not Ready does not serve before or after",
        ),
    ],
)
def test_those_survive_that_are_ready_in_no_other_than_the_worst_pool(
    pods: Sequence[Pod], survivors: int
) -> None:
    assert spread_of(pods, POOLS).survivors == survivors


def test_a_pod_that_is_handed_over_serves_until_it_goes() -> None:
    released = builders.pod("r", node="b1", of=REPLICA_SET, released=builders.release(REPLICA_SET))
    ended = builders.pod("e", node="b1", of=REPLICA_SET, phase="Succeeded")
    found = spread_of([*on("a1"), released, ended], POOLS)
    assert found.survivors == 1
    assert found.held == {A: 1}


def test_a_pool_holds_pods_that_are_not_ready_yet_and_on_demand_is_none() -> None:
    pods = [*on("a1", "a2", "b1", "o1", "lost"), *on("b1", ready=False)]
    assert spread_of(pods, POOLS).held == {A: 2, B: 2}


def test_the_fullest_pool_is_named_first_and_one_below_the_goal_not_at_all() -> None:
    spread = spread_of([*on("a1", "b1", "b1"), *on("o1")], POOLS)
    assert [list(spread.full(goal)) for goal in (1, 2, 3)] == [[B, A], [B], []]


@given(st.lists(st.tuples(st.sampled_from([*POOLS, "lost"]), st.booleans())))
def test_whichever_pool_goes_as_many_serve_as_survive_and_after_one_no_more(
    places: list[tuple[str, bool]],
) -> None:
    pods = [pod for node, ready in places for pod in on(node, ready=ready)]
    serving = [POOLS[node] for node, ready in places if ready and node in POOLS]
    left = [sum(pool != gone for pool in serving) for gone in (A, B)]
    assert spread_of(pods, POOLS).survivors == min(left)
