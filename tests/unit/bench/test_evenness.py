"""The storm on simulated time, and what counts as uneven."""

import msgspec

from bench.evenness.results import Evenness
from bench.evenness.run import run
from bench.report import evenness as report
from bench.storm.scenario import SCENARIOS
from tests.unit.bench.made import CONDITIONS

FOUND = Evenness(
    conditions=CONDITIONS,
    nodes=100,
    pods=3_000,
    qps=20.0,
    requests_per_second=90.0,
    made=1_500,
    late=0,
    shares=[0.5, 0.4, 0.6],
    singles_at_zero=0,
)


def test_a_storm_that_the_controllers_keep_up_with_takes_nothing_away() -> None:
    said: list[str] = []
    found = run(SCENARIOS["D"].of(4), said.append)
    assert (found.pods, found.made, found.late) == (120, 120, 0)
    assert (set(found.shares), found.singles_at_zero) == ({1.0}, 0)
    assert said == [
        "120 pods are on 4 spot nodes",
        "the last grace period begins: 120 replacements, 0 pods not told to go",
    ]


def test_as_wanted_is_four_fifths_of_what_was_made_and_nothing_late_nor_at_zero() -> None:
    assert FOUND.missed == []
    uneven = msgspec.structs.replace(FOUND, shares=[0.5, 0.39], late=2, singles_at_zero=1)
    assert uneven.missed == [
        "lowest share 0.39, wanted 0.40",
        "2 pods not told to go in time, wanted none",
        "1 single replicas at zero, wanted none",
    ]


def test_the_table_has_one_row_and_says_what_was_wanted() -> None:
    table = report.table(FOUND)
    assert "| 1,500 of 3,000 | 0 | 0.40 | 0.50 | 0.60 | 0 |" in table
    assert "a lowest share of 0.40 at least" in table
