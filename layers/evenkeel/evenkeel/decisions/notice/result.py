"""What becomes of a notice that was delivered."""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.errors import ClusterError
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.metrics import Metric
from evenkeel.model.reasons import Reason

NO_ANSWER_DELAY: Final = timedelta(seconds=2)
"""When a notice is tried again that met an error."""


class Done(msgspec.Struct, frozen=True):
    """The notice need not come again: ``decision`` says why, and ``metric`` counts it."""

    decision: Decision
    metric: Metric | None = None


class Again(msgspec.Struct, frozen=True):
    """The notice has to be delivered again after ``delay``: ``reason`` and ``message`` say why.

    ``until`` is when it will not be waited for any longer, None if that is not known. ``error`` is
    what the API server refused or left unanswered.
    """

    reason: Reason
    message: str
    delay: timedelta = NO_ANSWER_DELAY
    until: datetime | None = None
    error: ClusterError | None = None


type Result = Done | Again


def instance_reference(instance_id: str) -> Reference:
    """What a decision about a notice is about, where that is no node."""
    return Reference(kind="Instance", name=instance_id)


def acknowledged(
    instance_id: str, reason: Reason, message: str, metric: Metric | None = None
) -> Done:
    """A notice that changes nothing, for no node is concerned."""
    decision = Decision.about(instance_reference(instance_id), Verb.ACKNOWLEDGE, reason, message)
    return Done(decision, metric)
