"""What becomes of an eviction that somebody asks for: it is allowed, or deferred."""

from datetime import timedelta

import msgspec

from evenkeel.model.decision import Decision


class Allowed(msgspec.Struct, frozen=True, kw_only=True):
    """The eviction passes. ``warning``: although the pod has no replacement that serves."""

    reason: str
    message: str
    warning: bool = False


class Deferred(msgspec.Struct, frozen=True, kw_only=True):
    """The eviction is refused for now; it may be asked for again ``retry_after`` so long.

    ``release`` takes the pod out of its ReplicaSet, so that its replacement is made meanwhile; None
    where that has happened already, or is not the gate's to do.
    """

    reason: str
    message: str
    retry_after: timedelta
    release: Decision | None = None


type Verdict = Allowed | Deferred
