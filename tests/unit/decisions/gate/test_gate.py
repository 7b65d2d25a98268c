"""An eviction that a drainer asks for passes the gate, or its pod's replacement comes first."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.drain.deadlines import COMES_BACK
from evenkeel.decisions.gate import gate
from evenkeel.decisions.gate.eviction import Allowed, Deferred, Evictor, Verdict
from evenkeel.decisions.gate.gate import SHORTEST_RETRY, GatedPod
from evenkeel.errors import ForbiddenError
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.decision import Verb
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import Condition
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.release import ReleaseReason
from tests.kit import builders
from tests.kit.builders import NOW, apart, patched, release_on, seconds

PATIENCE = timedelta(minutes=5)
KUBECTL = Evictor(username="alice")
DYING, HINTED = {"n1": builders.notice()}, {"n1": builders.hint()}


def web(replicas: int = 2, **options: Any) -> ReplicaSet:
    """A ReplicaSet under a Deployment."""
    return builders.replica_set(
        of=builders.deployment(replicas=replicas), replicas=replicas, **options
    )


def owned(replica_set: ReplicaSet, *pods: str, **options: Any) -> Sequence[Pod]:
    """Pods of the ReplicaSet on n1."""
    return [builders.pod(name, of=replica_set, **options) for name in pods]


def away(
    replica_set: ReplicaSet, *pods: str, since: datetime = NOW, **options: Any
) -> Sequence[Pod]:
    """Pods that the gate released."""
    release = builders.release(
        replica_set,
        reason=ReleaseReason.EVICTION,
        since=since,
        deadline=since + PATIENCE + COMES_BACK,
    )
    return [builders.pod(name, of=replica_set, released=release, **options) for name in pods]


def moved(replica_set: ReplicaSet, **options: Any) -> Pod:
    """A pod that restore released."""
    release = builders.release(
        replica_set, reason=ReleaseReason.RESTORE, deadline=NOW + 3 * PATIENCE, **options
    )
    return builders.pod("a", of=replica_set, released=release)


def rested(until: float) -> Deployment:
    """One that rests until so many seconds from now, and whose pods are soon waited for enough."""
    rest = builders.cooldown(1, NOW + seconds(until), names.EVICTION_COOLDOWN)
    return builders.deployment(annotations={**rest, names.GATE_PATIENCE: "1s"})


def asked(  # what matters in a test is said by name
    replica_set: ReplicaSet,
    pods: Sequence[Pod],
    *,
    about: str = "a",
    dooms: Mapping[str, NodeNotice] | None = None,
    held: Sequence[PodDisruptionBudget] = (),
    has_room: bool = True,
    may_exceed: bool = True,
    waited: timedelta = timedelta(),
    deployment: Deployment | None = None,
    siblings: Sequence[Pod] | None = None,
    now: datetime = NOW,
    settle: timedelta = timedelta(),
    evictor: Evictor = KUBECTL,
) -> Verdict:
    """The verdict about one of the pods."""
    census = builders.census(
        replica_set,
        owned=[pod for pod in pods if not pod.released],
        released=[pod for pod in pods if pod.released],
        dooms=dooms,
        deployment=deployment,
        siblings=siblings,
        now=now,
        settle=settle,
    )
    (pod,) = (pod for pod in pods if pod.name == about)
    found = GatedPod(
        pod=pod,
        census=census,
        held=held,
        has_room=has_room,
        may_exceed=may_exceed,
        waited=waited,
        patience=PATIENCE,
    )
    return gate.decide(found, evictor)


def test_a_released_pod_is_put_off_until_its_replacement_is_known() -> None:
    replica_set, settle = web(1), timedelta(seconds=20)
    pods = [
        *away(replica_set, "a"),
        *owned(replica_set, "new", ready_since=NOW - timedelta(seconds=8)),
    ]
    early = asked(replica_set, pods, settle=settle)
    assert isinstance(early, Deferred)
    assert (early.reason, early.until) == (
        Reason.REPLACEMENT_SETTLES,
        NOW + timedelta(seconds=12),
    )
    assert early.retry_after == timedelta(seconds=6)
    then = asked(replica_set, pods, settle=settle, now=NOW + timedelta(seconds=12))
    assert (then.reason, isinstance(then, Allowed)) == (Reason.REPLACEMENT_AVAILABLE, True)


def passed(verdict: Verdict) -> tuple[str, bool] | None:
    """Why an eviction passes, and whether with a warning; None if it is deferred."""
    return (verdict.reason, verdict.warning) if isinstance(verdict, Allowed) else None


# A pod whose owner asks for evictions in the background.

BACKGROUND = {names.REQUEST_EVICT_ONLY: ""}


@pytest.mark.parametrize("dooms", [{}, DYING], ids=["its node lives", "its node dies"])
@pytest.mark.parametrize("released", [True, False])
@pytest.mark.parametrize("notes", [BACKGROUND, {}], ids=["annotated", "not annotated"])
def test_whose_owner_asks_for_it_is_told_that_the_eviction_goes_on_by_itself(
    notes: Mapping[str, str], dooms: Mapping[str, NodeNotice], *, released: bool
) -> None:
    replica_set = web()
    pods = away(replica_set, "a", annotations=notes) if released else []
    pods = [*(pods or owned(replica_set, "a", annotations=notes)), *owned(replica_set, "b")]
    verdict = asked(replica_set, pods, dooms=dooms)
    assert isinstance(verdict, Deferred)
    is_told = "Eviction triggered evacuation" in verdict.message
    assert (is_told, verdict.retry_after == timedelta()) == (bool(notes), bool(notes))


def test_a_replaced_pod_passes_whatever_its_owner_asks_for() -> None:
    replica_set = web()
    pods = [*away(replica_set, "a", annotations=BACKGROUND), *owned(replica_set, "b", "c")]
    assert isinstance(asked(replica_set, pods), Allowed)


# A pod that is not released yet.


def test_an_eviction_brings_the_replacement_first() -> None:
    """Karpenter is told, too: it reckons room for the replacement alone."""
    replica_set = web()
    pods = owned(replica_set, "a", "b")
    verdict = asked(replica_set, pods)
    assert isinstance(verdict, Deferred)
    assert (verdict.reason, verdict.retry_after) == ("Released", SHORTEST_RETRY)
    assert verdict.step is not None
    assert verdict.step.verb is Verb.RELEASE
    assert verdict.step.message.startswith("alice asks to evict it: ")
    released = patched(pods[0], verdict.step.write)
    note = release_on(released)
    assert released.released
    assert released.metadata.annotations[names.DO_NOT_DISRUPT] == "true"
    assert note.reason is ReleaseReason.EVICTION
    assert (note.asked_by, note.wanted) == ("alice", 2)
    assert (note.since, note.deadline) == (NOW, NOW + PATIENCE + COMES_BACK)
    assert verdict.until == NOW + PATIENCE


def test_a_user_whose_name_has_no_end_is_noted_all_the_same() -> None:
    replica_set = web()
    pods = owned(replica_set, "a", "b")
    verdict = asked(replica_set, pods, evictor=Evictor(username="a" * 10_000))
    assert isinstance(verdict, Deferred)
    assert verdict.step is not None
    assert release_on(patched(pods[0], verdict.step.write)).asked_by == "a" * 253


@pytest.mark.parametrize(
    ("replica_set", "options", "reason", "warning"),
    [
        pytest.param(
            web(),
            {"held": [builders.budget(healthy=1, demanded=2)]},
            "BudgetHolds",
            False,
            id="a budget is in trouble",
        ),
        pytest.param(
            web(failure="quota"), {}, "CannotBeReplaced", True, id="no replacement can be made"
        ),
        pytest.param(web(0), {}, "NotWanted", False, id="nobody wants the pod"),
    ],
)
def test_an_eviction_passes_at_once_when(
    replica_set: ReplicaSet, options: Mapping[str, Any], reason: str, *, warning: bool
) -> None:
    verdict = asked(replica_set, owned(replica_set, "a", "b"), **options)
    assert passed(verdict) == (reason, warning)


@pytest.mark.parametrize(
    "options",
    [{"deployment": rested(60)}, {"dooms": HINTED}],
    ids=["its workload rests", "its node has a recommendation"],
)
def test_an_eviction_brings_the_replacement_first_though(options: Mapping[str, Any]) -> None:
    replica_set = web()
    verdict = asked(replica_set, owned(replica_set, "a", "b"), **options)
    assert isinstance(verdict, Deferred)
    assert verdict.reason == "Released"


@pytest.mark.parametrize("notes", [{}, BACKGROUND], ids=["not annotated", "in the background"])
def test_beyond_the_window_an_eviction_waits_for_its_turn_and_has_to_be_asked_for_again(
    notes: Mapping[str, str],
) -> None:
    replica_set = web()
    pods = [*owned(replica_set, "a", annotations=notes), *owned(replica_set, "b")]
    verdict = asked(replica_set, pods, has_room=False)
    assert isinstance(verdict, Deferred)
    assert (verdict.reason, verdict.in_turn) == ("WindowFull", True)
    assert (verdict.message, verdict.retry_after) == (gate.WINDOW_FULL, seconds(5))
    assert verdict.step is not None
    assert verdict.step.verb is Verb.WAIT


@pytest.mark.parametrize(
    ("later", "verb"),
    [
        pytest.param(0, None, id="that is noted"),
        pytest.param(1, None, id="it waits"),
        pytest.param(299, None, id="it still waits"),
        pytest.param(300, Verb.RELEASE, id="its time is over"),
        pytest.param(599, Verb.RELEASE, id="and has been for a while"),
        pytest.param(600, Verb.WAIT, id="that was another drain"),
        pytest.param(-1, Verb.WAIT, id="a time that is to come"),
    ],
)
def test_beyond_the_window_a_pod_waits_no_longer_for_its_release_than_for_a_replacement(
    later: float, verb: Verb | None
) -> None:
    replica_set = web()
    first = asked(replica_set, owned(replica_set, "a", "b"), has_room=False)
    assert isinstance(first, Deferred)
    assert first.step is not None
    (pod, other) = owned(replica_set, "a", "b")
    pods = [patched(pod, first.step.write), other]
    verdict = asked(replica_set, pods, has_room=False, now=NOW + seconds(later))
    assert isinstance(verdict, Deferred)
    assert (verdict.step.verb if verdict.step else None) is verb
    assert verdict.in_turn is (verb is not Verb.RELEASE)


@pytest.mark.parametrize(
    ("waited", "later", "verb"),
    [
        pytest.param(299, 0, Verb.WAIT, id="the process knows that it waits"),
        pytest.param(300, 0, Verb.RELEASE, id="for as long as it may"),
        pytest.param(299, 1, Verb.RELEASE, id="and so does the next process by the pod's note"),
        pytest.param(10, 1, None, id="which is not written again"),
    ],
)
def test_a_pod_waits_for_its_release_since_its_eviction_was_asked_for_first(
    waited: float, later: float, verb: Verb | None
) -> None:
    replica_set = web()
    pods = owned(replica_set, "a", "b")
    verdict = asked(replica_set, pods, has_room=False, waited=seconds(waited))
    assert isinstance(verdict, Deferred)
    assert verdict.step is not None
    if later:
        pods = [patched(pods[0], verdict.step.write), pods[1]]
        verdict = asked(replica_set, pods, has_room=False, now=NOW + seconds(later))
        assert isinstance(verdict, Deferred)
    assert (verdict.step.verb if verdict.step else None) is verb


def test_a_pod_waits_on_while_the_window_may_not_be_exceeded() -> None:
    replica_set = web()
    pods = owned(replica_set, "a", "b")
    verdict = asked(replica_set, pods, has_room=False, may_exceed=False, waited=2 * PATIENCE)
    assert verdict.reason == "WindowFull"


@pytest.mark.parametrize("released", [False, True])
def test_the_last_pod_of_a_workload_is_released_beyond_the_window(*, released: bool) -> None:
    replica_set = web(1)
    pods = [*owned(replica_set, "a"), *(away(replica_set, "b") if released else [])]
    verdict = asked(replica_set, pods, has_room=False)
    assert verdict.reason == ("WindowFull" if released else "Released")


# A pod that is released.


def test_a_released_pod_passes_once_its_replacement_is_available() -> None:
    replica_set = web()
    verdict = asked(replica_set, [*away(replica_set, "a"), *owned(replica_set, "b", "new")])
    assert passed(verdict) == ("ReplacementAvailable", False)
    assert isinstance(verdict, Allowed)
    assert verdict.counted


def test_a_pod_that_restore_moves_passes_wherever_its_replacement_is() -> None:
    replica_set = web(1)
    pods = [moved(replica_set, target=Capacity.SPOT, wanted=1), *owned(replica_set, "b")]
    verdict = asked(replica_set, pods, now=NOW + seconds(10))
    assert passed(verdict) == ("ReplacementAvailable", False)


@pytest.mark.parametrize(
    ("waited", "allowed"),
    [
        pytest.param(0, False, id="it is asked for again"),
        pytest.param(300, True, id="until its patience is over"),
    ],
)
def test_a_pod_that_was_released_and_is_not_counted_as_that_is_not_released_again(
    waited: float, *, allowed: bool
) -> None:
    """It went back or was evicted meanwhile, or its release cannot be believed."""
    replica_set = web()
    (pod,) = away(replica_set, "a")
    census = builders.census(replica_set, owned=owned(replica_set, "b", "new"))
    found = GatedPod(
        pod=pod,
        census=census,
        has_room=True,
        may_exceed=True,
        waited=seconds(waited),
        patience=PATIENCE,
    )
    verdict = gate.decide(found, KUBECTL)
    assert passed(verdict) == (("PatienceOver", True) if allowed else None)
    assert verdict.reason == ("PatienceOver" if allowed else "Changed")


def test_a_pod_whose_release_is_spoilt_goes_back_and_is_asked_for_again() -> None:
    """Or it would wait until its patience is over, where no reconciler is at work."""
    replica_set = web()
    spoilt = _spoilt(replica_set, "a")
    verdict = asked(replica_set, [spoilt, *owned(replica_set, "b", "new")])
    assert isinstance(verdict, Deferred)
    assert verdict.step is not None
    assert (verdict.reason, verdict.step.verb) == ("Changed", Verb.ROLL_BACK)
    assert not builders.patched(spoilt, verdict.step.write).released


def test_one_that_goes_back_is_no_reserve_for_the_gate_nor_for_the_reconciler() -> None:
    """Its ReplicaSet has one too many then, and may take any of them away."""
    replica_set = web(3)
    pods = [*away(replica_set, "a"), _spoilt(replica_set, "b"), *owned(replica_set, "c", "new")]
    assert isinstance(asked(replica_set, pods), Deferred)
    census = builders.census(replica_set, owned=pods[2:], released=pods[:2])
    assert (census.count.available, census.count.surplus, census.replaced) == (4, 0, frozenset())


def _spoilt(replica_set: ReplicaSet, name: str) -> Pod:
    """A released pod whose annotation makes no sense any more."""
    (pod,) = away(replica_set, name)
    annotations = {**pod.metadata.annotations, names.RELEASE: "{"}
    metadata = msgspec.structs.replace(pod.metadata, annotations=annotations)
    return msgspec.structs.replace(pod, metadata=metadata)


def test_of_two_released_pods_with_one_replacement_only_the_first_to_leave_passes() -> None:
    replica_set = web()
    pods = [*away(replica_set, "a", "b"), *owned(replica_set, "new")]
    first, second = (asked(replica_set, pods, about=name) for name in "ab")
    assert isinstance(first, Allowed)
    assert isinstance(second, Deferred)


@pytest.mark.parametrize(
    ("waited", "told"),
    [(0, 1), (1, 1), (4, 2), (9, 5), (19, 10), (60, 10), (294, 6), (299.5, 1)],
)
def test_a_drainer_asks_ever_less_often_until_patience_is_over(waited: float, told: int) -> None:
    replica_set = web()
    pods = [*away(replica_set, "a"), *owned(replica_set, "b")]
    verdict = asked(replica_set, pods, now=NOW + seconds(waited))
    assert isinstance(verdict, Deferred)
    assert (verdict.reason, verdict.step) == ("ReplacementPending", None)
    assert verdict.retry_after == seconds(told)


@pytest.mark.parametrize(
    ("before", "let_go"), [(3.1, True), (3, False), (0.1, False), (-89, False), (-90, True)]
)
@pytest.mark.parametrize("new", [["new"], []], ids=["replaced", "not replaced"])
def test_a_pod_that_is_put_back_any_moment_is_not_let_go(
    new: Sequence[str], before: float, *, let_go: bool
) -> None:
    replica_set = web()
    pods = [*away(replica_set, "a"), *owned(replica_set, "b", *new)]
    ends = NOW + PATIENCE + COMES_BACK
    verdict = asked(replica_set, pods, now=ends - seconds(before))
    assert isinstance(verdict, Allowed) is let_go
    assert let_go or (isinstance(verdict, Deferred) and verdict.retry_after == seconds(5))


def test_a_pod_waits_while_its_replica_set_is_about_to_take_one_away() -> None:
    replica_set = web(1)
    pods = [*away(replica_set, "a"), *owned(replica_set, "new")]
    surplus = owned(replica_set, "surplus", ready=False)
    assert isinstance(asked(replica_set, pods), Allowed)
    assert isinstance(asked(replica_set, [*pods, *surplus]), Deferred)


@pytest.mark.parametrize("by_restore", [False, True])
def test_once_patience_is_over_an_eviction_passes_with_a_warning(*, by_restore: bool) -> None:
    replica_set = web()
    (pod,) = [moved(replica_set)] if by_restore else away(replica_set, "a")
    pods = [pod, *owned(replica_set, "b")]
    assert passed(asked(replica_set, pods, now=NOW + PATIENCE - seconds(1))) is None
    verdict = asked(replica_set, pods, now=NOW + PATIENCE)
    assert passed(verdict) == ("PatienceOver", True)
    assert isinstance(verdict, Allowed)
    assert not verdict.counted


def test_an_eviction_passes_before_its_pod_could_be_put_back() -> None:
    """Also a release by which the pod goes back as soon as its patience is over."""
    replica_set = web()
    release = builders.release(replica_set, reason=ReleaseReason.EVICTION, deadline=NOW + PATIENCE)
    pods = [builders.pod("a", of=replica_set, released=release), *owned(replica_set, "b")]
    verdict = asked(replica_set, pods, now=NOW + PATIENCE - COMES_BACK)
    assert passed(verdict) == ("PatienceOver", True)


STARTING = {"node": "good", "ready": False, "creation_timestamp": NOW}
"""A pod that has its node since the release was made."""

SAYS_NOTHING = builders.deployment()
SAYS_20_MIN = builders.deployment(annotations={names.GATE_PATIENCE: "20m"})


@pytest.mark.parametrize(
    ("deployment", "pod", "longest"),
    [
        pytest.param(SAYS_NOTHING, STARTING, 600, id="its Deployment's progress deadline"),
        pytest.param(SAYS_20_MIN, STARTING, 1_200, id="what its owner says"),
        pytest.param(
            builders.deployment(annotations={names.GATE_PATIENCE: "1s"}),
            STARTING,
            300,
            id="its patience if that is longer",
        ),
        pytest.param(
            builders.deployment(annotations={names.GATE_PATIENCE: "9h"}),
            STARTING,
            3_600,
            id="an hour at most",
        ),
        pytest.param(SAYS_20_MIN, {**STARTING, "node": ""}, 300, id="its patience without a node"),
        pytest.param(
            SAYS_20_MIN, {**STARTING, "waiting": "ImagePullBackOff"}, 300, id="if it fails"
        ),
        pytest.param(
            SAYS_20_MIN, {**STARTING, "waiting": "ContainerCreating"}, 1_200, id="if it is made"
        ),
    ],
)
def test_a_replacement_that_starts_is_waited_for_longer(
    deployment: Deployment, pod: Mapping[str, Any], longest: float
) -> None:
    replica_set = web()
    pods = [*away(replica_set, "a"), *owned(replica_set, "b"), *owned(replica_set, "new", **pod)]
    before, after = (
        asked(replica_set, pods, deployment=deployment, now=NOW + seconds(longest - second))
        for second in (1, 0)
    )
    assert isinstance(before, Deferred)
    assert before.until == NOW + seconds(longest)
    assert passed(after) == ("PatienceOver", True)


def test_a_pod_beside_which_its_replacement_crashes_goes_back_before_it_passes() -> None:
    """Its release lasts for 330 s. Then the schedule has 90 s to put it back."""
    replica_set = web()
    crashing = owned(replica_set, "new", **STARTING, waiting="CrashLoopBackOff")
    pods = [*away(replica_set, "a"), *owned(replica_set, "b"), *crashing]
    at = {second: asked(replica_set, pods, now=NOW + seconds(second)) for second in (301, 419, 421)}
    assert isinstance(at[301], Deferred)
    assert at[301].until == NOW + seconds(330)
    assert isinstance(at[419], Deferred)
    assert at[419].message.startswith("it goes back to its owner")
    assert passed(at[421]) == ("PatienceOver", True)


def test_a_pod_for_which_none_starts_does_not_wait_for_the_replacement_of_another() -> None:
    replica_set = web(3)
    pods = [*away(replica_set, "a", "b"), *owned(replica_set, "c")]
    pods += owned(replica_set, "new", **STARTING)
    first, second = (
        asked(replica_set, pods, about=name, deployment=SAYS_NOTHING, now=NOW + PATIENCE)
        for name in "ab"
    )
    assert isinstance(first, Deferred)
    assert passed(second) == ("PatienceOver", True)


@pytest.mark.parametrize(
    ("until", "pods", "passes"),
    [
        pytest.param(60, (), {"a"}, id="one of those that would leave no other missing"),
        pytest.param(0, (), set(), id="none once it has rested"),
        pytest.param(60, (STARTING,), set(), id="none where a replacement starts"),
    ],
)
def test_a_workload_that_rests_lets_one_pod_pass(
    until: float, pods: Sequence[Mapping[str, Any]], passes: set[str]
) -> None:
    replica_set = web(3)
    every = [*away(replica_set, "a", "b"), *owned(replica_set, "c")]
    for each in pods:
        every += owned(replica_set, "new", **each)
    verdicts = {
        name: asked(replica_set, every, about=name, deployment=rested(until)) for name in "ab"
    }
    assert {name for name, each in verdicts.items() if isinstance(each, Allowed)} == passes
    for name in passes:
        verdict = verdicts[name]
        assert isinstance(verdict, Allowed)
        assert (verdict.reason, verdict.warning, verdict.counted) == ("CoolingDown", True, True)
        assert "deployment default/web" in verdict.message


def test_a_workload_that_rests_lets_no_pod_pass_while_another_is_missing() -> None:
    replica_set = web(3)
    pods = [
        *away(replica_set, "a"),
        *owned(replica_set, "c"),
        *owned(replica_set, "d", ready=False),
    ]
    verdict = asked(replica_set, pods, deployment=rested(60))
    assert isinstance(verdict, Deferred)


@pytest.mark.parametrize("others", [0, 1])
def test_in_a_rollout_a_replaced_pod_passes_if_its_deployment_can_spare_it(others: int) -> None:
    deployment = builders.deployment(replicas=3, max_unavailable=1)
    replica_set = builders.replica_set(of=deployment, replicas=1)
    pods = [*away(replica_set, "a"), *owned(replica_set, "new")]
    beside = builders.replica_set("beside", of=deployment)
    siblings = builders.pods(others, of=beside, node="n2")
    verdict = asked(replica_set, pods, deployment=deployment, siblings=siblings)
    assert isinstance(verdict, Allowed) is bool(others)


# A pod on a node with a notice.


@pytest.mark.parametrize("released", [True, False])
def test_on_a_dying_node_an_eviction_waits_for_the_forced_one(*, released: bool) -> None:
    replica_set = web()
    pod = (away if released else owned)(replica_set, "a")
    pods = [*pod, *owned(replica_set, "b", node="good")]
    evict_by = DYING["n1"].deadline - seconds(30) - seconds(1)
    before = asked(replica_set, pods, dooms=DYING, now=evict_by - seconds(1))
    after = asked(replica_set, pods, dooms=DYING, now=evict_by)
    assert isinstance(before, Deferred)
    assert (before.reason, before.step) == ("NodeDoomed", None)
    assert passed(after) == ("LastMoment", True)


IN_AN_HOUR = {"n1": builders.notice(deadline=NOW + timedelta(hours=1))}


@pytest.mark.parametrize("released", [ReleaseReason.INTERRUPTION, None])
def test_on_a_node_that_dies_late_an_eviction_waits_for_its_patience_at_most(
    released: ReleaseReason | None,
) -> None:
    replica_set = web()
    release = builders.release(replica_set, reason=released) if released else None
    pod = builders.pod("a", of=replica_set, released=release)
    others = owned(replica_set, "b", node="good")
    first = asked(replica_set, [pod, *others], dooms=IN_AN_HOUR)
    assert isinstance(first, Deferred)
    assert first.step is not None
    noted = [patched(pod, first.step.write), *others]
    before = asked(replica_set, noted, dooms=IN_AN_HOUR, now=NOW + PATIENCE - seconds(1))
    after = asked(replica_set, noted, dooms=IN_AN_HOUR, now=NOW + PATIENCE)
    assert isinstance(before, Deferred)
    assert (before.reason, before.step, before.retry_after) == ("NodeDoomed", None, seconds(1))
    assert passed(after) == ("PatienceOver", True)


def test_an_eviction_has_no_patience_anew_when_its_node_turns_out_to_die() -> None:
    replica_set = web()
    pods = [*away(replica_set, "a"), *owned(replica_set, "b", node="good")]
    verdict = asked(replica_set, pods, dooms=IN_AN_HOUR, now=NOW + PATIENCE)
    assert passed(verdict) == ("PatienceOver", True)


def test_an_eviction_whose_release_is_refused_comes_back_while_it_has_patience() -> None:
    error = ForbiddenError("the platform team says no")
    verdict = gate.refused(error, is_for_good=False, is_over=False)
    assert isinstance(verdict, Deferred)
    assert (verdict.reason, verdict.retry_after) == ("Changed", seconds(1))
    assert verdict.message == "its release is refused: the platform team says no"
    assert passed(gate.refused(error, is_for_good=False, is_over=True)) == ("PatienceOver", True)


def test_an_eviction_whose_release_is_always_refused_passes_with_the_refuser_s_words() -> None:
    error = ForbiddenError("the platform team says no")
    verdict = gate.refused(error, is_for_good=True, is_over=False)
    assert passed(verdict) == ("ReleaseRefused", True)
    assert verdict.message == "it cannot be released: the platform team says no"


@pytest.mark.parametrize(
    ("said", "apart_by", "age", "is_passed"),
    [
        ("Unschedulable", names.ZONE, 1, True),
        ("Unschedulable", "kubernetes.io/hostname", 9, False),
        ("Unschedulable", "", 9, False),
        ("SchedulingGated", "", 9, True),
        ("SchedulingGated", "", 1, False),
    ],
    ids=["one to a zone", "one to a node", "no rules", "gated", "gated just now"],
)
def test_pods_beside_which_no_second_one_comes_pass_one_after_the_other(
    said: str, apart_by: str, age: float, *, is_passed: bool
) -> None:
    replica_set = web()
    why = Condition(type="PodScheduled", status="False", reason=said, message="no")
    waits = {"node": "", "ready": False, "creation_timestamp": NOW - seconds(age)}
    new = owned(replica_set, "new-0", "new-1", **waits, conditions=[why])
    first, second = (apart(each, *filter(None, [apart_by])) for each in away(replica_set, "a", "b"))
    pods = [first, second, *new]
    verdict = asked(replica_set, pods)
    assert passed(verdict) == (("NoPlace", True) if is_passed else None)
    assert not isinstance(verdict, Allowed) or verdict.counted
    assert passed(asked(replica_set, pods, about="b")) is None
    assert passed(asked(replica_set, [second, *new], about="b")) is None
