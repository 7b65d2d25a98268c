"""How many replicas of a workload have to be on on-demand nodes, as its owner says it."""

import re
from enum import StrEnum
from typing import Final

import msgspec

MAJORITY = "majority"

FORMS: Final = "none, all, majority, a number such as 2, or a percentage such as 30%"
"""What an owner may write."""

_COUNT = re.compile(r"[0-9]{1,6}")
_PERCENT = re.compile(r"([0-9]{1,3})%")


class Unit(StrEnum):
    """What a floor's amount counts."""

    REPLICAS = "replicas"
    PERCENT = "percent"
    MAJORITY = "majority"


class Floor(msgspec.Struct, frozen=True):
    """A floor: ``none``, ``all``, ``majority``, a number of replicas, or a percentage of them.

    ``none`` and ``all`` are 0 % and 100 %. Of a majority the amount does not matter.
    """

    unit: Unit
    amount: int = 0

    def of(self, size: int) -> int:
        """How many of ``size`` replicas; percentages round up, and never more than there are."""
        if size <= 0:
            return 0
        match self.unit:
            case Unit.MAJORITY:
                return size // 2 + 1
            case Unit.PERCENT:
                return min(size, -(-size * self.amount // 100))
            case _:
                return min(size, self.amount)

    def includes(self, index: int | None) -> bool:
        """Whether the replica with this index, from 0, is one of the floor, whatever the size.

        A floor grows by at most one per replica: the replicas at which it grows are those of
        the floor, so that every size has exactly as many as it has to. A replica whose index is
        not known (None) is one of it: what is not known never justifies spot.
        """
        return index is None or self.of(index + 1) > self.of(index)

    def __str__(self) -> str:
        """As an owner writes it."""
        match self.unit:
            case Unit.MAJORITY:
                return MAJORITY
            case Unit.PERCENT if self.amount in (0, 100):
                return "all" if self.amount else "none"
            case Unit.PERCENT:
                return f"{self.amount}%"
            case _:
                return str(self.amount)


NONE = Floor(Unit.PERCENT, 0)
ALL = Floor(Unit.PERCENT, 100)
MAJORITY_OF_ALL = Floor(Unit.MAJORITY)


def read(text: str) -> Floor | None:
    """The floor that an annotation's value means; None if it means none that there is."""
    text = text.strip()
    named = {"none": NONE, "all": ALL, MAJORITY: MAJORITY_OF_ALL}.get(text)
    if named is not None:
        return named
    if _COUNT.fullmatch(text):
        return Floor(Unit.REPLICAS, int(text))
    percent = _PERCENT.fullmatch(text)
    if percent is not None and int(percent[1]) <= 100:
        return Floor(Unit.PERCENT, int(percent[1]))
    return None
