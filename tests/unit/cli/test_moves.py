from collections.abc import Sequence

import pytest

from evenkeel.adapters.telemetry.decision_log import record
from evenkeel.model.decision import Decision, Verb, Why
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason
from evenkeel.model.way import Way
from evenkeel_cli import moves
from evenkeel_cli.history.steps import Step
from evenkeel_cli.history.steps import of as step_of
from evenkeel_cli.journal import Journal
from evenkeel_cli.moves import Move
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit import builders

POD = Reference("Pod", "web-1", "shop", "uid")


def decision(verb: Verb, reason: Reason, way: Way | None = None) -> Decision:
    why = None if way is None else Why(way=way, cause="it is so")
    return Decision(verb=verb, subject=POD, reason=reason, message=f"{reason} it is", why=why)


def steps(story: str) -> Sequence[Step]:
    """The steps of decisions such as ``evict NoSurge rationed``, the way being the last word."""
    told = [each.split() for each in story.split(", ")]
    made = [decision(Verb(verb), Reason(reason), *map(Way, way)) for verb, reason, *way in told]
    return step_of([record(each, builders.NOW, "prod", "act") for each in made])


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
