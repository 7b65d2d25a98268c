"""``python -m bench.sense FILES``: how often a pool's first notice tells what goes next.

The files are those of https://github.com/skypilot-org/spot-traces, which has no licence: they are
read where they are. Two tables of docs/spot-weather.md are written.
"""

import argparse
import re
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import permutations, product
from pathlib import Path
from statistics import mean
from typing import Final, NamedTuple

import msgspec

from bench.conditions import ROOT
from bench.pages import paste
from bench.tables import markdown

PAGE: Final = ROOT / "docs" / "spot-weather.md"
NAME: Final = re.compile(r"([0-9]+-node)_.*_((?:[a-z]+-)+[0-9])([a-z])_")
WINDOW: Final = 180
"""Seconds after the first notice."""

AGES: Final = (5, 10, 20, 40, 80, 160)
"""Minutes since a pool's last fall, between which its record is kept."""

AVOIDED: Final = (0, 3, 5, 10, 15, 20, 30, 45, 60, 90, 120, 240)
"""Minutes for which a pool may be avoided after a fall."""

TODAY: Final = 10
WEIGHTS: Final = (5, 20, 50, 200, 1e6)
"""How many samples of others' records a pool's own weighs against."""

RISKS: Final = (0.02, 0.03, 0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6, 1.1)
"""A pool is avoided from this chance of a fall on."""

MOST: Final = 200
"""A record counts so many samples of an age at most: then half of them are forgotten."""

PRICES: Final = (1, 5, 10, 20, 40, 80, 160)
"""Minutes of avoiding that a fall into which one ran is worth."""


class Trace(NamedTuple):
    """A pool: how many nodes could be had, sample after sample."""

    group: str
    region: str
    zone: str
    gap: float
    data: tuple[int, ...]

    @property
    def falls(self) -> Sequence[int]:
        """The samples in which there were fewer than in the one before."""
        return [n for n in range(1, len(self.data)) if self.data[n] < self.data[n - 1]]

    @property
    def near(self) -> int:
        """How many samples after one are within the window; that one is, too."""
        return int(WINDOW // self.gap)

    @property
    def next(self) -> int:
        """In how many samples the window ends, at least one."""
        return max(1, -int(-WINDOW // self.gap))


class Hits(NamedTuple):
    """Of ``alarms`` so many were ``right``, and of all moments so many ``by_chance``.

    Of ``events`` so many were ``told`` of.
    """

    alarms: int = 0
    right: int = 0
    chances: int = 0
    by_chance: int = 0
    events: int = 0
    told: int = 0

    def row(self, *name: str) -> Sequence[str]:
        """Its row of the table."""
        return [
            *name,
            str(self.alarms),
            _share(self.right, self.alarms),
            _share(self.by_chance, self.chances),
            _share(self.told, self.events),
        ]


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _sum(found: Iterable[Hits]) -> Hits:
    return Hits(*map(sum, zip(Hits(), *found, strict=True)))


def own(trace: Trace) -> Hits:
    """The other nodes of the pool, one by one: do they go in the same window?"""
    data, near, falls = trace.data, trace.near, set(trace.falls)
    firsts = [n for n in sorted(falls) if not falls.intersection(range(n - trace.next, n))]
    others = sum(data[n - 1] - 1 for n in firsts)
    lost = sum(data[n - 1] - min(data[n : n + near + 1]) - 1 for n in firsts)
    up = [n for n in range(1, len(data) - near) if data[n - 1]]
    by_chance = sum(data[n - 1] - min(data[n - 1 : n + near + 1]) for n in up)
    gone = sum(data[n - 1] - data[n] for n in falls)
    return Hits(others, lost, sum(data[n - 1] for n in up), by_chance, gone, lost)


def sibling(trace: Trace, other: Trace) -> Hits:
    """Another pool that has nodes: does it fall in the window?"""
    end = min(len(trace.data), len(other.data)) - trace.near
    falls, others = set(trace.falls), {n for n in other.falls if n < end}
    window = range(trace.near + 1)
    firsts = [n for n in trace.falls if not falls.intersection(range(n - trace.next, n))]
    alarms = [n for n in firsts if n < end and other.data[n - 1]]
    up = [n for n in range(1, end) if other.data[n - 1]]
    told = [n for n in others if any(n - step in falls for step in window)]
    return Hits(
        len(alarms),
        sum(any(n + step in others for step in window) for n in alarms),
        len(up),
        sum(any(n + step in others for step in window) for n in up),
        len(others),
        len(told),
    )


def families(traces: Sequence[Trace]) -> str:
    """Markdown: how often the first notice of a pool is right about others, by kin and group."""
    rows = []
    groups = list(dict.fromkeys(each.group for each in traces))
    for group in groups:
        its = [each for each in traces if each.group == group]
        if (hits := _sum(map(own, its))).alarms:
            rows.append(hits.row("the pool's other nodes", group))
    for name, is_near in (("another zone of the region", True), ("another region", False)):
        for group in groups:
            pairs = permutations([each for each in traces if each.group == group], 2)
            kin = [
                sibling(*each) for each in pairs if (each[0].region == each[1].region) == is_near
            ]
            if kin:
                rows.append(_sum(kin).row(f"pools of the type in {name}", group))
    head = ["what goes, too", "traces", "first notices, times others", "right", "by chance", "told"]
    return markdown(head, rows)


type Moment = tuple[float, bool]
"""Minutes since the pool's last fall, and whether it falls within the window."""

type Rule = Callable[[Sequence[Moment]], Sequence[bool]]
"""At which of these moments the pool is avoided."""


@cache
def moments(trace: Trace) -> Sequence[Moment]:
    """The samples after the first fall in which the pool has nodes."""
    falls, found = set(trace.falls), []
    last = None
    for n in range(len(trace.data) - trace.next):
        last = n if n in falls else last
        if last is not None and trace.data[n]:
            soon = any(n + step in falls for step in range(1, trace.next + 1))
            found.append(((n - last) * trace.gap / 60, soon))
    return found


def constant(minutes: float) -> Rule:
    """Avoid a pool for so long after each fall."""
    return lambda seen: [age < minutes for age, _ in seen]


def record(prior: Sequence[float], weight: float, risk: float) -> Rule:
    """Avoid a pool where its own record, and others', see such a chance of a fall at its age."""

    def rule(seen: Sequence[Moment]) -> Sequence[bool]:
        counts, falls = [0.0] * len(prior), [0.0] * len(prior)
        found = []
        for age, soon in seen:
            place = bisect_right(AGES, age)
            chance = (falls[place] + weight * prior[place]) / (counts[place] + weight)
            found.append(chance >= risk)
            counts[place], falls[place] = counts[place] + 1, falls[place] + soon
            if counts[place] > MOST:
                counts[place], falls[place] = counts[place] / 2, falls[place] / 2
        return found

    return rule


def chances(seen: Iterable[Sequence[Moment]]) -> Sequence[float]:
    """How often pools fall at each age."""
    counts, falls = Counter[int](), Counter[int]()
    for each in seen:
        for age, soon in each:
            counts[bisect_right(AGES, age)] += 1
            falls[bisect_right(AGES, age)] += soon
    return [falls[n] / max(1, counts[n]) for n in range(len(AGES) + 1)]


class Loss(NamedTuple):
    """A day: minutes that a pool is avoided for nothing, and falls that one runs into."""

    idle: float
    falls: float

    def at(self, price: float) -> float:
        """Both together, where a fall counts as so many minutes."""
        return self.idle + price * self.falls


def loss(trace: Trace, rule: Rule) -> Loss:
    """What a rule costs in a pool."""
    seen = moments(trace)
    pairs = list(zip(rule(seen), seen, strict=True))
    idle = sum(avoided and not soon for avoided, (_, soon) in pairs)
    missed = sum(soon and not avoided for avoided, (_, soon) in pairs)
    days = len(seen) * trace.gap / 86_400
    return Loss(idle * trace.gap / 60 / days, missed / days)


def learned(traces: Sequence[Trace]) -> str:
    """Markdown: the constant of today, one that others teach, and the pool's own record.

    What is taught is what costs least in the traces of other groups.
    """
    constants = [[loss(each, constant(minutes)) for each in traces] for minutes in AVOIDED]
    tests: list[tuple[list[int], Losses]] = []
    for group in dict.fromkeys(each.group for each in traces):
        unseen = [n for n, each in enumerate(traces) if each.group == group]
        prior = chances(moments(each) for each in traces if each.group != group)
        rules = [record(prior, *each) for each in product(WEIGHTS, RISKS)]
        tests.append((unseen, [[loss(each, rule) for each in traces] for rule in rules]))
    rows = []
    for price in PRICES:
        today: list[float] = []
        taught: list[float] = []
        own_record: list[float] = []
        for unseen, records in tests:
            today += _at(price, unseen, constants[AVOIDED.index(TODAY)])
            taught += _at(price, unseen, _best(price, unseen, constants))
            own_record += _at(price, unseen, _best(price, unseen, records))
        rows.append(
            [
                f"{price} min",
                *(f"{mean(each):,.0f}" for each in (today, taught, own_record)),
                f"{sum(r < t for r, t in zip(own_record, today, strict=True))} of {len(today)}",
                f"{sum(r < t for r, t in zip(own_record, taught, strict=True))} of {len(today)}",
            ]
        )
    head = ["a fall counts as", f"{TODAY} minutes, as today", "minutes by other traces"]
    return markdown([*head, "own record", "it beats today's", "it beats the taught ones"], rows)


type Losses = Sequence[Sequence[Loss]]
"""Of each rule what it costs in each pool."""


def _at(price: float, where: Sequence[int], its: Sequence[Loss]) -> list[float]:
    return [its[n].at(price) for n in where]


def _best(price: float, unseen: Sequence[int], losses: Losses) -> Sequence[Loss]:
    """Those of the rule that costs least in the other pools."""
    others = [n for n in range(len(losses[0])) if n not in unseen]
    return min(losses, key=lambda its: sum(_at(price, others, its)))


def read(path: Path) -> Trace:
    """A trace, by its file's name and what it holds."""
    found = NAME.match(path.name)
    assert found is not None, f"{path.name} does not name nodes, region and zone"
    held = msgspec.json.decode(path.read_bytes())
    group, region, zone = found.groups()
    return Trace(group, region, zone, held["metadata"]["gap_seconds"], tuple(held["data"]))


def main(arguments: Sequence[str]) -> int:
    """Write both tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.sense", description=__doc__)
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path)
    traces = [read(each) for each in parser.parse_args(arguments).files]
    made = {"families": families(traces), "learned": learned(traces)}
    print(*made.values(), sep="\n")
    PAGE.write_text(paste(PAGE.read_text(), made))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
