from collections.abc import Sequence

import pytest

from evenkeel.adapters.telemetry.decision_log import DecisionRecord, record
from evenkeel.decisions.drain.returning import WARNING
from evenkeel.flows.selections import pods_on
from evenkeel.model import names
from evenkeel.model.decision import Decision, Verb, Why
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason
from evenkeel.model.way import Way
from evenkeel_cli import moves
from evenkeel_cli.journal import Journal
from evenkeel_cli.moves import Move
from evenkeel_cli.ways import situations
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit import builders
from tests.kit.manifests import Manifest, bare_pod, deployment, replica_set, stateful_set
from tests.kit.scene import Scene

POD = Reference("Pod", "web-1", "shop", "uid")


def decision(verb: Verb, reason: Reason, way: Way | None = None) -> Decision:
    why = None if way is None else Why(way=way, cause="it is so")
    return Decision(verb=verb, subject=POD, reason=reason, message=f"{reason} it is", why=why)


def steps(story: str) -> Sequence[DecisionRecord]:
    """The records of decisions such as ``evict NoSurge rationed``, the way being the last word."""
    told = [each.split() for each in story.split(", ")]
    made = [decision(Verb(verb), Reason(reason), *map(Way, way)) for verb, reason, *way in told]
    return [record(each, builders.NOW, "prod", "act") for each in made]


@pytest.mark.parametrize(
    ("story", "move"),
    [
        ("release NodeDoomed, wait ReplacementPending, evict ReplacementAvailable", "handed over"),
        ("evict StatefulSet by-ordinal", "one at a time"),
        ("evict NoSurge rationed", "in turns"),
        ("evict NoSurge at-once", "at once"),
        ("evict Recreate at-once", "at once"),
        ("evict GangBroken at-last-moment", "at the last moment"),
        ("evict NoSurge", "in turns"),
        ("wait JobMayFinish, evict LastMoment", "at the last moment"),
        ("wait ReplacementPending, evict LastMoment, delete BudgetRefusedAtLastMoment", "at the"),
        ("delete ScaledToZero", "deleted"),
        ("wait ReplacementPending, roll-back CannotBeReplaced", "put back"),
        ("leave DaemonSet", "left"),
        ("delete NodeGone", "lost with its node"),
        ("wait ReplacementPending", "still waiting"),
    ],
)
def test_how_a_pod_went_follows_from_what_was_decided_about_it(story: str, move: str) -> None:
    assert moves.by_log(steps(story), node_ended=False).startswith(move)


@pytest.mark.parametrize(
    ("reason", "move"), [("JobMayFinish", Move.FINISHED), ("ReplacementPending", Move.LOST)]
)
def test_a_pod_whose_node_ended_first_was_lost_unless_it_may_have_finished(
    reason: str, move: Move
) -> None:
    assert moves.by_log(steps(f"wait {reason}"), node_ended=True) is move
    assert moves.by_log((), node_ended=True) is Move.LOST


def test_a_decision_that_is_made_again_is_kept_once() -> None:
    journal = Journal(SimulatedClock(builders.NOW))
    for _ in range(2):
        journal.decided(decision(Verb.EVICT, Reason.LAST_MOMENT))

    assert len(journal.entries) == 1


@pytest.mark.parametrize(
    ("made", "move"),
    [
        (replica_set("web", 2), Move.IN_TURNS),
        (deployment("web", notes={names.HANDOVER: "never"}), Move.AT_ONCE),
        (deployment("web", 2, notes={names.HANDOVER: "never"}), Move.IN_TURNS),
        (deployment("web", 2, strategy={"type": "Recreate"}), Move.AT_ONCE),
        (stateful_set("web", 2), Move.ONE_AT_A_TIME),
        (bare_pod("web"), Move.LAST_MOMENT),
        (deployment("web", 2), Move.HANDED_OVER),
    ],
    ids=["ReplicaSet", "alone", "never", "Recreate", "StatefulSet", "bare", "handover"],
)
def test_what_is_said_before_a_pod_goes_is_said_of_how_it_went(
    made: Manifest, move: Move, scene: Scene
) -> None:
    scene.given(made, spare="o1")
    before = situations(scene.cluster, [pods_on("s1")], scene.clock)
    scene.interrupt("s1").run(until=125)
    for situation in before:
        way, uid = situation.way_for(WARNING), situation.pod.uid
        told = [each for each in scene.recorder.decisions if each.subject.uid == uid]
        went = [record(each, builders.NOW, "prod", "act") for each in told]
        behind = moves.behind(went)
        assert moves.by_log(went, node_ended=True) is move
        assert behind is not None
        if move is Move.HANDED_OVER:
            assert behind.cause == "its replacement ran before it went"
        else:
            assert (behind.cause, behind.remedy) == (way.cause, way.remedy)
