"""Gangs: where too few stay those on dying nodes go together, and others by their owner's word."""

from hypothesis import example, given

from tests.property import strategies
from tests.property.invariants import (
    left_behind,
    released_for_ever,
    torn,
    touched_without_notice,
)
from tests.property.judging import hold, tries
from tests.property.scenes import THREE, Kind, NoticePlan, Scene, WorkloadPlan

ONE_AFTER_THE_OTHER = Scene(
    nodes=THREE,
    workloads=(WorkloadPlan(kind=Kind.JOB, replicas=6, gang=6),),
    notices=(NoticePlan(), NoticePlan(node=1, at=17)),
    age=100,
)
"""Two nodes die at different times: the gang goes at the last moment of the first."""


@tries()
@example(ONE_AFTER_THE_OTHER)
@given(
    strategies.scenes(
        of=strategies.gangs(), most_workloads=2, crash=strategies.rarely(strategies.crashes())
    )
)
def test_a_gang_of_which_too_few_stay_goes_together_and_no_member_is_left(scene: Scene) -> None:
    together = (torn,) if scene.crash is None else ()
    hold(scene, *together, left_behind, touched_without_notice, released_for_ever)
