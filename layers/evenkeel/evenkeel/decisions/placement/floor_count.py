"""Counting a floor: which of its places are taken, which are free, and which are unconfirmed.

A place is taken for good by a live pod that was placed on on-demand. From its claim until its pod
is there it is *unconfirmed*: the pod is about to be stored, the webhook died, or a quota refused
the pod. So an unconfirmed claim justifies neither spot for another pod, nor a second pod in its
place, until it has expired.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.model.placement import Claim, Placed


class Full(msgspec.Struct, frozen=True):
    """So many live pods hold the floor: whatever comes may go to spot."""

    taken: int


MOST_OFFERED: Final = 256
"""So many slots are offered at most: an API server admits 200 writes at a time by default.

It is also how many Leases a workload can leave behind whose pods never come.
"""


class Free(msgspec.Struct, frozen=True):
    """The lowest ``left`` slots that are not ``taken`` may be claimed.

    However many reviews look at once, and whatever they see: together they take no more than there
    are, as long as each takes its slot by a conditional write. ``taken`` is sorted. ``claims`` are
    those that there are by slot, also the ones that are left over from before. A floor is a
    tenant's number: its slots are never enumerated.
    """

    left: int
    taken: Sequence[int] = ()
    claims: Mapping[int, Claim] = {}

    @property
    def offered(self) -> int:
        """How many of the slots are offered, the lowest ones."""
        return min(self.left, MOST_OFFERED)

    def slot(self, position: int) -> int:
        """The free slot before which so many others are free."""
        slot = position
        for taken in self.taken:
            if taken <= slot:
                slot += 1
        return slot


class Unconfirmed(msgspec.Struct, frozen=True):
    """Every place that is left is claimed, but its pod is not there."""

    claims: int


type FloorCount = Full | Free | Unconfirmed


def count_floor(
    floor: int,
    pods: Sequence[Placed | None],
    claims: Sequence[Claim],
    now: datetime,
    expiry: timedelta,
) -> FloorCount:
    """Count. ``pods`` are what the live on-demand pods note, None where that cannot be read.

    - a pod counts, whatever it notes; its slot is taken;
    - a claim counts while it is younger than ``expiry``, unless its pod is among them;
    - of the slots that neither holds, the lowest may be claimed, as many as are left. A review that
      sees one claim more than another sees one slot less, and none that the other does not: so they
      cannot take too many together.

    The work grows with the pods and claims that there are, not with the floor.
    """
    if len(pods) >= floor:
        return Full(len(pods))
    here = {pod.claim for pod in pods if pod is not None}
    waiting = [
        claim
        for claim in claims
        if claim.slot < floor and claim.holder not in here and abs(now - claim.since) < expiry
    ]
    left = floor - len(pods) - len(waiting)
    if left <= 0:
        return Unconfirmed(len(waiting))
    taken = {pod.slot for pod in pods if pod is not None} | {claim.slot for claim in waiting}
    inside = sorted(slot for slot in taken if slot is not None and slot >= 0)
    return Free(left, inside, {claim.slot: claim for claim in claims})
