"""What a pool's first notice tells, counted on traces of spot pools."""

import json
from pathlib import Path

import pytest

from bench.sense import (
    Hits,
    Loss,
    Trace,
    chances,
    constant,
    families,
    learned,
    loss,
    moments,
    own,
    read,
    record,
    sibling,
)


def trace(*data: int, gap: float = 60, group: str = "4-node", zone: str = "a") -> Trace:
    return Trace(group, "us-east-1", zone, gap, data)


def test_a_file_is_read_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "4-node_aws-08-03-2023_us-east-1f_v100_1.json"
    path.write_text(json.dumps({"metadata": {"gap_seconds": 300}, "data": [4, 0]}))
    assert read(path) == Trace("4-node", "us-east-1", "f", 300, (4, 0))


def test_the_others_of_a_pool_that_go_within_three_minutes_were_told_of() -> None:
    found = own(trace(4, 4, 3, 2, 2, 2, 2, 2))
    assert (found.alarms, found.right) == (3, 1)
    assert (found.events, found.told) == (2, 1)


def test_a_first_notice_comes_after_three_minutes_without_one() -> None:
    assert own(trace(4, 3, 4, 4, 4, 3)).alarms == 6
    assert own(trace(4, 3, 4, 3, 3, 3)).alarms == 3


def test_another_pool_that_has_nodes_goes_within_three_minutes_or_does_not() -> None:
    first = trace(4, 3, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2)
    other = trace(4, 4, 4, 0, 0, 0, 4, 4, 4, 4, 4, 4)
    found = sibling(first, other)
    assert (found.alarms, found.right, found.events, found.told) == (2, 1, 1, 1)


def test_a_pool_without_nodes_is_no_alarm() -> None:
    assert sibling(trace(4, 3, 3, 3, 3), trace(0, 0, 0, 0, 0)).alarms == 0


def test_each_kin_and_group_has_a_row() -> None:
    traces = [trace(4, 4, 0, 4, 4, 4), trace(4, 4, 0, 4, 4, 4, zone="b")]
    rows = families(traces).splitlines()[2:]
    assert [row.split(" | ")[0:3] for row in rows] == [
        ["| the pool's other nodes", "4-node", "6"],
        ["| pools of the type in another zone of the region", "4-node", "2"],
    ]
    assert Hits(2, 1, 10, 1, 4, 3).row("a") == ["a", "2", "50.0%", "10.0%", "75.0%"]


def test_moments_are_those_with_nodes_after_the_first_fall() -> None:
    seen = moments(trace(4, 3, 0, 3, 3, 3, 2, 2, 2, 2))
    assert seen == [(0, True), (1, True), (2, True), (3, True), (0, False)]


@pytest.mark.parametrize(("minutes", "idle", "falls"), [(0, 0, 1), (2, 1, 0), (9, 2, 0)])
def test_avoiding_costs_idle_minutes_and_saves_from_falls(
    minutes: float, idle: float, falls: float
) -> None:
    once = trace(4, 3, 3, 3, 3, gap=1440 * 60)
    seen = [(0.5, True), (1.5, False), (2.5, False)]
    avoided = constant(minutes)(seen)
    assert sum(a and not soon for a, (_, soon) in zip(avoided, seen, strict=True)) == idle
    assert sum(soon and not a for a, (_, soon) in zip(avoided, seen, strict=True)) == falls
    assert loss(once, constant(0)) == Loss(0, 0)
    assert loss(once, constant(1)).at(10) == pytest.approx(1440 / 3)


def test_a_record_learns_from_its_own_falls_and_forgets_half_of_many() -> None:
    prior = chances([[(1, True), (1, False)]])
    assert prior[0] == 0.5
    assert record(prior, 2, 0.5)([(1, False)] * 3) == [True, False, False]
    assert record(prior, 2, 0.5)([(1, True)] * 3) == [True, True, True]
    old = [(1.0, False)] * 600 + [(1.0, True)] * 150
    assert record(prior, 2, 0.5)(old)[-1]


def test_each_price_has_a_row_with_how_often_the_record_is_better() -> None:
    calm = [4, 4, 3, 4, 4, 4, 4, 4] * 40
    traces = [trace(*calm), trace(*calm, group="16-node"), trace(*calm, group="1-node", zone="b")]
    rows = learned(traces).splitlines()[2:]
    assert len(rows) == 7
    assert all("of 3" in row for row in rows)
