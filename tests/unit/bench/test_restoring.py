"""What restore did, and what counts as not as wanted."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from bench.floors.figures import Stand
from bench.placement.results import Webhook
from bench.report import restoring as report
from bench.restoring.results import Restored, Run
from bench.restoring.run import SCENARIO
from tests.unit.bench.made import CONDITIONS

LARGE = Stand(
    kind="large",
    workloads=50,
    replicas=59,
    floor=12,
    lowest=59,
    lowest_on_demand=12,
    below_wanted=0,
    below_floor=0,
    below_on_demand=0,
    at_first=(59, 59),
    ready=(59, 59),
    on_demand=(12, 12),
)
ONE = msgspec.structs.replace(
    LARGE,
    kind="one",
    replicas=1,
    floor=0,
    lowest=1,
    lowest_on_demand=0,
    at_first=(1, 1),
    ready=(1, 1),
    on_demand=(0, 0),
)


def restored(stands: Sequence[Stand] = (LARGE, ONE), moves: int = 50) -> Restored:
    return Restored(
        conditions=CONDITIONS,
        worker="one CPU",
        pods=3_000,
        spot=100,
        on_demand=60,
        percent=20,
        budget=50,
        surplus=2_400,
        runs=[Run(moves=moves, own=2.0, through=7.5)] * 48,
        seconds=360.0,
        stands=stands,
        restore_cpu=24.0,
        handover_cpu=48.0,
        peak_mb=150.0,
        webhook=Webhook(reviews=5_000, mean=0.3, cpu_seconds=20.0, peak_mb=80.0),
    )


def test_as_many_moves_as_there_are_pods_above_the_floors_are_as_wanted() -> None:
    found = restored()
    assert (found.moves, found.lowest_share) == (2_400, 1.0)
    assert not found.missed


@pytest.mark.parametrize(
    ("changes", "miss"),
    [
        ({"below_wanted": 1}, "1 of 50 large had fewer Ready than wanted"),
        ({"below_on_demand": 2}, "2 of 50 large had fewer than their floor"),
        (
            {"on_demand": (11, 12)},
            "large: (11, 12) on on-demand, (59, 59) Ready; wanted: 12 and 59",
        ),
        (
            {"ready": (58, 59)},
            "large: (12, 12) on on-demand, (58, 59) Ready; wanted: 12 and 59",
        ),
    ],
)
def test_what_is_not_as_wanted_is_told(changes: dict[str, Any], miss: str) -> None:
    assert restored([msgspec.structs.replace(LARGE, **changes), ONE]).missed == [miss]


def test_moves_for_nothing_or_for_too_few_are_told() -> None:
    assert restored(moves=51).missed == ["2448 moves for 2400 pods"]
    assert restored(moves=40).missed == ["1920 moves for 2400 pods"]


def test_the_table_tells_of_each_kind_and_of_the_pace() -> None:
    table = report.table(restored())
    assert "| Deployments of 59 | 50 | 12 (20 %) | 12 | 59 | 0 |" in table
    assert "| Deployments of 1 | 50 | 0 (the default, none) | 0 | 1 | 0 |" in table
    assert "2,400 moves of 2,400 pods above their floors, in 48 runs and 360 s: 7.5 s" in table
    assert "stopped" not in table
    assert "150 ms a move" in table
    assert "restore 10 ms, handover 20 ms (150 MB at most)" in table
    assert "the webhook 4 ms a review" in table


def test_the_table_tells_that_it_was_stopped_before_the_end() -> None:
    assert "There it was stopped, with 480 to go." in report.table(restored(moves=40))


@pytest.mark.parametrize("nodes", [4, 20, 100])
def test_there_is_room_for_all_on_either_side_in_every_size(nodes: int) -> None:
    small = SCENARIO.of(nodes)
    assert small.idle * small.per_idle >= small.pods
    assert small.spot * small.per_spot >= small.pods - sum(small.floors.values())
