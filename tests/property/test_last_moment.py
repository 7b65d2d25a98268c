"""Invariants 2 and 6: at its last moment a pod goes, and what has to wait for it, waits."""

from hypothesis import assume, example, given

from tests.property import strategies
from tests.property.hands import Cause
from tests.property.invariants import gone_too_early, left_behind
from tests.property.judging import hold, tries
from tests.property.scenes import (
    Budget,
    Crash,
    Kind,
    NodePlan,
    NoticePlan,
    Recovery,
    Scene,
    WorkloadPlan,
)
from tests.property.spectator import Life

ONLY_THE_SCHEDULE = Scene(
    nodes=(NodePlan(), NodePlan(), NodePlan()),
    workloads=(WorkloadPlan(budget=Budget(max_unavailable=1, twice=True)),),
    notices=(NoticePlan(late=40),),
    crash=Crash(write=3, carried_out=True, recovery=Recovery.SCHEDULE),
    age=100,
    phase=4,
)
"""The Lease's holder died, its wake-up is lost, and the schedule comes in between."""


def waits_for_it(life: Life) -> bool:
    """A Job's pod, which may still finish, or a bare one, which no controller makes again."""
    return life.kind in (Kind.JOB, "")


@tries(1.5)
@given(strategies.scenes(crash=strategies.rarely(strategies.crashes())))
def test_nothing_evictable_is_left_on_a_dying_node_when_last_moments_have_passed(
    scene: Scene,
) -> None:
    hold(scene, left_behind)


@tries()
@example(ONLY_THE_SCHEDULE)
@given(strategies.short_of_time())
def test_nothing_evictable_is_left_when_an_invocation_dies_and_time_is_short(scene: Scene) -> None:
    hold(scene, left_behind)


@tries(0.6)
@given(strategies.scenes(hinted=True))
def test_nothing_evictable_is_left_when_a_warning_follows_a_rebalance_recommendation(
    scene: Scene,
) -> None:
    hold(scene, left_behind)


@tries()
@given(strategies.scenes(of=strategies.blocked(), told="warnings"))
def test_a_pod_goes_at_its_last_moment_and_not_before_when_its_budget_refuses(
    scene: Scene,
) -> None:
    story = hold(scene, left_behind, lambda story: gone_too_early(story, lambda _: True))
    assume(any(life.cause is Cause.EVENKEEL for life in story.lives))


@tries(0.6)
@given(strategies.scenes(of=strategies.others()))
def test_a_pod_runs_to_its_last_moment_when_it_is_bare_or_may_finish(
    scene: Scene,
) -> None:
    hold(scene, lambda story: gone_too_early(story, waits_for_it))
