"""Simulated storms over a large cluster, and what is too slow."""

import msgspec
import pytest

from bench.report import simulating as report
from bench.simulating import run as running
from bench.simulating.results import Simulating
from tests.unit.bench.made import CONDITIONS

FOUND = Simulating(
    conditions=CONDITIONS,
    nodes=200,
    pods=6_000,
    storms=50,
    jobs=2,
    seconds=540.0,
    cpu=1_000.0,
    inside=1.5,
    struck=300,
    growth=6.0,
)


def test_the_functions_are_counted_while_a_storm_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "NODES", 20)
    monkeypatch.setattr(running, "PODS", 60)
    inside, struck = running.inside_functions()
    assert inside > 0
    assert 0 < struck < 12


def test_fifty_storms_take_ten_minutes_at_most_and_a_pod_no_more_than_elsewhere() -> None:
    assert FOUND.missed == []
    slow = msgspec.structs.replace(FOUND, seconds=630.0, inside=2.1)
    assert slow.missed == [
        "50 storms: 10.5 min, wanted at most 10",
        "CPU per pod: 7.0 ms, wanted at most 6.0 ms",
    ]


def test_what_was_reckoned_from_fewer_storms_says_so() -> None:
    few = msgspec.structs.replace(FOUND, storms=5, seconds=66.0)
    assert few.missed == ["50 storms: 11.0 min, wanted at most 10"]
    assert "11.0 min (reckoned)" in report.table(few)
    assert "reckoned" not in report.table(FOUND)
