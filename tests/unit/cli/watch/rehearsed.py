"""A storm over the built-in cluster, looked at as it goes.

``python -m tests.unit.cli.watch.rehearsed --keep`` writes what terminals show of it into ``kept/``:
look at the difference before you commit it.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from evenkeel.model.capacity import WELL_KNOWN
from evenkeel_cli.cost.prices import read as read_prices
from evenkeel_cli.screen import making
from evenkeel_cli.screen.views import Fact, Screen
from evenkeel_cli.simulate import clusters
from evenkeel_cli.simulate.trial import Ground, Policy, Setting
from evenkeel_cli.watch import terminal
from evenkeel_cli.watch.rehearsal import Rehearsal
from evenkeel_sandbox.storms.shapes import OnePool
from tests.kit.clocks import NOW

KEPT: Final = Path(__file__).with_name("kept")
SIZES: Final = {"80x24": (80, 24), "200x50": (200, 50)}
MIDST: Final = timedelta(seconds=100)
"""So long after the storm began the screens are of."""


@dataclass
class HurryingClock:
    """The clock of a person to whom a storm of minutes passes in seconds."""

    at: datetime = NOW
    per_look: timedelta = timedelta(milliseconds=40)
    slept: list[timedelta] = field(default_factory=list)

    def now(self) -> datetime:
        self.at += self.per_look
        return self.at

    def sleep(self, duration: timedelta) -> None:
        self.slept.append(duration)
        self.at += duration

    def boot(self) -> timedelta:
        return self.at - NOW


def screens() -> Iterator[Screen]:
    """A pool of spot nodes goes."""
    setting = Setting(
        shape=OnePool(timedelta(seconds=60)), policy=Policy.EVENKEEL, labels=WELL_KNOWN
    )
    objects = clusters.read(None, built_in=True)
    rehearsal = Rehearsal(
        Ground.of(objects), setting, 0, "a rehearsal", read_prices(None), 1_000, HurryingClock()
    )
    return (making.of(each) for each in rehearsal.looks())


@cache
def story() -> tuple[Screen, Screen, Screen]:
    """The first screen, one in the midst of the storm, and the last one."""
    all_of_it = list(screens())
    begins = next(each.begins for each in all_of_it if each.begins is not None)
    midst = next(each for each in all_of_it if each.at >= begins + MIDST)
    return all_of_it[0], midst, all_of_it[-1]


def shown(size: str) -> str:
    """What a terminal shows in the midst."""
    _, midst, _ = story()
    facts = [*filter(_is_fixed, midst.facts), Fact(name="at work", text="evenkeel-1")]
    fixed = msgspec.structs.replace(midst, facts=facts)
    painted = terminal.lines(fixed, *SIZES[size])
    return "".join(f"{line.plain.rstrip()}\n" for line in painted)


def _is_fixed(fact: Fact) -> bool:
    return fact.name not in {"at work", "version"}


if __name__ == "__main__" and "--keep" in sys.argv[1:]:
    for each_size in SIZES:
        (KEPT / f"{each_size}.txt").write_text(shown(each_size))
