"""What becomes of an eviction that somebody asks for: it is allowed, or deferred."""

from datetime import datetime, timedelta

import msgspec

from evenkeel.model.decision import Decision
from evenkeel.model.reasons import Reason


class Allowed(msgspec.Struct, frozen=True, kw_only=True):
    """The eviction passes. ``warning``: although the pod has no replacement that serves.

    ``counted``: because of how many pods are available, which has to be known afresh.
    """

    reason: Reason
    message: str
    warning: bool = False
    counted: bool = False


class Deferred(msgspec.Struct, frozen=True, kw_only=True):
    """The eviction is refused for now; it may be asked for again ``retry_after`` so long.

    Zero: it need not be, for Evenkeel finishes it. ``until``: when it passes at the latest; None:
    that is not known.

    ``step`` takes the pod out of its ReplicaSet, so that its replacement is made meanwhile, or
    notes since when the eviction waits; None where nothing is to be written. ``in_turn``: others
    are released before it.
    """

    reason: Reason
    message: str
    retry_after: timedelta
    until: datetime | None = None
    step: Decision | None = None
    in_turn: bool = False


type Verdict = Allowed | Deferred
