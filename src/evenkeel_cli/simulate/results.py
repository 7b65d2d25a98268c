"""What was seen in a storm: which workloads had too few pods, and how a day of weather was."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from evenkeel.model.meta import Reference


class Dip(msgspec.Struct, frozen=True, kw_only=True):
    """A workload that had fewer Ready pods than before the storm.

    ``lowest`` is the fewest, ``below`` and ``at_zero`` are for how many seconds there were fewer,
    and none. ``recovered``: there were as many again before the storm was watched no longer.
    ``because`` is why, and ``pool`` which pool's nodes most of its pods were on.
    """

    workload: Reference
    before: int
    lowest: int
    below: int
    at_zero: int
    recovered: bool
    because: str
    pool: str


class Fall(msgspec.Struct, frozen=True, kw_only=True):
    """A pool had no node any more, of ``nodes``.

    ``bound`` workloads have a bound for what one pool has of their pods. ``over`` are those of
    which it had more: how many, and the bound.
    """

    at: datetime
    pool: str
    nodes: int
    bound: int
    over: Mapping[str, tuple[int, int]]


class Spell(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen of a day of weather.

    ``minutes`` are those of all workloads, ``below`` those in which one had fewer Ready pods than
    it wants. It took ``hours``, and those of all nodes are ``spot_hours`` and ``on_demand_hours``.
    ``cost`` is what the nodes cost in US dollars a month, had it gone on like this; None where a
    price is not known. ``falls`` are those of pools to nothing.
    """

    minutes: float
    below: float
    hours: float
    spot_hours: float
    on_demand_hours: float
    cost: float | None
    falls: Sequence[Fall]


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen in one storm: so many nodes noticed, nodes made, and pods lost with a node.

    ``spell``: what more was seen of a day of weather.
    """

    nodes: int
    made: int
    lost: int
    dips: Sequence[Dip]
    spell: Spell | None = None
