"""What became of each pod, by the records about it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from evenkeel.adapters.telemetry.decision_log import DecisionRecord
from evenkeel.decisions.drain.remedies import MORE_TIME
from evenkeel.decisions.interruption.account import MOVES, Departure
from evenkeel.model.decision import Verb
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason
from evenkeel_cli import moves
from evenkeel_cli.history.counts import Cause
from evenkeel_cli.history.nodes import NodeAccount
from evenkeel_cli.moves import Move

_ON_WHOSE_PART: Final[Mapping[str, Cause]] = {
    Reason.ABOVE_FLOOR: Cause.RESTORE,
    Reason.FLOOR_MISSING: Cause.RESTORE,
    Reason.POOL_TOO_FULL: Cause.RESTORE,
    Reason.FLOOR_RELAXED: Cause.RESTORE,
    Reason.MOVE_IS_OVER: Cause.RESTORE,
    Reason.EVICTION_ASKED: Cause.ASKED,
}
"""By the reason with which a pod begins to go from a node of which no notice is known."""

NO_REPLACEMENT: Final = "it was not replaced by its last moment"
NO_WARNING: Final = "its node left no time for a handover"

UNTROUBLED: Final = frozenset({Move.HANDED_OVER, Move.LEFT, Move.FINISHED, Move.PUT_BACK})
"""Ways on which a pod leaves no gap."""


class PodAccount(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided about one pod, in order, and which way it went by that.

    ``workload`` is None for a pod without a controller that Evenkeel knows, and ``cause`` on whose
    part it had to go. ``departure`` is as notifications have it. ``warned``: its node's notice
    left time for a handover. ``lost_at``: an observer saw then that its node was gone.
    """

    subject: Reference
    node: str
    workload: Reference | None
    steps: Sequence[DecisionRecord] = ()
    way: Move
    departure: Departure = Departure()
    cause: Cause = Cause.STORM
    warned: bool = False
    lost_at: datetime | None = None

    @property
    def has_to_move(self) -> bool:
        """Whether the interruption made it go."""
        return self.cause is Cause.STORM and self.way is not Move.LEFT

    @property
    def released_at(self) -> datetime | None:
        """When its replacement was asked for; None if it never was, nor is any more."""
        verbs = {Verb.RELEASE, Verb.ROLL_BACK}
        last = next((step for step in reversed(self.steps) if step.verb in verbs), None)
        return last.time if last is not None and last.verb == Verb.RELEASE else None

    @property
    def went_at(self) -> datetime | None:
        """When it was evicted or deleted last; None if it was not."""
        return self.departure.at

    @property
    def reason(self) -> str:
        """Why it went its way; of a last moment, why it came to that. Empty: nobody decided."""
        return self.departure.reason

    @property
    def why(self) -> str:
        """The same in a few words."""
        behind = moves.behind(self.steps)
        if behind is None:
            return NO_REPLACEMENT if self.warned else NO_WARNING
        return behind.cause or behind.message.rstrip(".")

    @property
    def remedy(self) -> str:
        """What its owner can change for the next time; empty where nothing is known."""
        behind = moves.behind(self.steps)
        return MORE_TIME if behind is None else behind.remedy

    @property
    def is_late(self) -> bool:
        """Whether it was lost with its node, or had to go before its replacement was available."""
        return self.way is Move.LOST or self.departure.is_late


def of(story: Sequence[DecisionRecord], nodes: Mapping[str, NodeAccount]) -> PodAccount:
    """The account of one, on one of these nodes if its node is known."""
    name = next((each.node for each in reversed(story) if each.node), "")
    node = nodes.get(name, NodeAccount(name=name))
    departure = Departure()
    for each in story:
        departure = departure.add(
            each.time, each.verb, each.reason, forced=each.forced, warning=each.warning
        )
    return PodAccount(
        subject=story[-1].subject,
        node=name,
        workload=next((each.workload for each in reversed(story) if each.workload), None),
        steps=story,
        way=moves.by_log(story, node_ended=node.off_at is not None),
        departure=departure,
        cause=_on_whose_part(story, node.noticed_at),
        warned=bool(node.leaves_time),
    )


def _on_whose_part(story: Sequence[DecisionRecord], marked_at: datetime | None) -> Cause:
    """Who made a pod go. From a node with a notice the interruption does."""
    if marked_at is not None and story[-1].time >= marked_at:
        return Cause.STORM
    reasons = (each.reason for each in story if each.verb in MOVES)
    found = (_ON_WHOSE_PART[each] for each in reasons if each in _ON_WHOSE_PART)
    return next(found, Cause.STORM)
