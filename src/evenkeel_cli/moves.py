"""What became of each pod that a notice concerned: how it moved, and why that way."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

from evenkeel.adapters.telemetry.decision_log import DecisionRecord
from evenkeel.decisions.interruption.account import AT_THE_END
from evenkeel.model.decision import Verb
from evenkeel.model.reasons import Reason
from evenkeel.model.way import Way


class Move(StrEnum):
    """The ways a pod can have gone, best first."""

    HANDED_OVER = "handed over"
    ONE_AT_A_TIME = "one at a time"
    IN_TURNS = "in turns"
    AT_ONCE = "at once"
    FINISHED = "finished first"
    LAST_MOMENT = "at the last moment"
    DELETED = "deleted"
    PUT_BACK = "put back"
    LEFT = "left"
    LOST = "lost with its node"
    WAITING = "still waiting"


SETTLING: Final = frozenset({Verb.EVICT, Verb.DELETE, Verb.ROLL_BACK, Verb.LEAVE})
"""Verbs after which nothing more is done about a pod, unless something changes."""

BY_WAY: Final[Mapping[str, Move]] = {
    Way.HANDOVER: Move.HANDED_OVER,
    Way.BY_ORDINAL: Move.ONE_AT_A_TIME,
    Way.RATIONED: Move.IN_TURNS,
    Way.AT_ONCE: Move.AT_ONCE,
    Way.AT_LAST_MOMENT: Move.LAST_MOMENT,
}
"""How a pod went that was evicted in time."""


def by_log(story: Sequence[DecisionRecord], *, node_ended: bool) -> Move:
    """How a pod went, from what was decided about it alone, the latest last.

    ``node_ended``: its node's instance is off. A Job's pod that was never evicted has finished:
    else its last moment would have come.
    """
    last = next((each for each in reversed(story) if each.verb in SETTLING), None)
    if last is not None:
        return _move(last)
    if not node_ended:
        return Move.WAITING
    why = behind(story)
    return Move.FINISHED if why is not None and why.reason == Reason.JOB_MAY_FINISH else Move.LOST


def behind(story: Sequence[DecisionRecord]) -> DecisionRecord | None:
    """What was decided last; of a last moment, why it came to that. None where nothing says so."""
    return next((each for each in reversed(story) if each.reason not in AT_THE_END), None)


def _move(last: DecisionRecord) -> Move:
    """How a pod went, from the last that was decided about it.

    A log of an earlier checkout does not say the way.
    """
    if last.verb == Verb.LEAVE:
        return Move.LEFT
    if last.reason == Reason.NODE_GONE:
        return Move.LOST
    if last.verb == Verb.ROLL_BACK:
        return Move.PUT_BACK
    if last.reason in AT_THE_END:
        return Move.LAST_MOMENT
    if last.verb == Verb.DELETE:
        return Move.DELETED
    if last.reason == Reason.REPLACEMENT_AVAILABLE:
        return Move.HANDED_OVER
    return BY_WAY.get(last.way, Move.IN_TURNS)
