"""Invariant 1: no workload falls below min(available at the start, wanted) before a last moment.

Counted from outside, see spectator.py. Where the design breaks before it makes, as much as it
says may be missing: one ordinal of a StatefulSet, max(1, maxUnavailable) where two at once
are ruled out. What others take away, and what goes at its last moment, is not counted.
"""

from hypothesis import example, given

from tests.property import strategies
from tests.property.invariants import dips
from tests.property.judging import hold, tries
from tests.property.scenes import (
    Disturbance,
    Kind,
    NodePlan,
    NoticePlan,
    Scene,
    Trouble,
    WorkloadPlan,
)

ORDINALS = Scene(
    nodes=(NodePlan(), NodePlan(), NodePlan()),
    workloads=(
        WorkloadPlan(replicas=2),
        WorkloadPlan(kind=Kind.STATEFUL_SET),
        WorkloadPlan(kind=Kind.STATEFUL_SET, replicas=3),
    ),
    notices=(NoticePlan(), NoticePlan(node=1)),
    age=100,
)
"""Two ordinals of one StatefulSet are on doomed nodes."""

ROLLOUTS = Scene(
    nodes=(NodePlan(), NodePlan(), NodePlan()),
    workloads=(WorkloadPlan(replicas=2, start=8),),
    notices=(NoticePlan(),),
    disturbances=(
        Disturbance(trouble=Trouble.ROLL_OUT),
        Disturbance(trouble=Trouble.ROLL_OUT, at=4),
    ),
    age=100,
)
"""A rollout begins before the one before it, and the handover, are over."""

BESIDE = Scene(
    nodes=(NodePlan(), NodePlan(), NodePlan()),
    workloads=(WorkloadPlan(replicas=2), WorkloadPlan(replicas=2)),
    notices=(NoticePlan(),),
    disturbances=(Disturbance(trouble=Trouble.EVICT, workload=1, at=4),),
    age=100,
)
"""Another drainer is at work on one of two workloads."""


@tries(1.5)
@example(ORDINALS)
@given(strategies.scenes(told="warnings"))
def test_no_workload_dips_before_a_last_moment_when_nodes_are_interrupted(scene: Scene) -> None:
    hold(scene, dips)


@tries()
@given(strategies.scenes(crash=strategies.crashes()))
def test_no_workload_dips_before_a_last_moment_when_an_invocation_dies(scene: Scene) -> None:
    hold(scene, dips)


@tries(0.6)
@given(strategies.scenes(hinted=True))
def test_no_workload_dips_when_a_warning_follows_a_rebalance_recommendation(scene: Scene) -> None:
    hold(scene, dips)


@tries()
@example(BESIDE)
@given(
    strategies.scenes(
        told="warnings", disturbances=strategies.disturbances(Trouble.EVICT, Trouble.DELETE)
    )
)
def test_evenkeel_takes_no_pod_below_the_floor_when_others_drain_beside_it(scene: Scene) -> None:
    hold(scene, dips)


@tries(0.6)
@given(
    strategies.scenes(
        of=strategies.deployments(plain=True),
        told="warnings",
        disturbances=strategies.disturbances(Trouble.SCALE, Trouble.UNREADY),
    )
)
def test_no_workload_dips_when_it_is_scaled_or_ails_meanwhile(scene: Scene) -> None:
    hold(scene, dips)


@tries(0.6)
@example(ROLLOUTS)
@given(
    strategies.scenes(
        of=strategies.deployments(plain=True),
        told="warnings",
        disturbances=strategies.disturbances(Trouble.ROLL_OUT),
    )
)
def test_no_workload_falls_below_its_rollout_when_it_is_rolled_out_meanwhile(scene: Scene) -> None:
    hold(scene, dips)
