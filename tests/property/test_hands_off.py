"""Invariants 4 and 7: what Evenkeel leaves alone, and when."""

from hypothesis import example, given
from hypothesis import strategies as st

from tests.property import strategies
from tests.property.invariants import (
    released_for_ever,
    touched_without_notice,
    written_at_all,
    written_while_paused,
)
from tests.property.judging import hold, tries
from tests.property.scenes import IMPOSTOR, NodePlan, NoticePlan, Scene, WorkloadPlan

NAMESAKE = Scene(
    nodes=(NodePlan(), NodePlan(), NodePlan()),
    workloads=(WorkloadPlan(replicas=2),),
    notices=(NoticePlan(at=1), NoticePlan(node=IMPOSTOR)),
    age=100,
)
"""Another cluster's instance with the name of a node of ours is interrupted first."""


@tries(1.5)
@example(NAMESAKE)
@given(strategies.scenes(crash=strategies.rarely(strategies.crashes())))
def test_a_node_and_its_pods_are_never_touched_when_it_has_no_notice(scene: Scene) -> None:
    hold(scene, touched_without_notice)


@tries()
@given(strategies.scenes(paused=strategies.pauses()))
def test_nothing_is_written_later_than_a_second_when_it_is_paused(scene: Scene) -> None:
    hold(scene, written_while_paused, released_for_ever)


@tries(0.4)
@given(strategies.scenes(observe=st.just(True)))  # noqa: FBT003 - a strategy's value
def test_nothing_is_written_at_all_when_it_only_observes(scene: Scene) -> None:
    hold(scene, written_at_all)
