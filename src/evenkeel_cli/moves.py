"""What became of each pod that a notice concerned: how it moved, and why that way."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, Protocol

from evenkeel.decisions.interruption.late import AT_THE_END
from evenkeel.model import names
from evenkeel.model.decision import Verb
from evenkeel.model.reasons import Reason


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


REASONS: Final[Mapping[str, str]] = {
    Reason.REPLACEMENT_AVAILABLE: "its replacement ran before it went",
    Reason.STATEFUL_SET: "StatefulSet: each ordinal exists once",
    Reason.HANDOVER_NEVER: f"annotation {names.HANDOVER}: never",
    Reason.RECREATE: "the Deployment's strategy is Recreate",
    Reason.NO_SURGE: "the Deployment's maxSurge is 0",
    Reason.SINGLE_NODE_VOLUME: "its volume can be mounted by one node only",
    Reason.LIVE_MIGRATION: f"label {names.LIVE_MIGRATION}: it is moved alive",
    Reason.NO_TEMPLATE_HASH: "its ReplicaSet does not select by template hash",
    Reason.SELECTED_BY_HASH: "a Service or policy selects by template hash",
    Reason.FOREIGN_CONTROLLER: "its controller makes no pod before one has gone",
    Reason.JOB_MAY_FINISH: "Job: it may still finish",
    Reason.BARE_POD: "bare pod: no controller makes it again",
    Reason.DAEMON_SET: "DaemonSet: it belongs to its node",
    Reason.STATIC_POD: "static pod: its kubelet owns it",
    Reason.CANNOT_BE_REPLACED: "no replacement could be made",
    Reason.QUOTA_REFUSES: "a quota allows no second pod beside it",
    Reason.REPLACEMENT_PENDING: "its replacement was not available in time",
    Reason.TOO_LATE_FOR_HANDOVER: "too little time was left for a handover",
    Reason.LANDED_AFTER_CORDON: "it had landed on its node in spite of the cordon",
    Reason.BUDGET_REFUSED_AT_LAST_MOMENT: "its budget refused to the end",
    Reason.EVICTION_REFUSED_AT_LAST_MOMENT: "a policy or webhook denied its eviction to the end",
    Reason.PROTECTED: "an annotation forbids voluntary moves",
}
"""Evenkeel's reasons, in a few words for a table."""

BROKEN_AT_ONCE: Final = frozenset({Reason.RECREATE, Reason.SINGLE_NODE_VOLUME})
"""Reasons for which a pod goes before its replacement comes, and does not wait for a turn."""

NO_REPLACEMENT: Final = "it was not replaced by its last moment"
NO_WARNING: Final = "its node left no time for a handover"

SETTLING: Final = frozenset({Verb.EVICT, Verb.DELETE, Verb.ROLL_BACK, Verb.LEAVE})
"""Verbs after which nothing more is done about a pod, unless something changes."""

BY_REASON: Final[Mapping[str, Move]] = {
    Reason.REPLACEMENT_AVAILABLE: Move.HANDED_OVER,
    Reason.STATEFUL_SET: Move.ONE_AT_A_TIME,
    Reason.LAST_MOMENT: Move.LAST_MOMENT,
    Reason.BUDGET_REFUSED_AT_LAST_MOMENT: Move.LAST_MOMENT,
    Reason.EVICTION_REFUSED_AT_LAST_MOMENT: Move.LAST_MOMENT,
}
"""How a pod went that was evicted or deleted for one of these reasons."""


class Decided(Protocol):
    """What was decided about a pod, in a journal or in a log."""

    @property
    def verb(self) -> str:
        """What was decided."""
        ...

    @property
    def reason(self) -> str:
        """Why, in a word."""
        ...


def by_log(story: Sequence[Decided], *, node_ended: bool) -> Move:
    """How a pod went, from what was decided about it alone, the latest last.

    ``node_ended``: its node's instance is off. A Job's pod that was never evicted has finished:
    else its last moment would have come.
    """
    last = next((each for each in reversed(story) if each.verb in SETTLING), None)
    if last is None and node_ended:
        return Move.FINISHED if behind(story) == Reason.JOB_MAY_FINISH else Move.LOST
    if last is None:
        return Move.WAITING
    return _move(last)


def behind(story: Sequence[Decided]) -> str:
    """The reason behind the last decision: of a last moment, why it came to that."""
    return next((each.reason for each in reversed(story) if each.reason not in AT_THE_END), "")


def _move(last: Decided) -> Move:
    """How a pod went, from the last that was decided about it."""
    if last.verb == Verb.LEAVE:
        return Move.LEFT
    if last.reason == Reason.NODE_GONE:
        return Move.LOST
    if last.verb == Verb.ROLL_BACK:
        return Move.PUT_BACK
    if last.reason in BY_REASON:
        return BY_REASON[last.reason]
    if last.verb == Verb.DELETE:
        return Move.DELETED
    return Move.AT_ONCE if last.reason in BROKEN_AT_ONCE else Move.IN_TURNS
