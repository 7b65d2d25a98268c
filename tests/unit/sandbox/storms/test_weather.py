"""Days of spot weather, as files of spot-traces have them."""

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from evenkeel_sandbox.storms.trace import TraceError
from evenkeel_sandbox.storms.weather import Change, PoolTrace, Weather

MINUTES_5 = timedelta(minutes=5)
A_DAY = 288
"""Samples."""


def trace(path: Path, data: Sequence[int], gap: float = 300) -> PoolTrace:
    path.write_text(json.dumps({"metadata": {"gap_seconds": gap}, "data": data}))
    return PoolTrace.read(path)


def weather(*pools: Sequence[float], gap: timedelta = MINUTES_5) -> Weather:
    return Weather(tuple(PoolTrace(gap, tuple(each)) for each in pools), timedelta(seconds=180))


def test_samples_are_shares_of_the_most_nodes_that_could_be_had(tmp_path: Path) -> None:
    found = trace(tmp_path / "a.json", [0, 4, 1, 2], gap=34)
    assert found == PoolTrace(timedelta(seconds=34), (0, 1, 0.25, 0.5))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"metadata": {"gap_seconds": 0}, "data": [1]}',
        '{"metadata": {"gap_seconds": 60}, "data": []}',
        '{"metadata": {"gap_seconds": 60}, "data": [0, 0]}',
        '{"metadata": {"gap_seconds": 60}, "data": [1, -1]}',
    ],
)
def test_what_is_no_trace_of_a_pool_is_refused_with_its_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(TraceError, match=str(path)):
        PoolTrace.read(path)


def test_a_day_begins_with_its_first_samples_and_has_what_changes_after_them() -> None:
    found = weather([1, 1, 0, 0.5], [0.25, 1, 1, 1])
    assert found.first(0) == [1, 0.25]
    assert found.changes(0)[:3] == [
        Change(MINUTES_5, 1, 1),
        Change(2 * MINUTES_5, 0, 0),
        Change(3 * MINUTES_5, 0, 0.5),
    ]


def test_each_seed_is_a_day_and_the_last_one_may_be_short() -> None:
    found = weather([1] * A_DAY + [0.5] * 12)
    assert found.days == 2
    assert [found.length(seed) for seed in range(3)] == [
        timedelta(days=1),
        timedelta(hours=1),
        timedelta(days=1),
    ]
    assert [found.first(seed) for seed in range(3)] == [[1], [0.5], [1]]


def test_a_pool_that_was_probed_for_a_shorter_time_begins_anew() -> None:
    found = weather([1] * A_DAY + [0.5] * A_DAY, [1, 0])
    assert found.first(1) == [0.5, 1]
    assert found.changes(1)[:2] == [Change(MINUTES_5, 1, 0), Change(2 * MINUTES_5, 1, 1)]


def test_the_notices_of_a_fall_come_before_the_next_sample() -> None:
    assert weather([1]).within(0) == timedelta(seconds=180)
    assert weather([1], gap=timedelta(seconds=34)).within(0) == timedelta(seconds=34)
