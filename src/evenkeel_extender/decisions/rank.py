"""How good a node is for a pod, as a score of the scheduler's extender.

What counts first never gives way to what counts later: the kind of node, then whether its pool has
all pods of the workload that it is to have, then how many of them it has, then whether it is idle.
"""

from enum import IntEnum
from functools import cache
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


@cache
def beside_full_pools(score: int, *, is_ahead: bool) -> int:
    """A node's score where some pools have all pods of the workload that they are to have.

    ``is_ahead``: the node is in another pool. It comes before all others of its kind, and whether a
    node is idle counts no more. On-demand nodes are in no pool: to a pod that may as well go there
    they are worth as much as those of full pools. A short pool is last in any case, full or not.
    """
    tier = max(each for each in Tier if each <= score)
    if tier is Tier.SHORT:
        return score
    has_fewest = score - tier >= FEWEST
    return tier + (2 if is_ahead else 0) + has_fewest
