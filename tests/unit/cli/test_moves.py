from collections.abc import Callable

import pytest

from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Condition, KubernetesObject
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Change, Listing, Relisted, Selection
from evenkeel_cli.journal import Journal
from evenkeel_cli.moves import NO_WARNING, Fate, Move, fates
from evenkeel_sandbox.observer.workloads import EVERYTHING, Observer
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit import builders

REPLICA_SET = builders.replica_set(replicas=2)
POD = builders.pod(of=REPLICA_SET, node="n1")


type Happening = Callable[[Observer], None]


def decision(verb: Verb, reason: Reason, message: str) -> Decision:
    return Decision(verb=verb, subject=POD.reference, reason=reason, message=message)


def fate(story: str, *happenings: Happening, replica_set: ReplicaSet = REPLICA_SET) -> Fate:
    clock = SimulatedClock(builders.NOW)
    observer = Observer(clock)
    objects: list[KubernetesObject] = [replica_set, POD]
    observer.absorb(
        Relisted(each, Listing([o for o in objects if type(o) is each.kind], "1"))
        for each in EVERYTHING
    )
    observer.begin()
    for happen in happenings:
        happen(observer)
    journal = Journal(clock)
    for verb, reason in (each.split() for each in story.split(", ") if each):
        journal.decided(decision(Verb(verb), Reason(reason), f"{reason} it is"))
    (found,) = fates(journal, observer)
    return found


def lost(observer: Observer) -> None:
    observer.lose("n1")


def finished(observer: Observer) -> None:
    succeeded = builders.pod(of=REPLICA_SET, node="n1", phase="Succeeded")
    observer.absorb([Change(Selection(Pod), succeeded)])


def no_place(observer: Observer) -> None:
    condition = Condition(
        type="PodScheduled", status="False", reason="Unschedulable", message="0/9 nodes"
    )
    pending = builders.pod("new", of=REPLICA_SET, node="", conditions=(condition,))
    observer.absorb([Change(Selection(Pod), pending)])


NOT_IN_TIME = "its replacement was not available in time"
HANDED_OVER = "release NodeDoomed, wait ReplacementPending, evict ReplacementAvailable"
REFUSED = "wait ReplacementPending, evict LastMoment, delete BudgetRefusedAtLastMoment"
PUT_BACK = "wait ReplacementPending, roll-back CannotBeReplaced"
NO_PLACE = "wait ReplacementPending, evict LastMoment"
JOB, LATE_JOB = "wait JobMayFinish", "wait JobMayFinish, evict LastMoment"
ORDINAL = "StatefulSet: each ordinal exists once"


@pytest.mark.parametrize(
    ("story", "happenings", "move", "why"),
    [
        (HANDED_OVER, [], Move.HANDED_OVER, "its replacement ran before it went"),
        ("evict StatefulSet", [], Move.ONE_AT_A_TIME, ORDINAL),
        ("evict NoSurge", [], Move.IN_TURNS, "the Deployment's maxSurge is 0"),
        ("evict Recreate", [], Move.AT_ONCE, "the Deployment's strategy is Recreate"),
        (LATE_JOB, [], Move.LAST_MOMENT, "Job: it may still finish"),
        ("evict LastMoment", [], Move.LAST_MOMENT, NO_WARNING),
        (REFUSED, [], Move.LAST_MOMENT, NOT_IN_TIME),
        (NO_PLACE, [no_place], Move.LAST_MOMENT, "no place for a replacement: 0/9 nodes"),
        ("delete ScaledToZero", [], Move.DELETED, "ScaledToZero it is"),
        (PUT_BACK, [], Move.PUT_BACK, "no replacement could be made"),
        ("leave DaemonSet", [lost], Move.LEFT, "DaemonSet: it belongs to its node"),
        ("wait ReplacementPending", [lost], Move.LOST, NOT_IN_TIME),
        ("", [lost], Move.LOST, NO_WARNING),
        (JOB, [finished], Move.FINISHED, "Job: it may still finish"),
        ("wait ReplacementPending", [], Move.WAITING, NOT_IN_TIME),
    ],
)
def test_what_became_of_a_pod_follows_from_decisions_and_from_what_was_seen(
    story: str, happenings: list[Happening], move: Move, why: str
) -> None:
    found = fate(story, *happenings)
    assert (found.move, found.why) == (move, why)


def test_a_single_replica_takes_no_turns() -> None:
    single = builders.replica_set(of=None, replicas=1)

    assert fate("evict NoSurge", replica_set=single).move is Move.AT_ONCE


def test_a_decision_that_is_made_again_is_kept_once() -> None:
    journal = Journal(SimulatedClock(builders.NOW))
    for _ in range(2):
        journal.decided(decision(Verb.EVICT, Reason.LAST_MOMENT, "it goes"))

    assert len(journal.entries) == 1
