"""What a case measures: figures, each with a name, a value, a unit and perhaps a mark."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import median

import msgspec


class Mark(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a value is wanted to be: ``most`` at the most, ``least`` at the least."""

    most: float | None = None
    least: float | None = None

    def __str__(self) -> str:
        """``at most 50``."""
        if self.most == self.least:
            return f"exactly {self.most:g}"
        return f"at most {self.most:g}" if self.most is not None else f"at least {self.least:g}"

    def is_met(self, value: float | None) -> bool:
        """Whether a value is as wanted. None, which is a moment that never came, is not."""
        if value is None:
            return False
        above = self.least is None or value >= self.least
        return above and (self.most is None or value <= self.most)

    def worst(self, values: Sequence[float | None]) -> float | None:
        """The largest, or the smallest where a least is wanted; None if one never was."""
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        return min(known) if self.most is None else max(known)


NONE = Mark(most=0)
"""None of what is counted."""


class Figure(msgspec.Struct, frozen=True, omit_defaults=True):
    """One figure. ``of`` is what it was measured of, where one measurement compares several.

    ``value`` is None where the moment that it names never came, and a sequence where it is a
    curve. Those that are not ``shown`` in tables are kept for what is reckoned from them.
    """

    name: str
    value: float | Sequence[float] | None
    unit: str = ""
    mark: Mark | None = None
    of: str = ""
    shown: bool = True

    @property
    def key(self) -> tuple[str, str]:
        """The same figure of another round has the same."""
        return self.name, self.of


def marked(figures: Iterable[Figure], marks: Mapping[tuple[str, str], Mark]) -> Sequence[Figure]:
    """The same figures, some with a mark, which is found by its figure's key."""
    return [
        msgspec.structs.replace(each, mark=marks[each.key]) if each.key in marks else each
        for each in figures
    ]


def spread(name: str, seconds: Iterable[float], of: str = "") -> Sequence[Figure]:
    """The median, the 99th percentile and the worst of durations, in milliseconds."""
    found = percentiles(seconds)
    return [
        Figure(f"{name}, {what}", None if found is None else found[place] * 1000, "ms", of=of)
        for place, what in enumerate(("median", "p99", "worst"))
    ]


def percentiles(durations: Iterable[float]) -> tuple[float, float, float] | None:
    """The median, the 99th percentile and the worst; None of nothing."""
    ordered = sorted(durations)
    if not ordered:
        return None
    rank = max(0, -(-99 * len(ordered) // 100) - 1)
    return median(ordered), ordered[rank], ordered[-1]


def middle(values: Sequence[float | None]) -> float | None:
    """The median; None if one of them never was."""
    known = [value for value in values if value is not None]
    return median(known) if known and len(known) == len(values) else None
