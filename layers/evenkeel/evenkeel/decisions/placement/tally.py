"""Counting a floor: which of its places are taken, which are free, and which nobody knows of.

A place is taken for good by a live pod that was placed on on-demand. From its claim until its pod
is there it is *unconfirmed*: somebody is about to fill it, or died, or the pod was refused by a
quota. So an unconfirmed claim justifies neither spot for another pod, nor a second pod in its
place, until it has expired.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from evenkeel.model.placement import Claim, Placed


class Full(msgspec.Struct, frozen=True):
    """So many live pods hold the floor: whatever comes may go to spot."""

    taken: int


class Free(msgspec.Struct, frozen=True):
    """Slots of which each may be claimed, with the claim that is left over from before, if any.

    However many look at once, and whatever they see: together they take no more than there are,
    as long as each takes its slot by a conditional write.
    """

    slots: tuple[tuple[int, Claim | None], ...]


class Unconfirmed(msgspec.Struct, frozen=True):
    """Every place that is left is claimed, but its pod is not there."""

    claims: int


type Tally = Full | Free | Unconfirmed


def tally(
    floor: int,
    pods: Sequence[Placed | None],
    claims: Sequence[Claim],
    now: datetime,
    expiry: timedelta,
) -> Tally:
    """Count. ``pods`` are what the live on-demand pods note, None where that cannot be read.

    - a pod counts, whatever it notes; its slot is taken;
    - a claim counts while it is younger than ``expiry``, unless its pod is among them;
    - of the slots that neither holds, the lowest may be claimed, as many as are left. Whoever sees
      one claim more than another sees one slot less, and none that the other does not: that is why
      they cannot take too many together.
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
    by_slot = {claim.slot: claim for claim in claims}
    open_slots = [slot for slot in range(floor) if slot not in taken]
    return Free(tuple((slot, by_slot.get(slot)) for slot in open_slots[:left]))
