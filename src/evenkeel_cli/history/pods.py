"""What became of each pod, by the records about it."""

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from evenkeel.adapters.telemetry.decision_log import DecisionRecord
from evenkeel.decisions.drain.remedies import MORE_TIME
from evenkeel.decisions.interruption.late import LAST_ON_PURPOSE
from evenkeel.model.decision import Verb
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason
from evenkeel_cli import moves
from evenkeel_cli.history import steps
from evenkeel_cli.history.counts import Cause
from evenkeel_cli.history.steps import Step
from evenkeel_cli.moves import Move

_GONE: Final = frozenset({Verb.EVICT, Verb.DELETE})

_BEGUN: Final = _GONE | {Verb.RELEASE}
"""Verbs with which a pod begins to go; the reason is why it has to."""

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


class LostPod(NamedTuple):
    """A pod whose node was gone before it was told to go. ``warned``: see PodAccount."""

    subject: Reference
    node: str
    workload: Reference
    at: datetime | None
    warned: bool


class PodAccount(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided about one pod, in order, and which way it went by that.

    ``workload`` is None for a pod without a controller that Evenkeel knows, and ``cause`` on whose
    part it had to go. ``warned``: its node's notice left time for a handover.
    """

    subject: Reference
    node: str
    workload: Reference | None
    steps: Sequence[Step]
    way: Move
    cause: Cause = Cause.STORM
    warned: bool = False

    @property
    def has_to_move(self) -> bool:
        """Whether the interruption made it go."""
        return self.cause is Cause.STORM and self.way is not Move.LEFT

    @property
    def released_at(self) -> datetime | None:
        """When its replacement was asked for; None if it never was, or not any more."""
        last = self._last({Verb.RELEASE, Verb.ROLL_BACK})
        return last.at if last is not None and last.verb == Verb.RELEASE else None

    @property
    def went_at(self) -> datetime | None:
        """When it was evicted or deleted last; None if it was not."""
        last = self._last(_GONE)
        return None if last is None else last.at

    @property
    def reason(self) -> str:
        """Why it went its way; of a last moment, why it came to that. Empty: nobody decided."""
        behind = moves.behind(self.steps)
        return "" if behind is None else behind.reason

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
        """Whether it was lost with its node, or had to go before its replacement was available.

        A pod that is meant to go at the last moment (a Job's, a bare one) is not late by that.
        """
        if self.way is Move.LOST:
            return True
        last = self._last(_GONE)
        forced = last is not None and last.forced and last.warning
        return forced and self.reason not in LAST_ON_PURPOSE

    def _last(self, verbs: Iterable[str]) -> Step | None:
        return next((step for step in reversed(self.steps) if step.verb in verbs), None)


def of(
    story: Sequence[DecisionRecord],
    ended: Container[str],
    marks: Mapping[str, datetime],
    warned: Container[str],
) -> PodAccount:
    """The account of one. ``marks``: when nodes were marked first; those that ``ended`` are off.

    Those that are ``warned`` had some time left.
    """
    node = next((each.node for each in reversed(story) if each.node), "")
    taken = steps.of(story)
    return PodAccount(
        subject=story[-1].subject,
        node=node,
        workload=next((each.workload for each in reversed(story) if each.workload), None),
        steps=taken,
        way=moves.by_log(taken, node_ended=node in ended),
        cause=_on_whose_part(story, marks.get(node)),
        warned=node in warned,
    )


def lost(pod: LostPod) -> PodAccount:
    """A pod that nothing was decided about."""
    return PodAccount(
        subject=pod.subject,
        node=pod.node,
        workload=pod.workload,
        steps=(),
        way=Move.LOST,
        warned=pod.warned,
    )


def _on_whose_part(story: Sequence[DecisionRecord], marked_at: datetime | None) -> Cause:
    """Who made a pod go. From a node with a notice the interruption does."""
    if marked_at is not None and story[-1].time >= marked_at:
        return Cause.STORM
    reasons = (each.reason for each in story if each.verb in _BEGUN)
    found = (_ON_WHOSE_PART[each] for each in reasons if each in _ON_WHOSE_PART)
    return next(found, Cause.STORM)
