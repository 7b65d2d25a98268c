"""Releases: what is kept on a pod that was taken out of its ReplicaSet."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar, override

from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.names import is_subdomain
from evenkeel.model.notes import VERSION, Note
from evenkeel.model.pool import MOST, Pool

LONGEST_RELEASE = timedelta(days=1)
"""No release lasts longer: a day is also the most that a recommendation may be made to count."""

LONGEST_PATIENCE = timedelta(hours=1)
"""The longest that an owner can have evictions wait for a replacement."""

CLOCK_SKEW = timedelta(minutes=5)
"""How far the clocks of the processes that write and that read a release may be apart."""


class ReleaseReason(StrEnum):
    """Why a pod was released."""

    INTERRUPTION = "interruption"
    REBALANCE = "rebalance"
    RESTORE = "restore"
    EVICTION = "eviction"
    DRAIN = "drain"


class Release(Note, frozen=True, kw_only=True, rename="camel"):
    """The annotation ``evenkeel.dev/release`` of a released pod.

    ``controller`` and ``controller_uid`` name the ReplicaSet that it was taken from.
    ``wanted`` is how many available pods the ReplicaSet had, or was about to have, then.
    ``do_not_disrupt`` is the value of Karpenter's annotation before the release, None if
    there was none. ``target``: its replacement has to be on this capacity type, and in none of the
    pools to ``avoid``; so many of the ReplicaSet's pods were ``there`` at the release.
    ``without_room``: no node there had room for its replacement then. ``asked_by``: who asked for
    its eviction, where that led to the release.
    """

    key: ClassVar = names.RELEASE

    v: int = VERSION
    reason: ReleaseReason
    deadline: datetime
    since: datetime
    wanted: int
    controller: str
    controller_uid: str
    do_not_disrupt: str | None = None
    target: Capacity | None = None
    avoid: tuple[Pool, ...] = ()
    there: int = 0
    without_room: bool = False
    asked_by: str = ""

    @property
    def is_voluntary(self) -> bool:
        """Whether it is rolled back at its deadline, rather than carried through."""
        return self.reason is not ReleaseReason.INTERRUPTION

    @property
    def is_asked(self) -> bool:
        """Whether somebody's eviction of the pod led to it."""
        return self.reason is ReleaseReason.EVICTION

    @property
    def cooldown(self) -> str:
        """The annotation of its workload by which such handovers rest after one that failed.

        Each kind rests after its own failures: that no node of spot took a pod says nothing of
        whether an eviction finds a replacement.
        """
        if self.is_asked:
            return names.EVICTION_COOLDOWN
        return names.POOL_COOLDOWN if self.avoid else names.COOLDOWN

    def takes(self, pool: Pool | None) -> bool:
        """Whether its replacement may be in this pool; None: on an on-demand node."""
        return (pool is None) is (self.target is Capacity.ON_DEMAND) and pool not in self.avoid

    @property
    @override
    def makes_sense(self) -> bool:
        """Whether Evenkeel can have written this. Anybody who may annotate pods may have.

        - its times are in range;
        - ``controller`` can be the name of a ReplicaSet, and ``controller_uid`` is there;
        - it ends in time: a pod without a replacement would be watched until then;
        - it names no more pools than a note has, and only such as labels of nodes can say.
        """
        return (
            super().makes_sense
            and is_subdomain(self.controller)
            and self.controller_uid != ""
            and self.deadline - self.since <= LONGEST_RELEASE
            and len(self.avoid) <= MOST
            and all(pool.can_be for pool in self.avoid)
        )


class Asked(Note, frozen=True, kw_only=True, rename="camel"):
    """The annotation ``evenkeel.dev/eviction-asked`` of a pod that waits for its release."""

    key: ClassVar = names.ASKED

    v: int = VERSION
    by: str
    since: datetime


class Cooldown(Note, frozen=True, kw_only=True, rename="camel"):
    """The annotation ``evenkeel.dev/cooldown`` of a workload whose handover was rolled back.

    Those of evictions and of moves to other pools have annotations of their own.
    """

    key: ClassVar = names.COOLDOWN

    v: int = VERSION
    failures: int
    until: datetime

    def counts(self, now: datetime) -> int:
        """The failures that still count: all of them, until the last is a good while ago."""
        return max(0, self.failures) if now < self.until + FORGOTTEN_AFTER else 0

    @property
    def since(self) -> datetime:
        """When the last failure was counted."""
        return self.until - rest_after(self.failures)


COOLDOWN_FIRST = timedelta(minutes=5)
"""The first cooldown; each further failure doubles it."""

COOLDOWN_LONGEST = timedelta(hours=6)
"""No cooldown is longer than this."""

FORGOTTEN_AFTER = timedelta(hours=24)
"""So long after the end of a cooldown without another failure, failures are forgotten."""


def rest_after(failures: int) -> timedelta:
    """How long a workload rests after so many failures."""
    doubled: int = 1 << min(max(0, failures - 1), 10)
    return min(COOLDOWN_FIRST * doubled, COOLDOWN_LONGEST)
