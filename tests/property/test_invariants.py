"""A test is a kind of scene. Its stories are held to all invariants that hold of them."""

from functools import partial

from hypothesis import assume, example, given
from hypothesis import strategies as st

from evenkeel.model.decision import Verb
from tests.property import strategies
from tests.property.hands import Cause
from tests.property.invariants import (
    goes_alone,
    gone_too_early,
    released_for_ever,
    touched_without_notice,
    written_at_all,
    written_while_paused,
)
from tests.property.judging import ALL, hold, tries
from tests.property.scenes import (
    IMPOSTOR,
    THREE,
    Budget,
    Crash,
    Disturbance,
    Kind,
    News,
    NoticePlan,
    Recovery,
    Scene,
    Trouble,
    WorkloadPlan,
)
from tests.property.spectator import Life

ORDINALS = Scene(
    nodes=THREE,
    workloads=(
        WorkloadPlan(replicas=2),
        WorkloadPlan(kind=Kind.STATEFUL_SET),
        WorkloadPlan(kind=Kind.STATEFUL_SET, replicas=3),
    ),
    notices=(NoticePlan(), NoticePlan(node=1)),
    age=100,
)
"""Two ordinals of one StatefulSet are on doomed nodes."""

NAMESAKE = Scene(
    nodes=THREE,
    workloads=(WorkloadPlan(replicas=2),),
    notices=(NoticePlan(at=1), NoticePlan(node=IMPOSTOR)),
    age=100,
)
"""Another cluster's instance with the name of a node of ours is interrupted first."""

ONLY_THE_SCHEDULE = Scene(
    nodes=THREE,
    workloads=(WorkloadPlan(budget=Budget(max_unavailable=1, twice=True)),),
    notices=(NoticePlan(late=40),),
    crash=Crash(write=3, carried_out=True, recovery=Recovery.SCHEDULE),
    age=100,
    phase=4,
)
"""The Lease's holder died, its wake-up is lost, and the schedule comes in between."""

BESIDE = Scene(
    nodes=THREE,
    workloads=(WorkloadPlan(replicas=2), WorkloadPlan(replicas=2)),
    notices=(NoticePlan(),),
    disturbances=(Disturbance(trouble=Trouble.EVICT, workload=1, at=4),),
    age=100,
)
"""Another drainer is at work on one of two workloads."""

ROLLOUTS = Scene(
    nodes=THREE,
    workloads=(WorkloadPlan(replicas=2, start=8),),
    notices=(NoticePlan(),),
    disturbances=(
        Disturbance(trouble=Trouble.ROLL_OUT),
        Disturbance(trouble=Trouble.ROLL_OUT, at=4),
    ),
    age=100,
)
"""A rollout begins before the one before it, and the handover, are over."""

SCALED_AWAY = Scene(
    nodes=THREE,
    workloads=(WorkloadPlan(replicas=2, start=25),),
    notices=(NoticePlan(news=News.REBALANCE),),
    disturbances=(Disturbance(trouble=Trouble.SCALE, at=8),),
    age=100,
)
"""It wants no pods any more while one is released under a hint, and none has replaced it."""

PAUSED_LATE = Scene(
    nodes=THREE,
    workloads=(WorkloadPlan(replicas=2, start=25, ready=15),),
    notices=(NoticePlan(at=60),),
    age=100,
    paused=(95, 115),
)
"""The replacement becomes available, and the pod could go, while it is paused."""

WANTED = {
    (Verb.MARK, "SpotInterruption"),
    (Verb.ACKNOWLEDGE, "UnknownInstance"),
    (Verb.ACKNOWLEDGE, "OtherCluster"),
    (Verb.LEAVE, "AlreadyMarked"),
    (Verb.DRAIN, "RebalanceRecommendation"),
    (Verb.LIFT, "HintExpired"),
    (Verb.RELEASE, "NodeDoomed"),
    (Verb.EVICT, "ReplacementAvailable"),
    (Verb.EVICT, "StatefulSet"),
    (Verb.EVICT, "LastMoment"),
    (Verb.DELETE, "BudgetRefusedAtLastMoment"),
    (Verb.TAINT, "InstanceOff"),
}
"""What has to happen in random stories, for the invariants to be worth something."""


def test_all_hold_when_nodes_go() -> None:
    seen: set[tuple[Verb, str]] = set()

    @tries(2)
    @example(ORDINALS)
    @example(NAMESAKE)
    @given(strategies.scenes(crash=strategies.rarely(strategies.crashes())))
    def all_hold(scene: Scene) -> None:
        story = hold(scene, *ALL)
        seen.update((each.verb, each.reason) for each in story.recorder.decisions)

    all_hold()
    assert sorted(WANTED - seen) == []


@tries(0.6)
@given(strategies.scenes(hinted=True))
def test_all_hold_when_a_warning_follows_a_rebalance_recommendation(scene: Scene) -> None:
    hold(scene, *ALL)


@tries(0.5)
@given(strategies.scenes(notices=st.lists(strategies.news(0), min_size=2, max_size=3).map(tuple)))
def test_all_hold_when_a_node_has_several_notices(scene: Scene) -> None:
    hold(scene, *ALL)


@tries()
@given(
    st.one_of(
        strategies.scenes(crash=strategies.crashes()),
        strategies.given_up(crash=strategies.crashes(most=16)),
    )
)
def test_all_hold_when_an_invocation_dies_in_good_time(scene: Scene) -> None:
    hold(scene, *ALL)


@tries()
@example(ONLY_THE_SCHEDULE)
@given(strategies.short_of_time())
def test_all_hold_when_an_invocation_dies_and_time_is_short(scene: Scene) -> None:
    hold(scene, *ALL)


@tries()
@given(strategies.scenes(of=strategies.blocked(), told="warnings"))
def test_a_pod_goes_at_its_last_moment_and_not_before_when_its_budget_refuses(
    scene: Scene,
) -> None:
    """Pods that take turns go earlier, but never two at a time: that is invariant 1."""
    story = hold(scene, *ALL, lambda story: gone_too_early(story, partial(goes_alone, story)))
    assume(any(life.cause is Cause.EVENKEEL for life in story.lives))


def waits_for_it(life: Life) -> bool:
    """A Job's pod, which may still finish, or a bare one, which no controller makes again."""
    return life.kind in (Kind.JOB, "")


@tries(0.6)
@given(strategies.scenes(of=strategies.others()))
def test_a_pod_runs_to_its_last_moment_when_it_is_bare_or_may_finish(scene: Scene) -> None:
    hold(scene, *ALL, lambda story: gone_too_early(story, waits_for_it))


@tries()
@example(BESIDE)
@given(
    strategies.scenes(
        told="warnings", disturbances=strategies.disturbances(Trouble.EVICT, Trouble.DELETE)
    )
)
def test_all_hold_when_others_drain_beside_it(scene: Scene) -> None:
    hold(scene, *ALL)


@tries()
@example(ROLLOUTS)
@given(
    strategies.scenes(
        of=strategies.deployments(plain=True),
        told="warnings",
        disturbances=strategies.disturbances(Trouble.SCALE, Trouble.UNREADY, Trouble.ROLL_OUT),
    )
)
def test_all_hold_when_a_workload_is_scaled_or_rolled_out_or_ails(scene: Scene) -> None:
    hold(scene, *ALL)


@tries(0.6)
@given(
    strategies.scenes(
        of=strategies.deployments(plain=True), disturbances=strategies.disturbances(*Trouble)
    )
)
def test_no_pod_stays_released_whatever_others_do(scene: Scene) -> None:
    hold(scene, released_for_ever)


@tries()
@example(SCALED_AWAY)
@given(strategies.unwanted())
def test_all_hold_when_a_workload_is_scaled_away(scene: Scene) -> None:
    hold(scene, *ALL)


@tries()
@example(PAUSED_LATE)
@given(strategies.scenes(paused=strategies.pauses()))
def test_nothing_is_written_later_than_a_second_when_it_is_paused(scene: Scene) -> None:
    hold(scene, written_while_paused, released_for_ever, touched_without_notice)


@tries(0.4)
@given(strategies.scenes(observe=st.just(True)))  # noqa: FBT003 - a strategy's value
def test_nothing_is_written_at_all_when_it_only_observes(scene: Scene) -> None:
    hold(scene, written_at_all)
