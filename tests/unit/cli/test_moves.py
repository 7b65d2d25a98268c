import pytest

from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason
from evenkeel_cli import moves
from evenkeel_cli.journal import Journal
from evenkeel_cli.moves import Move
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit import builders

POD = Reference("Pod", "web-1", "shop", "uid")


def decision(verb: Verb, reason: Reason) -> Decision:
    return Decision(verb=verb, subject=POD, reason=reason, message=f"{reason} it is")


@pytest.mark.parametrize(
    ("story", "move"),
    [
        ("release NodeDoomed, wait ReplacementPending, evict ReplacementAvailable", "handed over"),
        ("evict StatefulSet", "one at a time"),
        ("evict NoSurge", "in turns"),
        ("evict Recreate", "at once"),
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
    told = (each.split() for each in story.split(", "))
    steps = [decision(Verb(verb), Reason(reason)) for verb, reason in told]
    assert moves.by_log(steps, node_ended=False).startswith(move)


@pytest.mark.parametrize(
    ("reason", "move"), [("JobMayFinish", Move.FINISHED), ("ReplacementPending", Move.LOST)]
)
def test_a_pod_whose_node_ended_first_was_lost_unless_it_may_have_finished(
    reason: str, move: Move
) -> None:
    steps = [decision(Verb.WAIT, Reason(reason))]
    assert moves.by_log(steps, node_ended=True) is move


def test_a_decision_that_is_made_again_is_kept_once() -> None:
    journal = Journal(SimulatedClock(builders.NOW))
    for _ in range(2):
        journal.decided(decision(Verb.EVICT, Reason.LAST_MOMENT))

    assert len(journal.entries) == 1
