"""Pods that break before they make: a few at a time, by ordinal, at once, at the last moment."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.drain.deadlines import Deadline, node_deadline
from evenkeel.decisions.drain.movers import MovingPod
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.plan import Plan
from evenkeel.decisions.drain.plan import plan as decide
from evenkeel.decisions.drain.refusal import tried_until
from evenkeel.model import names
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.notice import NodeNotice, NoticeKind
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Evict
from evenkeel.model.way import Way
from tests.kit import builders
from tests.kit.builders import NOW, seconds
from tests.kit.effort import measured

WARNING, HINT = builders.notice(), builders.hint()
EVICT_BY = WARNING.deadline - seconds(31)
TRIED_UNTIL = tried_until(node_deadline(WARNING))
STATEFUL_SET = builders.stateful_set()
OF_DB = builders.owner(STATEFUL_SET)
OF_ONE = builders.owner(builders.stateful_set(replicas=1))


def mover(pod: Pod, way: Way, notice: NodeNotice = WARNING, *, warning: bool = False) -> MovingPod:
    return builders.moving(pod, way, notice, warning=warning)


def plan(  # movers and their peers, at a time
    movers: Sequence[MovingPod],
    owner: Owner,
    *,
    others: Sequence[Pod] = (),
    now: datetime = NOW,
    budgets: Sequence[PodDisruptionBudget] = (),
) -> Plan:
    pods = [*(each.pod for each in movers), *others]
    dooms = {each.pod.spec.node_name: each.notice for each in movers}
    census = builders.census_of(owner, pods, now=now, moving=movers, budgets=budgets)
    return decide(builders.with_nodes(census, dooms=dooms))


def ordinals(*numbers: int, of: KubernetesObject = STATEFUL_SET, **same: Any) -> list[Pod]:
    return [builders.pod(f"{of.name}-{i}", of=of, **same) for i in numbers]


def by_ordinal(*pods: Pod, notice: NodeNotice = WARNING) -> list[MovingPod]:
    return [mover(pod, Way.BY_ORDINAL, notice) for pod in pods]


def names_of(decisions: Sequence[Decision], verb: Verb = Verb.EVICT) -> list[str]:
    return [each.subject.name for each in decisions if each.verb is verb]


def forced(found: Plan) -> list[str]:
    """The pods that are evicted by their eviction deadlines, whatever else is decided."""
    return [each.pod.name for each in found.forced]


EVERY_WAY = [Way.AT_ONCE, Way.RATIONED, Way.BY_ORDINAL, Way.AT_LAST_MOMENT]


@pytest.mark.parametrize("now", [NOW, EVICT_BY, WARNING.deadline + seconds(3600)])
@pytest.mark.parametrize("way", EVERY_WAY)
def test_every_pod_of_a_dying_node_is_forced_off_whatever_its_way(way: Way, now: datetime) -> None:
    pods = ordinals(0, 1, 2, ready=False)
    found = plan([mover(pod, way) for pod in pods], OF_DB, now=now)

    assert forced(found) == ["db-2", "db-1", "db-0"]
    assert not any(step.forced for step in [*found.steps, *found.evictions])
    for pod, each in zip(reversed(pods), found.forced, strict=True):
        step = each.eviction()
        assert each.evict_by == EVICT_BY
        assert (step.reason, step.forced, step.warning) == ("LastMoment", True, True)
        assert step.write == Evict(name=pod.name, namespace="default", uid=pod.uid)
        assert (step.workload, step.node) == (STATEFUL_SET.reference, "n1")


@pytest.mark.parametrize(
    ("way", "earlier"),
    [(Way.BY_ORDINAL, [-72, 0, 0]), (Way.RATIONED, [-72, 0, 0]), (Way.AT_ONCE, [0, 0, 0])],
)
def test_a_pod_whose_turn_it_is_goes_so_early_that_there_is_a_turn_for_each(
    way: Way, earlier: list[int]
) -> None:
    """A turn takes 1 s to be told, 30 s to stop and 5 s to get Ready, and three take turns."""
    made = NOW - seconds(600)
    pods = ordinals(0, 1, 2, creation_timestamp=made, ready_since=made + seconds(5))
    found = plan([mover(pod, way) for pod in pods], OF_DB)
    assert [each.evict_by for each in found.forced] == [EVICT_BY + seconds(s) for s in earlier]


@pytest.mark.parametrize(("demanded", "earlier"), [([3], -72), ([2], 0), ([2, 2], -72), ([], -72)])
def test_it_does_so_where_no_budget_can_ever_let_it_go(demanded: list[int], earlier: float) -> None:
    """One budget that may allow it later is waited for; under two Kubernetes evicts none."""
    made = NOW - seconds(600)
    pods = ordinals(0, 1, 2, creation_timestamp=made, ready_since=made + seconds(5))
    budgets = [
        builders.budget(f"b{number}", selects={"app": "db"}, demanded=each)
        for number, each in enumerate(demanded)
    ]
    found = plan(by_ordinal(*pods), OF_DB, budgets=budgets)
    assert found.forced[0].evict_by == EVICT_BY + seconds(earlier)


def test_it_does_so_once_its_eviction_was_tried_for_a_few_seconds_since_the_last_turn() -> None:
    """A turn of all three would have to begin before the last one was over."""
    made, back = NOW - seconds(600), NOW + seconds(60)
    slow = ordinals(0, 1, 2, creation_timestamp=made, ready_since=made + seconds(60))
    came = ordinals(3, creation_timestamp=back - seconds(60), ready_since=back, node="n2")
    four = builders.owner(builders.stateful_set(replicas=4))
    found = plan(by_ordinal(*slow), four, others=came, now=back + seconds(2))
    assert found.forced[0].evict_by == back + seconds(5)


def test_as_many_rounds_are_left_as_there_are_of_those_that_go_at_a_time() -> None:
    """Four pods, two at a time, are two turns of 36 s, and the first begins one before the last."""
    made = NOW - seconds(600)
    deployment = builders.deployment(replicas=8, max_surge=0, max_unavailable=2)
    replica_set = builders.replica_set(of=deployment, replicas=8)
    since: dict[str, Any] = {"creation_timestamp": made, "ready_since": made + seconds(5)}
    pods = builders.pods(4, of=replica_set, **since)
    found = plan(
        [mover(pod, Way.RATIONED) for pod in pods],
        builders.owner(replica_set, deployment),
        others=builders.pods(4, of=replica_set, prefix="other", node="n2", **since),
    )
    early = [each.evict_by for each in found.forced]
    assert early == [EVICT_BY - seconds(36)] * 2 + [EVICT_BY] * 2


def test_each_pod_has_its_own_eviction_deadline_when_grace_periods_and_nodes_differ() -> None:
    soon = builders.notice(deadline=NOW + seconds(60))
    pods = [
        mover(builders.pod("slow", grace=300), Way.AT_LAST_MOMENT, soon),
        mover(builders.pod("quick", grace=0), Way.AT_LAST_MOMENT, soon),
        mover(builders.pod("later"), Way.AT_LAST_MOMENT),
    ]
    found = plan(pods, Owner())
    slow, quick, later = soon.deadline - seconds(301), soon.deadline - seconds(1), EVICT_BY
    assert [each.evict_by for each in found.forced] == [slow, quick, later]
    assert [step.until for step in found.steps] == [slow, quick, later]


def test_a_pod_that_its_owner_keeps_to_the_end_is_left_once_that_has_passed() -> None:
    keep = {names.AT_DEADLINE: "leave"}
    movers = [
        mover(builders.pod("kept", annotations=keep), Way.AT_LAST_MOMENT),
        mover(builders.pod("other"), Way.AT_LAST_MOMENT),
    ]
    before = plan(movers, Owner(), now=TRIED_UNTIL - seconds(1))
    after = plan(movers, Owner(), now=TRIED_UNTIL)
    assert forced(before) == ["kept", "other"]
    assert before.due == TRIED_UNTIL
    assert forced(after) == ["other"]
    assert names_of(after.steps, Verb.LEAVE) == ["kept"]
    assert after.due is None


def test_each_pod_that_is_forced_off_leaves_one_less_of_its_workload() -> None:
    replicas = builders.stateful_set(replicas=4)
    failed = builders.pod("db-3", of=replicas, node="good", ready=False)
    pods = ordinals(0, 1, of=replicas)
    others = [*ordinals(2, of=replicas, node="good"), failed]
    found = plan(by_ordinal(*pods), builders.owner(replicas), others=others)
    assert [each.share_remaining for each in found.forced] == [0.5, 0.25]


@pytest.mark.parametrize("is_ready", [True, False])
def test_nothing_is_left_without_the_last_pod(*, is_ready: bool) -> None:
    (each,) = plan(by_ordinal(*ordinals(0, ready=is_ready)), OF_ONE).forced
    assert each.share_remaining == 0


@pytest.mark.parametrize("owner", [Owner(), OF_DB], ids=["bare", "nothing replaces it"])
def test_no_count_gains_by_the_wait_of_a_pod_that_nothing_replaces(owner: Owner) -> None:
    (each,) = plan([mover(builders.pod(), Way.AT_LAST_MOMENT)], owner).forced
    assert each.share_remaining == 1


def test_no_pod_is_missing_from_a_workload_that_is_scaled_to_zero() -> None:
    movers = by_ordinal(*ordinals(0))
    (each,) = plan(movers, builders.owner(builders.stateful_set(replicas=0))).forced
    assert each.share_remaining == 1


def test_no_pod_is_forced_off_a_node_that_may_well_live_on() -> None:
    found = plan(by_ordinal(*ordinals(0, 1, 2), notice=HINT), OF_DB, now=HINT.deadline)
    assert forced(found) == names_of(found.steps) == []
    assert found.evictions == []


def test_a_job_or_a_bare_pod_waits_as_long_as_its_node_lives() -> None:
    found = plan([mover(builders.pod(), Way.AT_LAST_MOMENT, warning=True)], Owner())
    (step,) = found.steps
    assert (step.verb, step.reason, step.until) == (Verb.WAIT, Reason.RECREATE, EVICT_BY)
    assert step.write is None


def test_all_go_at_once_and_within_their_budgets_when_waiting_gains_nothing() -> None:
    deployment = builders.deployment(strategy="Recreate")
    replica_set = builders.replica_set(of=deployment)
    movers = [mover(pod, Way.AT_ONCE) for pod in builders.pods(3, of=replica_set)]

    found = plan(movers, builders.owner(replica_set, deployment))

    assert len(names_of(found.steps)) == 3
    for step in found.steps:
        assert (step.forced, step.warning, step.reason) == (False, False, Reason.RECREATE)
        assert step.workload == deployment.reference
    assert found.due == TRIED_UNTIL


def test_an_eviction_warns_when_its_way_is_worth_a_warning() -> None:
    found = plan([mover(builders.pod(), Way.AT_ONCE, warning=True)], Owner())
    assert found.steps[0].warning


# A ration.


def rationed(
    replicas: int,
    max_unavailable: int | str,
    *,
    doomed: int,
    broken: int = 0,
    elsewhere: int = 0,
    now: datetime = NOW,
) -> Plan:
    """Movers under a ration, the first ``broken`` of them not ready, and healthy peers."""
    deployment = builders.deployment(
        replicas=replicas, max_surge=0, max_unavailable=max_unavailable
    )
    replica_set = builders.replica_set(of=deployment, replicas=replicas)
    pods = [
        *builders.pods(broken, of=replica_set, prefix="broken", ready=False),
        *builders.pods(doomed - broken, of=replica_set, prefix="whole"),
    ]
    return plan(
        [mover(pod, Way.RATIONED) for pod in pods],
        builders.owner(replica_set, deployment),
        others=builders.pods(elsewhere, of=replica_set, prefix="elsewhere", node="n2"),
        now=now,
    )


@pytest.mark.parametrize(
    ("replicas", "max_unavailable", "doomed", "elsewhere", "turns"),
    [
        (4, 1, 4, 0, 1),
        (4, 0, 4, 0, 1),
        (4, "0%", 4, 0, 1),
        (4, "25%", 4, 0, 1),
        (7, "25%", 7, 0, 1),
        (8, "25%", 8, 0, 2),
        (8, 3, 8, 0, 3),
        (8, 3, 2, 6, 2),
        (8, 3, 2, 4, 1),
        (8, 3, 2, 3, 0),
        (8, 3, 2, 0, 0),
        (2, 1, 2, 3, 0),
        (4, 2, 2, 3, 0),
    ],
)
def test_no_more_than_max_unavailable_are_gone_at_a_time_but_always_one(
    replicas: int, max_unavailable: int | str, doomed: int, elsewhere: int, turns: int
) -> None:
    found = rationed(replicas, max_unavailable, doomed=doomed, elsewhere=elsewhere)
    assert len(names_of(found.evictions)) == turns
    assert len(names_of(found.steps, Verb.WAIT)) == doomed - turns
    assert found.due is not None
    assert NOW < found.due <= TRIED_UNTIL


def test_a_turn_rests_on_a_fresh_read_and_says_how_many_are_missing() -> None:
    found = rationed(8, 3, doomed=2, elsewhere=5)
    for step in found.evictions:
        assert (step.reason, step.forced) == (Reason.RECREATE, False)
        assert step.message == "its turn: 1 of 8 are missing"
        assert isinstance(step.write, Evict)


def test_no_available_pod_goes_while_the_controller_may_take_one_away() -> None:
    found = rationed(6, 1, doomed=3, broken=1, elsewhere=4)
    assert names_of(found.evictions) == ["broken-0"]
    (step,) = found.evictions
    assert step.message == "its turn: 1 of 6 are missing"


def test_a_pod_that_is_not_available_goes_first_for_it_costs_nothing() -> None:
    found = rationed(4, 1, doomed=4, broken=2)
    assert names_of(found.evictions) == ["broken-0", "broken-1"]
    assert names_of(found.steps, Verb.WAIT) == ["whole-0", "whole-1"]


def test_a_pod_that_runs_but_not_for_min_ready_seconds_counts_as_missing() -> None:
    replica_set = builders.replica_set(replicas=2, min_ready_seconds=10)
    whole = builders.pod("whole", of=replica_set)
    young = builders.pod("young", of=replica_set, node="n2", ready_since=NOW - seconds(9))
    movers = [mover(whole, Way.RATIONED)]
    owner = builders.owner(replica_set)
    assert names_of(plan(movers, owner, others=[young]).evictions) == []
    later = plan(movers, owner, others=[young], now=NOW + seconds(1))
    assert names_of(later.evictions) == ["whole"]


def test_the_earliest_deadline_goes_first_under_a_ration() -> None:
    replica_set = builders.replica_set(replicas=2)
    first, second = builders.pods(2, of=replica_set)
    soon = builders.notice(deadline=WARNING.deadline - seconds(10))
    movers = [mover(first, Way.RATIONED), mover(second, Way.RATIONED, soon)]
    found = plan(movers, builders.owner(replica_set))
    assert names_of(found.evictions) == [second.name]


@given(
    replicas=st.integers(1, 12),
    most=st.integers(0, 5),
    doomed=st.integers(0, 12),
    broken=st.integers(0, 12),
    elsewhere=st.integers(0, 12),
)
def test_a_ration_never_takes_a_workload_below_its_bound(
    replicas: int, most: int, doomed: int, broken: int, elsewhere: int
) -> None:
    """Nor, where one is broken and holds nobody up, below a majority."""
    broken = min(broken, doomed)
    found = rationed(replicas, most, doomed=doomed, broken=broken, elsewhere=elsewhere)
    available = doomed - broken + elsewhere
    taken = sum(name.startswith("whole") for name in names_of(found.evictions))
    bound = replicas - max(1, most)
    assert available - taken >= min(available, bound, replicas // 2 + 1 if broken else bound)


# A StatefulSet.


def test_the_highest_ordinal_goes_first_and_the_others_wait() -> None:
    found = plan(by_ordinal(*ordinals(0, 1, 2)), OF_DB)
    assert names_of(found.evictions) == ["db-2"]
    assert names_of(found.steps, Verb.WAIT) == ["db-0", "db-1"]
    assert found.due == TRIED_UNTIL


def test_ordinals_count_as_numbers_and_not_as_text() -> None:
    large = builders.stateful_set(replicas=11)
    movers = by_ordinal(*ordinals(*range(11), of=large))
    assert names_of(plan(movers, builders.owner(large)).evictions) == ["db-10"]


@pytest.mark.parametrize(
    "others",
    [
        [],
        ordinals(2, node="n2", ready=False),
        ordinals(2, node="", ready=False),
        ordinals(2, node="n2", leaving=True),
    ],
    ids=["evicted, not made again", "made again, not ready", "not scheduled", "leaving"],
)
def test_the_next_ordinal_waits_until_the_last_is_available_again(others: list[Pod]) -> None:
    found = plan(by_ordinal(*ordinals(0, 1)), OF_DB, others=others)
    assert found.evictions == []
    assert names_of(found.steps, Verb.WAIT) == ["db-0", "db-1"]


def test_the_next_ordinal_goes_when_the_last_is_available_again() -> None:
    found = plan(by_ordinal(*ordinals(0, 1)), OF_DB, others=ordinals(2, node="n2"))
    assert names_of(found.evictions) == ["db-1"]


def test_an_ordinal_counts_after_min_ready_seconds_and_that_moment_is_due() -> None:
    slow = builders.stateful_set(min_ready_seconds=10)
    back = ordinals(2, of=slow, node="n2", ready_since=NOW - seconds(5))
    movers, owner = by_ordinal(*ordinals(0, 1, of=slow)), builders.owner(slow)
    early = plan(movers, owner, others=back)
    later = plan(movers, owner, others=back, now=NOW + seconds(5))
    assert (early.evictions, early.due) == ([], NOW + seconds(5))
    assert (names_of(later.evictions), later.due) == (["db-1"], TRIED_UNTIL)


def test_the_highest_broken_ordinal_goes_alone_and_before_any_that_works() -> None:
    broken, whole = ordinals(0, 1, ready=False), ordinals(2)
    found = plan(by_ordinal(*broken, *whole), OF_DB)
    assert names_of(found.evictions) == ["db-1"]


def test_the_earliest_deadline_goes_before_a_higher_ordinal() -> None:
    soon = builders.notice(deadline=WARNING.deadline - seconds(10))
    low, high = ordinals(0, 2)
    movers = [*by_ordinal(high), *by_ordinal(low, notice=soon)]
    assert names_of(plan(movers, OF_DB, others=ordinals(1, node="n2")).evictions) == ["db-0"]


def test_a_set_without_a_controller_is_as_large_as_its_pods_are_many() -> None:
    owner = Owner(kind="StatefulSet")
    assert names_of(plan(by_ordinal(*ordinals(0, 1)), owner).evictions) == ["db-1"]
    away = plan(by_ordinal(*ordinals(0)), owner, others=ordinals(1, node="n2", ready=False))
    assert away.evictions == []


# Hints.

TROUBLED = builders.budget(selects={"app": "db"}, min_available=2, healthy=1, demanded=2)
SOUND = builders.budget(selects={"app": "db"}, min_available=2, healthy=3, demanded=2)


def test_ordinals_go_one_at_a_time_for_a_hint_too() -> None:
    found = plan(by_ordinal(*ordinals(0, 1, 2), notice=HINT), OF_DB, budgets=[SOUND])
    assert names_of(found.evictions) == ["db-2"]
    assert found.due == HINT.deadline
    assert {step.until for step in found.steps} == {HINT.deadline}


def test_no_pod_goes_for_a_hint_when_a_budget_holds() -> None:
    hinted = plan(by_ordinal(*ordinals(0, 1, 2), notice=HINT), OF_DB, budgets=[TROUBLED])
    warned = plan(by_ordinal(*ordinals(0, 1, 2)), OF_DB, budgets=[TROUBLED])
    assert hinted.evictions == []
    assert names_of(warned.evictions) == ["db-2"]


@pytest.mark.parametrize("late", [0, 1])
def test_no_pod_goes_for_a_hint_that_has_expired(late: int) -> None:
    now = HINT.deadline + seconds(late)
    found = plan(by_ordinal(*ordinals(0, 1, 2), notice=HINT), OF_DB, now=now)
    assert found.evictions == []
    assert len(names_of(found.steps, Verb.WAIT)) == 3
    assert found.due is None


@pytest.mark.parametrize("hinted_first", [True, False])
def test_a_budget_holds_those_of_a_set_under_a_hint_and_no_others(*, hinted_first: bool) -> None:
    warned, hinted = by_ordinal(*ordinals(0)), by_ordinal(*ordinals(2), notice=HINT)
    movers = [*hinted, *warned] if hinted_first else [*warned, *hinted]
    found = plan(movers, OF_DB, others=ordinals(1, node="n2"), budgets=[TROUBLED])
    assert names_of(found.evictions) == ["db-0"]


def test_a_node_that_dies_comes_before_a_hint_that_expires_sooner() -> None:
    expiring = builders.hint(deadline=NOW + seconds(10))
    warned, hinted = by_ordinal(*ordinals(0)), by_ordinal(*ordinals(2), notice=expiring)
    found = plan([*hinted, *warned], OF_DB, others=ordinals(1, node="n2"))
    assert names_of(found.evictions) == ["db-0"]
    assert found.due == expiring.deadline


@pytest.mark.parametrize(
    ("kind", "forced"), [(NoticeKind.STATE_CHANGE, True), (NoticeKind.REBALANCE, False)]
)
def test_a_movers_deadline_is_that_of_its_nodes_notice(kind: NoticeKind, *, forced: bool) -> None:
    given = builders.notice(kind)
    moving = mover(builders.pod(), Way.AT_ONCE, given)
    assert moving.deadline == Deadline(given.deadline, forced=forced)


@pytest.mark.parametrize(("together", "earlier"), [(50, -49), (300, 0)])
def test_a_mover_of_a_gang_goes_with_that_and_never_later_than_by_itself(
    together: float, earlier: float
) -> None:
    given = builders.notice(deadline=NOW + seconds(120))
    moving = mover(builders.pod(grace=20), Way.AT_LAST_MOMENT, given)
    assert moving.evict_by == NOW + seconds(99)
    in_gang = msgspec.structs.replace(moving, together=NOW + seconds(together))
    assert in_gang.evict_by == moving.evict_by + seconds(earlier)


def test_nothing_is_decided_when_no_pod_has_to_move() -> None:
    assert plan([], OF_DB, others=ordinals(0, 1, 2)) == Plan(
        steps=[], evictions=[], candidates=[], forced=[]
    )


def test_the_work_for_pods_that_go_in_turns_grows_with_their_number_alone() -> None:
    """A maxUnavailable of 100 % gives all of them their turn at once."""

    def effort(number: int) -> int:
        deployment = builders.deployment(replicas=number, max_unavailable="100%")
        replica_set = builders.replica_set(of=deployment, replicas=number)
        pods = builders.pods(number, of=replica_set)
        movers = [mover(pod, Way.RATIONED) for pod in pods]
        with measured() as effort:
            made = plan(movers, builders.owner(replica_set, deployment))
        assert len(made.evictions) == number
        return effort.steps

    assert effort(400) < 12 * effort(40)
