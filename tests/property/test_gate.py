"""Drainers behind the gate: no workload dips for a pod that passed as replaced, and no drain hangs.

What the gate lets pass for another reason (patience is over, no replacement can be made) goes as it
would without the gate, and is not counted.
"""

from datetime import timedelta

from hypothesis import given

from tests.property import strategies
from tests.property.draining import waited_too_long
from tests.property.invariants import dips
from tests.property.judging import hold, tries
from tests.property.scenes import Scene, Trouble
from tests.property.world import Story

LONGEST = timedelta(minutes=15, seconds=90)
"""Patience for its turn, how long a replacement may start, and how late the schedule ends that."""


def deferrals(story: Story) -> list[str]:
    """Invariant: no eviction is held up for longer than that."""
    return waited_too_long(dict(story.asked), LONGEST)


@tries()
@given(
    strategies.scenes(
        of=strategies.deployments(plain=True),
        notices=strategies.no_notices(),
        disturbances=strategies.drains(),
    )
)
def test_no_workload_dips_and_no_drain_waits_for_ever_when_nodes_are_drained(scene: Scene) -> None:
    hold(scene, dips, deferrals)


@tries()
@given(
    strategies.scenes(
        notices=strategies.no_notices(),
        disturbances=strategies.drains(Trouble.BREAK_GATE, Trouble.KILL_DRAINERS, Trouble.SCALE),
    )
)
def test_no_workload_dips_when_gates_and_drainers_die_and_workloads_are_scaled(
    scene: Scene,
) -> None:
    hold(scene, dips)


@tries(0.6)
@given(strategies.scenes(told="warnings", disturbances=strategies.drains()))
def test_no_workload_dips_when_nodes_are_drained_that_die(scene: Scene) -> None:
    hold(scene, dips)
