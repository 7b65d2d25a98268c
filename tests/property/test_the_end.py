"""Invariants 3 and 5: in the end no pod is released any more, and nothing is left to do."""

from hypothesis import example, given
from hypothesis import strategies as st

from tests.property import strategies
from tests.property.invariants import released_for_ever, written_after_the_end
from tests.property.judging import hold, tries
from tests.property.scenes import (
    Disturbance,
    News,
    NodePlan,
    NoticePlan,
    Scene,
    Trouble,
    WorkloadPlan,
)

SCALED_AWAY = Scene(
    nodes=(NodePlan(), NodePlan(), NodePlan()),
    workloads=(WorkloadPlan(replicas=2, start=25),),
    notices=(NoticePlan(news=News.REBALANCE),),
    disturbances=(Disturbance(trouble=Trouble.SCALE, at=8),),
    age=100,
)
"""It wants no pods any more while one is released under a hint, and none has replaced it."""


@tries()
@given(
    st.one_of(
        strategies.scenes(crash=strategies.crashes()),
        strategies.given_up(crash=strategies.crashes(most=16)),
    )
)
def test_no_pod_stays_released_when_an_invocation_died(scene: Scene) -> None:
    hold(scene, released_for_ever)


@tries(0.6)
@given(
    strategies.scenes(
        of=strategies.deployments(plain=True), disturbances=strategies.disturbances(*Trouble)
    )
)
def test_no_pod_stays_released_when_others_meddle(scene: Scene) -> None:
    hold(scene, released_for_ever)


@tries()
@example(SCALED_AWAY)
@given(strategies.unwanted())
def test_no_pod_stays_released_when_its_workload_is_scaled_away(scene: Scene) -> None:
    hold(scene, released_for_ever)


@tries()
@given(strategies.scenes(crash=strategies.rarely(strategies.crashes())))
def test_a_redelivery_writes_nothing_when_all_is_over(scene: Scene) -> None:
    hold(scene, written_after_the_end)


@tries(0.5)
@given(
    strategies.scenes(notices=st.lists(strategies.news(0), min_size=2, max_size=3).map(tuple)),
)
def test_a_redelivery_writes_nothing_when_a_node_had_several_notices(scene: Scene) -> None:
    hold(scene, written_after_the_end)
