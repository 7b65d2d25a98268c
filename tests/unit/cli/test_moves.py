from collections.abc import Callable

import pytest

from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Condition, KubernetesObject
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Change, Listing, Relisted, Selection
from evenkeel.model.workload import ReplicaSet
from evenkeel_cli.journal import Journal
from evenkeel_cli.moves import NO_WARNING, Fate, Move, fates
from evenkeel_sandbox.observer.workloads import EVERYTHING, Observer
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit import builders

REPLICA_SET = builders.replica_set(replicas=2)
POD = builders.pod(of=REPLICA_SET, node="n1")
NOT_REPLACED = (Verb.WAIT, Reason.REPLACEMENT_PENDING)
LAST_MOMENT = (Verb.EVICT, Reason.LAST_MOMENT)

type Story = list[tuple[Verb, Reason]]
type Happening = Callable[[Observer], None]


def fate(story: Story, *happenings: Happening, replica_set: ReplicaSet = REPLICA_SET) -> Fate:
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
    for verb, reason in story:
        journal.decided(
            Decision(verb=verb, subject=POD.reference, reason=reason, message=f"{reason} it is")
        )
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


@pytest.mark.parametrize(
    ("story", "happenings", "move", "why"),
    [
        pytest.param(
            [
                (Verb.RELEASE, Reason.NODE_DOOMED),
                NOT_REPLACED,
                (Verb.EVICT, Reason.REPLACEMENT_AVAILABLE),
            ],
            [],
            Move.HANDED_OVER,
            "its replacement ran before it went",
            id="handed over",
        ),
        pytest.param(
            [(Verb.EVICT, Reason.STATEFUL_SET)],
            [],
            Move.ONE_AT_A_TIME,
            "StatefulSet: each ordinal exists once",
            id="one ordinal at a time",
        ),
        pytest.param(
            [(Verb.EVICT, Reason.NO_SURGE)],
            [],
            Move.IN_TURNS,
            "the Deployment's maxSurge is 0",
            id="some at a time",
        ),
        pytest.param(
            [(Verb.EVICT, Reason.RECREATE)],
            [],
            Move.AT_ONCE,
            "the Deployment's strategy is Recreate",
            id="all at once",
        ),
        pytest.param(
            [(Verb.WAIT, Reason.JOB_MAY_FINISH), LAST_MOMENT],
            [],
            Move.LAST_MOMENT,
            "Job: it may still finish",
            id="a Job's at the last moment",
        ),
        pytest.param(
            [LAST_MOMENT], [], Move.LAST_MOMENT, NO_WARNING, id="at the last moment from the start"
        ),
        pytest.param(
            [NOT_REPLACED, LAST_MOMENT, (Verb.DELETE, Reason.BUDGET_REFUSED_AT_LAST_MOMENT)],
            [],
            Move.LAST_MOMENT,
            "its replacement was not available in time",
            id="its budget refused",
        ),
        pytest.param(
            [NOT_REPLACED, LAST_MOMENT],
            [no_place],
            Move.LAST_MOMENT,
            "no place for a replacement: 0/9 nodes",
            id="no place",
        ),
        pytest.param(
            [(Verb.DELETE, Reason.SCALED_TO_ZERO)],
            [],
            Move.DELETED,
            "ScaledToZero it is",
            id="deleted",
        ),
        pytest.param(
            [NOT_REPLACED, (Verb.ROLL_BACK, Reason.CANNOT_BE_REPLACED)],
            [],
            Move.PUT_BACK,
            "no replacement could be made",
            id="put back",
        ),
        pytest.param(
            [(Verb.LEAVE, Reason.DAEMON_SET)],
            [lost],
            Move.LEFT,
            "DaemonSet: it belongs to its node",
            id="left, and died with its node",
        ),
        pytest.param(
            [NOT_REPLACED],
            [lost],
            Move.LOST,
            "its replacement was not available in time",
            id="lost while it waited",
        ),
        pytest.param([], [lost], Move.LOST, NO_WARNING, id="lost without a decision"),
        pytest.param(
            [(Verb.WAIT, Reason.JOB_MAY_FINISH)],
            [finished],
            Move.FINISHED,
            "Job: it may still finish",
            id="finished first",
        ),
        pytest.param(
            [NOT_REPLACED],
            [],
            Move.WAITING,
            "its replacement was not available in time",
            id="still there",
        ),
    ],
)
def test_what_became_of_a_pod_follows_from_decisions_and_from_what_was_seen(
    story: Story, happenings: list[Happening], move: Move, why: str
) -> None:
    found = fate(story, *happenings)

    assert (found.move, found.why) == (move, why)


def test_a_single_replica_takes_no_turns() -> None:
    single = builders.replica_set(replicas=1)

    assert fate([(Verb.EVICT, Reason.NO_SURGE)], replica_set=single).move is Move.AT_ONCE


def test_a_decision_that_is_made_again_is_kept_once() -> None:
    journal = Journal(SimulatedClock(builders.NOW))
    decision = Decision(
        verb=Verb.EVICT, subject=POD.reference, reason=Reason.LAST_MOMENT, message="it goes"
    )

    journal.decided(decision)
    journal.decided(decision)

    assert len(journal.entries) == 1
