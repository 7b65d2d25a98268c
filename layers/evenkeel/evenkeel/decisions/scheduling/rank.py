"""How good a node is for a pod, as a score of the scheduler's extender.

What counts first never gives way to what counts later: the kind of node, then how many pods of the
same workload it has, then whether it is idle.
"""

from enum import IntEnum
from typing import Final

from evenkeel.model.capacity import Capacity

FEWEST: Final = 2
"""What a node gains that has as few pods of the same workload as any."""

IDLE: Final = 1
"""What a node gains of which less than half is asked for."""


class Tier(IntEnum):
    """The kind of node; its value is the least score of its nodes."""

    SHORT = 0
    OTHER = 3
    WANTED = 7


def tier_of(capacity: Capacity, wanted: Capacity | None, *, is_short: bool) -> Tier:
    """The kind of a node for a pod that wants this capacity type; None: it wants neither.

    ``is_short``: EC2 takes spot instances of its type and zone back, and will take this one next.
    """
    if is_short:
        return Tier.SHORT
    return Tier.WANTED if wanted in (None, capacity) else Tier.OTHER


def base(tier: Tier, *, is_idle: bool) -> int:
    """The score of a node that has more pods of the same workload than another."""
    return tier + (IDLE if is_idle and tier is not Tier.SHORT else 0)
