"""An eviction that somebody asks for, and what becomes of it: it is allowed, or deferred."""

from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.model import names
from evenkeel.model.decision import Decision
from evenkeel.model.reasons import Reason

OWN_GROUPS: Final = frozenset({"evenkeel-handover", "evenkeel-restore"})
"""The groups as which Evenkeel's functions evict (manifests/rbac)."""


class Evictor(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks for an eviction, as the API server knows it.

    ``field_manager`` is what the client says of itself. Another client that calls itself
    ``evenkeel`` does without the gate, and gets no right by it.
    """

    username: str = ""
    groups: frozenset[str] = frozenset()
    field_manager: str = ""

    @property
    def is_evenkeel(self) -> bool:
        """Whether Evenkeel itself asks, which evicts only what has a replacement or has to go."""
        return bool(OWN_GROUPS & self.groups) or self.field_manager == names.FIELD_MANAGER


class Eviction(msgspec.Struct, frozen=True, kw_only=True):
    """An eviction that somebody asks for.

    ``uid``: that of the pod; empty: any of this name. ``dry_run``: nothing may be written.
    """

    name: str
    namespace: str
    uid: str = ""
    evictor: Evictor = Evictor()
    dry_run: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """Its pod's namespace and name."""
        return self.namespace, self.name


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
