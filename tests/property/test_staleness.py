"""Invariants 1 to 7 where what Evenkeel sees is late, and its Lease is lost in mid-flight.

Each watch lags by up to 3 s, stalls, and loses its connection or its thread; replies come before
or after what watches show. Pods turn NotReady meanwhile. The Lease's holder loses it without
knowing, cannot renew it, or is stopped for longer than it lasts and goes on.
"""

import dataclasses
from functools import partial

import pytest
from hypothesis import given

from evenkeel_sandbox.simulator.staleness import Staleness
from tests.property import strategies
from tests.property.invariants import (
    dips,
    goes_alone,
    gone_too_early,
    left_behind,
    released_for_ever,
    written_when_overtaken,
    written_while_paused,
)
from tests.property.judging import ALL, hold, tries
from tests.property.scenes import (
    THREE,
    Budget,
    Crash,
    Disturbance,
    NoticePlan,
    Scene,
    Trouble,
    WorkloadPlan,
)
from tests.property.world import play

STOPPED = Scene(
    nodes=THREE,
    workloads=(
        WorkloadPlan(replicas=4, start=8),
        WorkloadPlan(replicas=5, start=25, budget=Budget(max_unavailable=0)),
    ),
    notices=(NoticePlan(), NoticePlan(node=1)),
    age=100,
    window=2,
)
"""Much is to be done still when an invocation goes on that was stopped."""


def failing(number: int, at: int, staleness: Staleness, min_ready: int) -> Scene:
    """One pod of three fails about when the two replacements begin to count."""
    return Scene(
        nodes=THREE,
        workloads=(WorkloadPlan(replicas=3, min_ready=min_ready),),
        notices=(NoticePlan(), NoticePlan(node=1)),
        disturbances=(Disturbance(trouble=Trouble.UNREADY, at=min_ready + at, number=number),),
        staleness=staleness,
        age=100,
    )


@pytest.mark.parametrize(("min_ready", "stall"), [(0, 0.0), (10, 6.0)])
def test_no_workload_dips_when_any_pod_fails_at_any_moment_and_watches_are_late(
    min_ready: int, stall: float
) -> None:
    """Nothing here is left to chance: few moments are those at which a late view takes too much."""
    for seed in range(8):
        staleness = Staleness(seed=seed, lag=3.0, stall=stall)
        for at in range(7):
            for number in range(2):
                scene = failing(number, at, staleness, min_ready)
                broken = dips(play(scene))
                assert not broken, f"play({scene!r}): {'; '.join(broken)}"


@tries(0.3)
@given(strategies.seen_late())
def test_no_workload_dips_when_pods_fail_and_watches_are_late(scene: Scene) -> None:
    hold(scene, dips)


@tries(0.5)
@given(
    strategies.scenes(
        staleness=strategies.stalenesses(),
        disturbances=strategies.ailing(Trouble.LOSE_LEASE, Trouble.BREAK_LEASE),
        crash=strategies.rarely(strategies.crashes()),
        paused=strategies.rarely(strategies.pauses()),
    )
)
def test_all_invariants_hold_when_watches_are_late(scene: Scene) -> None:
    hold(scene, *(ALL if scene.paused is None else (released_for_ever, written_while_paused)))


@tries(0.3)
@given(
    strategies.scenes(of=strategies.blocked(), told="warnings", staleness=strategies.stalenesses())
)
def test_a_pod_goes_at_its_last_moment_and_not_before_when_watches_are_late(scene: Scene) -> None:
    hold(
        scene,
        left_behind,
        lambda story: gone_too_early(story, partial(goes_alone, story)),
    )


@tries(0.6)
@given(
    strategies.scenes(
        crash=strategies.stops(),
        staleness=strategies.rarely(strategies.stalenesses()),
    )
)
def test_all_invariants_hold_when_a_stopped_invocation_goes_on(scene: Scene) -> None:
    hold(scene, *ALL, written_when_overtaken)


def test_a_stopped_invocation_writes_nothing_when_another_took_its_lease_meanwhile() -> None:
    """It is stopped for longer than its Lease lasts, at each of its first writes."""
    for write in range(3, 25):
        scene = dataclasses.replace(STOPPED, crash=Crash(write=write, stopped_for=25))
        story = play(scene)
        for invariant in (dips, left_behind, released_for_ever, written_when_overtaken):
            broken = invariant(story)
            assert not broken, f"play({scene!r}): {invariant.__name__}: {'; '.join(broken)}"
