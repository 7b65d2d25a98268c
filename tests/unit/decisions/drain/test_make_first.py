"""A ReplicaSet's pods are released, evicted, rolled back, or wait, each for a reason."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.drain import agenda, writes
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.deadlines import node_deadline
from evenkeel.decisions.drain.movers import MovingPod
from evenkeel.decisions.drain.plan import Plan, plan
from evenkeel.decisions.drain.refusal import tried_until
from evenkeel.model import names
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import Condition
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool
from evenkeel.model.release import COOLDOWN_FIRST, LONGEST_RELEASE, Cooldown, ReleaseReason
from evenkeel.model.request import Delete, Evict
from evenkeel.model.way import Way
from tests.kit import builders
from tests.kit.builders import NOW, patched, seconds
from tests.kit.effort import measured

WARNING, HINT = builders.notice(), builders.hint()
DYING, HINTED = {"n1": WARNING}, {"n1": HINT}
EVICT_BY = WARNING.deadline - seconds(31)
TRIED_UNTIL = tried_until(node_deadline(WARNING))
SECOND = seconds(1)

INTERRUPTION, REBALANCE = ReleaseReason.INTERRUPTION, ReleaseReason.REBALANCE


class Scene:
    """One ReplicaSet under a Deployment; pods are on n1 unless told otherwise."""

    def __init__(  # what matters in a test is said by name
        self,
        dooms: Mapping[str, NodeNotice] = DYING,
        *,
        replicas: int = 1,
        failure: str = "",
        annotations: Mapping[str, str] | None = None,
        min_ready_seconds: int = 0,
        lost: Sequence[str] = (),
    ) -> None:
        self.dooms, self.lost = dooms, lost
        self.deployment: Deployment | None = builders.deployment(annotations=annotations)
        self.replica_set: ReplicaSet | None = builders.replica_set(
            of=self.deployment,
            replicas=replicas,
            failure=failure,
            min_ready_seconds=min_ready_seconds,
        )
        self._origin = self.replica_set
        self._owned: list[Pod] = []
        self._released: list[Pod] = []
        self._moving: list[MovingPod] = []

    def moving(self, *names: str, **options: Any) -> "Scene":
        """Add owned pods on doomed nodes that go by handover."""
        pods = [builders.pod(name, of=self._origin, **options) for name in names]
        self._owned += pods
        self._moving += [
            builders.moving(pod, Way.HANDOVER, self.dooms[pod.spec.node_name]) for pod in pods
        ]
        return self

    def elsewhere(self, *names: str, **options: Any) -> "Scene":
        """Add owned pods off doomed nodes: replacements and others."""
        of = self._origin
        self._owned += [builders.pod(n, of=of, **({"node": "good"} | options)) for n in names]
        return self

    def away(
        self,
        *names: str,
        reason: ReleaseReason = INTERRUPTION,
        deadline: datetime | None = None,
        wanted: int | None = None,
        since: datetime = NOW,
        avoid: tuple[Pool, ...] = (),
        **options: Any,
    ) -> "Scene":
        """Add released pods."""
        release = builders.release(
            self._origin, reason=reason, deadline=deadline, wanted=wanted, since=since, avoid=avoid
        )
        of = self._origin
        self._released += [builders.pod(n, of=of, released=release, **options) for n in names]
        return self

    def census(self, now: datetime = NOW, budgets: Sequence[PodDisruptionBudget] = ()) -> Census:
        return builders.census(
            self.replica_set,
            deployment=self.deployment,
            owned=self._owned,
            released=self._released,
            dooms=self.dooms,
            lost=self.lost,
            moving=self._moving,
            budgets=budgets,
            now=now,
        )

    def plan(self, now: datetime = NOW, *, budgets: Sequence[PodDisruptionBudget] = ()) -> Plan:
        return plan(self.census(now, budgets))


def landed_at(after: float) -> Condition:
    """When the scheduler gave a pod its node."""
    at = NOW + seconds(after)
    return Condition(type="PodScheduled", status="True", last_transition_time=at)


def told(decisions: Sequence[Decision]) -> list[tuple[str, Verb, str]]:
    return [(each.subject.name, each.verb, each.reason) for each in decisions]


def forced(found: Plan) -> list[str]:
    """The pods that are evicted by force, each by its eviction deadline."""
    return [each.pod.name for each in found.forced]


def lefts(found: Plan) -> dict[str, float]:
    """What serves on of the workload once a pod is gone that is evicted by force."""
    return {each.pod.name: each.share_remaining for each in found.forced}


def begun(found: Plan, at: datetime) -> list[tuple[str, Verb, str]]:
    """What the agenda has for the pods at a time, were each the only one."""
    return told([slot.step(at) for slot in agenda.alone(found.forced) if slot.is_due(at)])


def candidates(found: Plan) -> list[str]:
    return [each.pod.name for each in found.candidates]


PENDING: dict[str, Any] = {"node": "", "ready": False}
STARTING: dict[str, Any] = {"node": "good", "ready": False}


# From release to eviction.


@pytest.mark.parametrize("dooms", [DYING, HINTED], ids=["warning", "hint"])
def test_a_pod_on_a_doomed_node_waits_for_its_turn_to_be_released(
    dooms: Mapping[str, NodeNotice],
) -> None:
    found = Scene(dooms, replicas=2).moving("a").elsewhere("b").plan()
    assert candidates(found) == ["a"]
    assert found.candidates[0].deadline.at == dooms["n1"].deadline
    assert found.candidates[0].deadline.forced is (dooms is DYING)


def test_no_release_is_planned_for_longer_than_one_is_believed() -> None:
    """A notice of a time that its sender's clock had wrong by days."""
    notice = builders.notice(deadline=NOW + timedelta(days=3))
    found = Scene({"n1": notice}).moving("a").plan()
    assert found.candidates[0].deadline.at == NOW + LONGEST_RELEASE
    assert (found.steps, found.evictions) == ([], [])


def refused(message: str) -> tuple[Condition]:
    """What the scheduler says of a pod for which it found no node."""
    return (
        Condition(type="PodScheduled", status="False", reason="Unschedulable", message=message),
    )


def test_a_released_pod_whose_replacement_finds_no_node_says_so() -> None:
    scene = Scene(DYING).away("a", reason=INTERRUPTION)
    found = scene.elsewhere("new", node="", ready=False, conditions=refused("0/3 nodes fit")).plan()
    assert told(found.steps) == [("a", Verb.WAIT, "NoPlace")]
    assert found.steps[0].message == "no place for its replacement: 0/3 nodes fit"
    assert (found.steps[0].until, found.due) == (EVICT_BY, TRIED_UNTIL)


@pytest.mark.parametrize(
    ("of_one", "of_other", "reason"),
    [
        ({}, {}, "ReplacementPending"),
        ({}, {"conditions": refused("0/3")}, "NoPlace"),
        ({"conditions": refused("0/3")}, {"node": "good"}, "ReplacementPending"),
    ],
    ids=["none looked at", "one not looked at yet", "one has a node"],
)
def test_it_says_so_if_the_scheduler_has_a_node_for_none_of_the_missing_pods(
    of_one: dict[str, Any], of_other: dict[str, Any], reason: str
) -> None:
    scene = Scene(DYING).away("a", reason=INTERRUPTION)
    for name, said in (("one", of_one), ("other", of_other)):
        scene.elsewhere(name, **({"node": "", "ready": False} | said))
    assert told(scene.plan().steps) == [("a", Verb.WAIT, reason)]


def test_it_says_so_if_the_replacement_does_not_start() -> None:
    scene = Scene(DYING).away("a", reason=INTERRUPTION)
    found = scene.elsewhere("new", ready=False, waiting="ImagePullBackOff").plan()
    assert told(found.steps) == [("a", Verb.WAIT, "ReplacementFails")]
    assert found.steps[0].why is not None
    assert found.steps[0].why.cause == "its replacement does not start: ImagePullBackOff"


@pytest.mark.parametrize(
    ("made_ago", "told_ago", "node", "waiting", "is_deleted"),
    [
        (9, 1, "good", "CrashLoopBackOff", True),
        (9, None, "good", "CrashLoopBackOff", False),
        (1, 1, "good", "CrashLoopBackOff", False),
        (9, 1, "n1", "CrashLoopBackOff", False),
        (9, 1, "good", "ImagePullBackOff", False),
    ],
    ids=["told", "not told", "made since", "on a dying node", "no crash"],
)
def test_a_replacement_that_crashes_beside_a_pod_goes_when_that_is_told_to_go(
    made_ago: float, told_ago: float | None, node: str, waiting: str, *, is_deleted: bool
) -> None:
    replica_set = builders.replica_set(of=builders.deployment())
    made = NOW - seconds(made_ago)
    new = builders.pod(
        of=replica_set, node=node, ready=False, waiting=waiting, creation_timestamp=made
    )
    told_first = None if told_ago is None else NOW - seconds(told_ago)
    census = builders.census(replica_set, owned=[new], dooms=DYING)
    census = msgspec.structs.replace(census, told_first=told_first)
    steps = plan(census).steps
    expected = [(new.name, Verb.DELETE, "CrashedBeside")] if is_deleted else []
    assert [each for each in told(steps) if each[1] is Verb.DELETE] == expected


@pytest.mark.parametrize("replacement", [PENDING, STARTING, {"leaving": True}], ids=str)
@pytest.mark.parametrize("dooms", [DYING, HINTED], ids=["warning", "hint"])
def test_a_released_pod_waits_while_its_replacement_is_not_available(
    dooms: Mapping[str, NodeNotice], replacement: dict[str, Any]
) -> None:
    reason = INTERRUPTION if dooms is DYING else REBALANCE
    found = Scene(dooms).away("a", reason=reason).elsewhere("new", **replacement).plan()
    assert told(found.steps) == [("a", Verb.WAIT, "ReplacementPending")]
    assert found.steps[0].message == "1 available, 1 wanted"
    assert found.steps[0].until == (EVICT_BY if dooms is DYING else HINT.deadline)
    assert found.due == (TRIED_UNTIL if dooms is DYING else HINT.deadline)
    assert found.evictions == []


@pytest.mark.parametrize("dooms", [DYING, HINTED], ids=["warning", "hint"])
def test_a_released_pod_is_evicted_on_a_fresh_read_once_its_replacement_is_available(
    dooms: Mapping[str, NodeNotice],
) -> None:
    reason = INTERRUPTION if dooms is DYING else REBALANCE
    found = Scene(dooms).away("a", reason=reason).elsewhere("new").plan()
    assert told(found.evictions) == [("a", Verb.EVICT, "ReplacementAvailable")]
    assert found.steps == []
    (step,) = found.evictions
    assert step.write == Evict(name="a", namespace="default", uid="a-uid")
    assert (step.forced, step.warning, step.node) == (False, False, "n1")
    assert step.workload is not None
    assert step.workload.kind == "Deployment"
    assert step.message == "2 available, 1 wanted: it can go"
    assert found.due == (TRIED_UNTIL if dooms is DYING else HINT.deadline)


def test_a_replacement_counts_only_after_min_ready_seconds_and_that_moment_is_due() -> None:
    scene = Scene(min_ready_seconds=10).away("a").elsewhere("new", ready_since=NOW - seconds(4))
    early, late = scene.plan(), scene.plan(NOW + seconds(6))
    assert told(early.steps) == [("a", Verb.WAIT, "ReplacementPending")]
    assert early.due == NOW + seconds(6)
    assert told(late.evictions) == [("a", Verb.EVICT, "ReplacementAvailable")]


def test_only_as_many_go_as_were_replaced() -> None:
    scene = Scene(replicas=3).away("a", "b", "c").elsewhere("x").elsewhere("y", "z", **PENDING)
    found = scene.plan()
    assert told(found.evictions) == [("a", Verb.EVICT, "ReplacementAvailable")]
    assert told(found.steps) == [
        ("b", Verb.WAIT, "ReplacementPending"),
        ("c", Verb.WAIT, "ReplacementPending"),
    ]


def test_a_replacement_on_another_doomed_node_is_handed_over_in_its_turn() -> None:
    dooms = {"n1": WARNING, "n2": builders.notice(deadline=WARNING.deadline + seconds(60))}
    found = Scene(dooms).away("a").moving("new", node="n2").plan()
    assert told(found.evictions) == [("a", Verb.EVICT, "ReplacementAvailable")]
    assert candidates(found) == ["new"]


def test_no_pod_is_evicted_for_one_that_a_second_drainer_evicted() -> None:
    found = Scene(replicas=2).away("a", wanted=2).elsewhere("x").elsewhere("y", **PENDING).plan()
    assert found.evictions == []


@pytest.mark.parametrize(
    ("replicas", "going"), [(3, ["a"]), (2, ["a", "b"]), (1, ["a", "b", "c"]), (9, ["a"])]
)
def test_a_scale_in_meanwhile_lets_more_go_and_a_scale_out_holds_no_pod(
    replicas: int, going: list[str]
) -> None:
    scene = Scene(replicas=replicas).away("a", "b", "c", wanted=3).elsewhere("x")
    assert [name for name, _, _ in told(scene.plan().evictions)] == going


# The last moment.


def test_a_released_pod_is_forced_off_by_its_eviction_deadline_replacement_or_not() -> None:
    found = Scene().away("a").elsewhere("new", **PENDING).plan()
    (each,) = found.forced
    assert (each.evict_by, each.is_replaced, each.first) == (EVICT_BY, False, None)
    assert begun(found, EVICT_BY - SECOND) == []
    assert begun(found, EVICT_BY) == [("a", Verb.EVICT, "LastMoment")]
    step = each.eviction()
    assert (step.forced, step.warning, step.node) == (True, True, "n1")
    assert step.workload is not None
    assert step.workload.kind == "Deployment"
    assert step.write == Evict(name="a", namespace="default", uid="a-uid")


def test_a_replaced_pod_that_a_budget_keeps_is_forced_off_too_and_is_worth_no_warning() -> None:
    found = Scene().away("a").elsewhere("new").plan()
    assert told(found.evictions) == [("a", Verb.EVICT, "ReplacementAvailable")]
    (each,) = found.forced
    assert (each.evict_by, each.is_replaced) == (EVICT_BY, True)
    assert not each.eviction().warning


def test_a_pod_that_was_never_released_is_forced_off_by_its_eviction_deadline() -> None:
    found = Scene(replicas=2).moving("a", "b").plan()
    assert begun(found, EVICT_BY) == [
        ("a", Verb.EVICT, "LastMoment"),
        ("b", Verb.EVICT, "LastMoment"),
    ]


def test_no_pod_is_forced_off_a_node_that_may_well_live_on() -> None:
    scene = Scene(HINTED, replicas=2).moving("a").away("b", reason=REBALANCE)
    assert forced(scene.plan()) == forced(scene.plan(HINT.deadline)) == []


def test_what_a_plan_decides_for_now_is_never_forced() -> None:
    scene = Scene(replicas=2).moving("a").away("b", "c").elsewhere("new")
    for now in (NOW, EVICT_BY, WARNING.deadline, TRIED_UNTIL):
        found = scene.plan(now)
        assert not any(step.forced for step in [*found.steps, *found.evictions])
        assert sorted(forced(found)) == ["a", "b", "c"]


def test_a_pod_that_its_owner_keeps_to_the_end_is_left_or_put_back_once_that_has_passed() -> None:
    keep = {names.AT_DEADLINE: "leave"}
    scene = Scene(replicas=3).moving("a", annotations=keep).away("b", annotations=keep).moving("c")
    before, after = scene.plan(TRIED_UNTIL - SECOND), scene.plan(TRIED_UNTIL)
    assert forced(before) == ["b", "a", "c"]
    assert before.due == TRIED_UNTIL
    assert forced(after) == candidates(after) == ["c"]
    assert sorted(told(after.steps)) == [
        ("a", Verb.LEAVE, "AtDeadlineLeave"),
        ("b", Verb.ROLL_BACK, "AtDeadlineLeave"),
    ]
    assert after.due is None


def test_each_pod_that_has_no_replacement_leaves_one_less_of_its_workload() -> None:
    """The released before the others, whose replacements are not asked for yet."""
    scene = Scene(replicas=4).moving("a", "b").away("c").elsewhere("new")
    found = scene.plan()
    assert lefts(found) == {"c": 0.75, "a": 0.5, "b": 0.25}


def test_a_pod_with_a_replacement_leaves_all_that_is_there() -> None:
    scene = Scene(replicas=4).moving("a").away("b", "c").elsewhere("new", "other")
    found = scene.plan()
    assert lefts(found) == {"b": 1.0, "c": 0.75, "a": 0.5}
    assert [each.is_replaced for each in found.forced] == [True, False, False]


def test_as_many_replacements_come_as_pods_start() -> None:
    scene = (
        Scene(replicas=3)
        .away("a", "b")
        .moving("c")
        .elsewhere("x", "y", creation_timestamp=NOW, **STARTING)
    )
    assert [each.is_coming for each in scene.plan().forced] == [True, True, False]


def test_a_pod_whose_node_dies_later_leaves_less_than_those_whose_nodes_die_first() -> None:
    later = builders.notice(deadline=WARNING.deadline + seconds(5))
    scene = Scene({"n1": WARNING, "n2": later}, replicas=2)
    scene.moving("a").away("b", node="n2")
    found = scene.plan()
    assert lefts(found) == {"a": 0.5, "b": 0.0}
    assert [each.evict_by for each in found.forced] == [EVICT_BY, EVICT_BY + seconds(5)]


def test_a_pod_that_needs_longer_to_end_goes_first_though_all_nodes_die_at_once() -> None:
    found = Scene(replicas=4).moving("slow", grace=40).away("quick", grace=5).elsewhere("x").plan()
    assert lefts(found) == {"slow": 0.5, "quick": 0.25}
    evict_by = {each.pod.name: each.evict_by for each in found.forced}
    assert evict_by == {"slow": EVICT_BY - seconds(10), "quick": EVICT_BY + seconds(25)}


def test_what_a_mere_hint_is_about_neither_goes_by_force_nor_counts_as_lost() -> None:
    scene = Scene({"n1": WARNING, "n2": HINT}, replicas=4).moving("a").moving("b", node="n2")
    scene.away("c", "d").elsewhere("new", "other")
    assert lefts(scene.plan()) == {"c": 0.75, "d": 0.75, "a": 0.5}


def test_a_lost_pod_is_not_forced_off_a_node_that_is_gone() -> None:
    found = Scene(replicas=2, lost=["n1"]).away("a").elsewhere("b").plan()
    assert told(found.steps) == [("a", Verb.DELETE, "NodeGone")]
    assert forced(found) == []


@pytest.mark.parametrize("dooms", [DYING, HINTED])
@pytest.mark.parametrize(("landed", "stays"), [(1, 2), (2, 2), (10, 10), (25, 25)])
def test_a_pod_landed_after_the_cordon_stays_as_long_as_the_node_was_drained_before(
    dooms: Mapping[str, NodeNotice], landed: int, stays: int
) -> None:
    scene = Scene(dooms).moving("a", conditions=[landed_at(landed)])
    settled = NOW + seconds(landed + stays)
    before = scene.plan(settled - seconds(0.1))
    assert told(before.steps) == [("a", Verb.WAIT, "LandedAfterCordon")]
    assert (before.steps[0].until, before.due) == (settled, settled)
    assert candidates(before) == []
    assert candidates(scene.plan(settled)) == ["a"]


def test_a_pod_that_landed_late_is_still_tried_when_half_the_time_is_over() -> None:
    scene = Scene().moving("a", conditions=[landed_at(69)])
    assert NOW + seconds(89) == EVICT_BY
    before = scene.plan(NOW + seconds(78.9))
    assert (before.steps[0].until, before.due) == (NOW + seconds(79), NOW + seconds(79))
    assert candidates(scene.plan(NOW + seconds(79))) == ["a"]


@pytest.mark.parametrize("landed", [88, 100])
def test_a_pod_that_landed_shortly_before_its_eviction_waits_for_that(
    landed: int,
) -> None:
    """A budget may refuse the eviction for longer than the pod takes to settle."""
    scene = Scene().moving("a", conditions=[landed_at(landed)])
    settled = NOW + seconds(landed + 2)
    waiting = scene.plan(NOW + seconds(landed + 1))
    assert told(waiting.steps) == [("a", Verb.WAIT, "LandedAfterCordon")]
    assert (waiting.steps[0].until, waiting.due) == (EVICT_BY, settled)
    assert forced(waiting) == ["a"]
    assert (candidates(scene.plan(settled)), scene.plan(settled).due) == (["a"], TRIED_UNTIL)


def test_a_pod_that_was_there_before_the_cordon_need_not_settle() -> None:
    assert candidates(Scene().moving("a", conditions=[landed_at(0)]).plan()) == ["a"]
    assert candidates(Scene().moving("a", creation_timestamp=None).plan()) == ["a"]
    noted = {"n1": builders.notice(cordoned=False)}
    assert candidates(Scene(noted).moving("a", conditions=[landed_at(5)]).plan()) == ["a"]


def test_a_warning_after_a_hint_begins_again() -> None:
    """It landed on a node that was cordoned for a hint; now the node dies."""
    warned = builders.notice(cordoned_at=NOW - seconds(300))
    found = Scene({"n1": warned}).moving("a", conditions=[landed_at(-100)]).plan()
    assert candidates(found) == ["a"]


def test_those_that_can_go_stand_in_the_order_in_which_they_go() -> None:
    first, later = NOW - seconds(20), NOW - seconds(5)
    scene = Scene(replicas=2).elsewhere("n1", "n2").away("a", since=later).away("z", since=first)
    steps = scene.plan().evictions
    assert [step.subject.name for step in steps] == ["z", "a"]


def test_a_replaced_pod_that_its_owner_keeps_to_the_end_is_left() -> None:
    scene = Scene().away("a", annotations={names.AT_DEADLINE: "leave"}).elsewhere("b")
    assert told(scene.plan(TRIED_UNTIL - SECOND).evictions)[0][1] is Verb.EVICT
    found = scene.plan(TRIED_UNTIL)
    assert forced(found) == []
    assert told(found.steps) == [("a", Verb.ROLL_BACK, "AtDeadlineLeave")]


# No replacement can be made: a quota, or an admission that refuses pods.

REFUSAL = "maximum cpu usage per Container is 1"


def test_a_released_pod_is_put_back_shortly_before_its_eviction_when_none_can_be_made() -> None:
    scene = Scene(failure=REFUSAL).away("a")
    back = EVICT_BY - seconds(4)
    found = scene.plan()

    assert told(found.steps) == [("a", Verb.WAIT, "ReplacementPending")]
    assert begun(found, back - SECOND) == []
    assert begun(found, back) == [("a", Verb.ROLL_BACK, "CannotBeReplaced")]
    assert begun(found, EVICT_BY) == [("a", Verb.EVICT, "LastMoment")]
    step = found.forced[0].first
    assert step is not None
    assert REFUSAL in step.message
    assert step.warning
    away = scene.census().released[0].pod
    assert not patched(away, step.write).released


@pytest.mark.parametrize(
    "scene",
    [
        Scene(failure=REFUSAL).moving("owned"),
        Scene(failure=REFUSAL).away("replaced").elsewhere("new"),
        Scene().away("waiting"),
    ],
    ids=["owned", "replaced", "one can be made"],
)
def test_no_other_pod_is_put_back_nor_is_anything_due_before_its_eviction(scene: Scene) -> None:
    (slot,) = agenda.alone(scene.plan().forced)
    assert not slot.is_due(EVICT_BY - SECOND)
    assert slot.first_at == EVICT_BY


def test_the_work_for_released_pods_that_go_back_grows_with_their_number_alone() -> None:
    def effort(number: int) -> int:
        scene = Scene(replicas=number, failure=REFUSAL).away(*(f"a{i}" for i in range(number)))
        with measured() as effort:
            found = scene.plan()
        assert len(found.forced) == number
        return effort.steps

    assert effort(400) < 12 * effort(40)


def test_no_further_pod_is_released_when_one_release_showed_that_none_can_be_made() -> None:
    found = Scene(failure=REFUSAL, replicas=2).away("a").moving("b").plan()
    assert told(found.steps) == [
        ("a", Verb.WAIT, "ReplacementPending"),
        ("b", Verb.WAIT, "CannotBeReplaced"),
    ]
    assert found.steps[1].until == EVICT_BY
    assert REFUSAL in found.steps[1].message
    assert candidates(found) == []
    assert found.due == TRIED_UNTIL


def test_a_voluntary_release_is_rolled_back_at_once_when_no_replacement_can_be_made() -> None:
    found = Scene(HINTED, failure=REFUSAL).away("a", reason=REBALANCE).plan()
    assert told(found.steps) == [
        ("a", Verb.ROLL_BACK, "CannotBeReplaced"),
        ("web", Verb.COOL_DOWN, "HandoverRolledBack"),
    ]
    assert REFUSAL in found.steps[0].message


def test_no_pod_is_released_for_a_hint_when_no_replacement_can_be_made() -> None:
    found = Scene(HINTED, failure=REFUSAL).moving("a").plan()
    assert told(found.steps) == [("a", Verb.LEAVE, "CannotBeReplaced")]
    assert found.steps[0].message == f"no replacement can be made ({REFUSAL})"


# Voluntary moves.


@pytest.mark.parametrize("late", [timedelta(), seconds(600)])
@pytest.mark.parametrize("replacement", [PENDING, STARTING, {"node": "good"}], ids=str)
def test_a_voluntary_handover_that_is_not_complete_by_its_deadline_is_rolled_back(
    replacement: dict[str, Any], late: timedelta
) -> None:
    scene = Scene(HINTED).away("a", reason=REBALANCE).elsewhere("new", **replacement)
    found = scene.plan(HINT.deadline + late)
    assert told(found.steps) == [
        ("a", Verb.ROLL_BACK, "DeadlinePassed"),
        ("web", Verb.COOL_DOWN, "HandoverRolledBack"),
    ]
    assert found.steps[0].warning
    assert found.evictions == []
    assert found.due is None


@pytest.mark.parametrize(
    ("reason", "key"),
    [
        (REBALANCE, names.COOLDOWN),
        (ReleaseReason.RESTORE, names.COOLDOWN),
        (ReleaseReason.EVICTION, names.EVICTION_COOLDOWN),
    ],
)
def test_a_workload_rests_from_such_handovers_as_the_one_that_was_rolled_back(
    reason: ReleaseReason, key: str
) -> None:
    scene = Scene(HINTED).away("a", "b", reason=reason, deadline=NOW)
    found = scene.plan()
    cool_downs = [step for step in found.steps if step.verb is Verb.COOL_DOWN]
    (cool_down,) = cool_downs
    assert scene.deployment is not None
    rested = patched(scene.deployment, cool_down.write)
    assert writes.cooldown_of(rested, key) == Cooldown(failures=1, until=NOW + COOLDOWN_FIRST)
    assert set(rested.metadata.annotations) == {*scene.deployment.metadata.annotations, key}
    assert cool_down.workload == scene.deployment.reference


def test_after_a_move_to_another_pool_was_rolled_back_only_such_moves_rest() -> None:
    def away(scene: Scene, name: str, **options: Any) -> Scene:
        return scene.away(name, reason=ReleaseReason.RESTORE, deadline=NOW, **options)

    def rested(scene: Scene) -> Deployment:
        assert scene.deployment is not None
        (cool_down,) = (step for step in scene.plan().steps if step.verb is Verb.COOL_DOWN)
        return patched(scene.deployment, cool_down.write)

    found = rested(away(Scene(HINTED), "a", avoid=(Pool("m5", "a"),)))
    rest = Cooldown(failures=1, until=NOW + COOLDOWN_FIRST)
    assert writes.cooldown_of(found, names.POOL_COOLDOWN) == rest
    assert writes.cooldown_of(found) is None
    again = Scene(HINTED).moving("b")
    again.deployment = found
    assert candidates(again.plan()) == ["b"]

    both = away(away(Scene(HINTED), "a", avoid=(Pool("m5", "a"),)), "b")
    assert [step.verb for step in both.plan().steps].count(Verb.COOL_DOWN) == 2


def test_a_replica_set_without_a_deployment_rests_itself() -> None:
    scene = Scene(HINTED).away("a", reason=REBALANCE, deadline=NOW).moving("b")
    scene.deployment = None
    cool_down = next(step for step in scene.plan().steps if step.verb is Verb.COOL_DOWN)
    assert scene.replica_set is not None
    assert cool_down.subject == scene.replica_set.reference
    rested = patched(scene.replica_set, cool_down.write)
    again = Scene(HINTED).moving("b")
    again.deployment, again.replica_set = None, rested
    assert told(again.plan().steps) == [("b", Verb.LEAVE, "CoolingDown")]


def test_a_second_rollback_within_the_rest_does_not_prolong_it() -> None:
    resting = builders.cooldown(1, NOW + SECOND)
    scene = Scene(HINTED, annotations=resting).away("a", reason=REBALANCE, deadline=NOW)
    assert told(scene.plan().steps) == [("a", Verb.ROLL_BACK, "DeadlinePassed")]


def test_a_rollback_after_the_rest_makes_the_next_one_longer() -> None:
    rested = builders.cooldown(1, NOW)
    scene = Scene(HINTED, annotations=rested).away("a", reason=REBALANCE, deadline=NOW)
    assert told(scene.plan().steps)[1] == ("web", Verb.COOL_DOWN, "HandoverRolledBack")


@pytest.mark.parametrize("reason", ReleaseReason)
def test_a_released_pod_goes_back_at_its_deadline_when_its_node_lives_after_all(
    reason: ReleaseReason,
) -> None:
    scene = Scene({}).away("a", reason=reason, deadline=NOW + SECOND)
    waiting, back = scene.plan(), scene.plan(NOW + SECOND)
    assert told(waiting.steps) == [("a", Verb.WAIT, "ReplacementPending")]
    assert waiting.due == NOW + SECOND
    assert told(back.steps)[0] == ("a", Verb.ROLL_BACK, "DeadlinePassed")


def test_a_workload_does_not_rest_when_what_was_rolled_back_was_no_voluntary_move() -> None:
    scene = Scene({}).away("a", reason=INTERRUPTION, deadline=NOW)
    assert told(scene.plan().steps) == [("a", Verb.ROLL_BACK, "DeadlinePassed")]
    quota = Scene(failure=REFUSAL).away("a", reason=REBALANCE).plan()
    assert told(quota.steps) == [("a", Verb.WAIT, "ReplacementPending")]
    assert begun(quota, EVICT_BY - SECOND) == [("a", Verb.ROLL_BACK, "CannotBeReplaced")]


@pytest.mark.parametrize("replacement", [PENDING, STARTING, {"node": "good"}], ids=str)
@pytest.mark.parametrize("now", [NOW, WARNING.deadline, WARNING.deadline + seconds(600)])
def test_a_released_pod_is_deleted_and_never_put_back_when_its_node_is_gone(
    replacement: dict[str, Any], now: datetime
) -> None:
    found = Scene({}, lost=["n1"]).away("a").elsewhere("new", **replacement).plan(now)
    assert told(found.steps) == [("a", Verb.DELETE, "NodeGone")]
    assert found.steps[0].write == Delete(kind=Pod, name="a", namespace="default", uid="a-uid")
    assert found.evictions == []


def test_a_pod_that_is_lost_does_not_stand_in_for_one_that_lives() -> None:
    dooms = {"n2": WARNING}
    found = Scene(dooms, replicas=2, lost=["n1"]).away("lost").away("b", node="n2").plan()
    assert told(found.steps) == [
        ("lost", Verb.DELETE, "NodeGone"),
        ("b", Verb.WAIT, "ReplacementPending"),
    ]


def test_a_replaced_pod_goes_when_its_node_is_not_doomed_any_more() -> None:
    found = Scene({}).away("a").elsewhere("new").plan()
    assert told(found.evictions) == [("a", Verb.EVICT, "ReplacementAvailable")]


def test_a_warning_keeps_a_voluntary_release_until_its_eviction() -> None:
    found = Scene(DYING).away("a", reason=REBALANCE).plan()
    assert told(found.steps) == [("a", Verb.WAIT, "ReplacementPending")]
    assert begun(found, EVICT_BY - SECOND) == []
    assert begun(found, EVICT_BY) == [("a", Verb.EVICT, "LastMoment")]


def test_no_pod_is_released_for_a_hint_during_the_workloads_cooldown() -> None:
    until = NOW + seconds(300)
    scene = Scene(HINTED, annotations=builders.cooldown(2, until)).moving("a")
    resting, rested = scene.plan(until - SECOND), scene.plan(until)
    assert told(resting.steps) == [("a", Verb.LEAVE, "CoolingDown")]
    assert "2 handovers were rolled back" in resting.steps[0].message
    assert resting.due == until
    assert candidates(rested) == ["a"]


def test_a_workload_that_rests_is_handed_over_all_the_same_when_its_node_dies() -> None:
    resting = builders.cooldown(2, NOW + seconds(300))
    assert candidates(Scene(DYING, annotations=resting).moving("a").plan()) == ["a"]


@pytest.mark.parametrize(
    ("left", "released"),
    [(seconds(61), True), (seconds(60), False), (-SECOND, False)],
)
def test_no_voluntary_handover_begins_near_its_deadline(left: timedelta, *, released: bool) -> None:
    found = Scene(HINTED).moving("a").plan(HINT.deadline - left)
    assert candidates(found) == (["a"] if released else [])
    assert told(found.steps) == ([] if released else [("a", Verb.LEAVE, "TooLateForHandover")])


def test_when_it_gets_too_late_for_a_voluntary_handover_is_due() -> None:
    assert Scene(HINTED).moving("a").plan().due == HINT.deadline - seconds(60)
    late = Scene(HINTED).moving("a").plan(HINT.deadline - SECOND)
    assert late.due == HINT.deadline
    assert Scene(HINTED).moving("a").plan(HINT.deadline).due is None


SOUND = builders.budget(min_available=1, healthy=3, demanded=1)
TROUBLED = builders.budget(min_available=3, healthy=2, demanded=3)


@pytest.mark.parametrize(
    ("budgets", "held"),
    [([SOUND], False), ([TROUBLED], True), ([SOUND, SOUND], True)],
    ids=["sound", "in trouble", "two"],
)
def test_a_budget_can_hold_back_a_release_for_a_hint_and_never_one_from_a_dying_node(
    budgets: list[PodDisruptionBudget], *, held: bool
) -> None:
    hinted = Scene(HINTED).moving("a").plan(budgets=budgets)
    dying = Scene(DYING).moving("a").plan(budgets=budgets)
    assert told(hinted.steps) == ([("a", Verb.LEAVE, "BudgetHolds")] if held else [])
    assert candidates(hinted) == ([] if held else ["a"])
    assert candidates(dying) == ["a"]


def test_the_message_names_the_budget_that_holds() -> None:
    (step,) = Scene(HINTED).moving("a").plan(budgets=[TROUBLED]).steps
    assert "poddisruptionbudget default/web" in step.message
    assert "2 healthy, 3 demanded" in step.message


def test_each_node_has_its_own_notice_when_a_workload_is_on_several() -> None:
    dooms = {"n1": WARNING, "n2": HINT}
    resting = builders.cooldown(1, NOW + seconds(300))
    scene = Scene(dooms, replicas=2, annotations=resting).moving("a").moving("b", node="n2")
    found = scene.plan()
    assert candidates(found) == ["a"]
    assert told(found.steps) == [("b", Verb.LEAVE, "CoolingDown")]


# The workload goes meanwhile.


def gone(scene: Scene) -> Scene:
    scene.replica_set = None
    return scene


def leaving(scene: Scene) -> Scene:
    scene.replica_set = builders.replica_set(leaving=True)
    return scene


def at_zero(scene: Scene) -> Scene:
    scene.replica_set = builders.replica_set(replicas=0)
    return scene


UNWANTED = pytest.mark.parametrize(
    ("end", "reason"),
    [(gone, "WorkloadDeleted"), (leaving, "WorkloadDeleted"), (at_zero, "ScaledToZero")],
    ids=["gone", "being deleted", "scaled to zero"],
)


@UNWANTED
@pytest.mark.parametrize("dooms", [DYING, HINTED, {}], ids=["dying", "hinted", "no notice"])
def test_a_released_pod_is_deleted_at_once_when_its_workload_is_gone_or_at_zero(
    end: Any, reason: str, dooms: Mapping[str, NodeNotice]
) -> None:
    found = end(Scene(dooms).away("a", "b")).plan()
    assert told(found.evictions) == [("a", Verb.DELETE, reason), ("b", Verb.DELETE, reason)]
    assert ("scaled to zero" in found.evictions[0].message) is (reason == "ScaledToZero")
    assert found.evictions[0].write == Delete(kind=Pod, name="a", namespace="default", uid="a-uid")
    assert (found.steps, found.due) == ([], None)


@UNWANTED
def test_an_unwanted_pod_is_its_controllers_until_its_eviction(end: Any, reason: str) -> None:
    found = end(Scene().moving("a")).plan()
    assert told(found.steps) == [("a", Verb.WAIT, reason)]
    assert (found.steps[0].until, found.due) == (EVICT_BY, TRIED_UNTIL)
    assert begun(found, EVICT_BY) == [("a", Verb.EVICT, "LastMoment")]
    assert lefts(found) == {"a": 1.0}
    assert candidates(found) == []


@UNWANTED
def test_an_unwanted_pod_is_left_where_its_owner_keeps_it_to_the_end(end: Any, reason: str) -> None:
    scene = end(Scene().moving("a", annotations={names.AT_DEADLINE: "leave"}))
    assert told(scene.plan(TRIED_UNTIL - SECOND).steps) == [("a", Verb.WAIT, reason)]
    found = scene.plan(TRIED_UNTIL)
    assert told(found.steps) == [("a", Verb.LEAVE, "AtDeadlineLeave")]
    assert (forced(found), found.due) == ([], None)


@UNWANTED
def test_an_unwanted_owned_pod_is_left_under_a_hint(end: Any, reason: str) -> None:
    found = end(Scene(HINTED).moving("a")).plan(HINT.deadline)
    assert told(found.steps) == [("a", Verb.LEAVE, reason)]
    assert found.due is None


def test_nothing_is_decided_when_no_pod_is_released_or_has_to_move() -> None:
    assert Scene(replicas=2).elsewhere("a", "b").plan() == Plan(
        steps=[], evictions=[], candidates=[], forced=[]
    )


def test_every_decision_names_its_pod_its_workload_its_node_and_a_reason() -> None:
    scene = Scene(replicas=4).away("a", "b").moving("c").elsewhere("x", "y", "z")
    for now in (NOW, EVICT_BY, TRIED_UNTIL):
        found = scene.plan(now)
        for step in [*found.steps, *found.evictions, *(f.eviction() for f in found.forced)]:
            assert step.subject.kind == "Pod"
            assert step.node == "n1"
            assert step.workload is not None
            assert step.reason
            assert step.message
