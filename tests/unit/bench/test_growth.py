"""How a storm's time grows, and what counts as too much."""

import msgspec
import pytest

from bench.conditions import look
from bench.growth.results import Growth, Point
from bench.storm.figures import judge


def point(doomed: int, whole: float | None, fill: float = 20.0, bystanders: int = 0) -> Point:
    outcome = judge([], {"web": 1}, {"n": 0.0}, 120.0, 30.0)
    return Point(
        doomed=doomed,
        pods=30 * doomed,
        total=3_000,
        nodes=160,
        bystanders=bystanders,
        fill=fill,
        outcome=msgspec.structs.replace(outcome, whole=whole),
    )


def growth(*points: Point) -> Growth:
    return Growth(conditions=look(), worker="", points=points)


def test_a_point_is_told_in_its_own_cluster_s_fills() -> None:
    assert point(100, 40.0).ratio == 2.0
    assert point(50, 20.0).per_pod == pytest.approx(2.0)


def test_twice_the_doomed_pods_in_twice_the_time_is_linear() -> None:
    found = growth(point(25, 10), point(50, 20), point(100, 40), point(100, 44, bystanders=9))
    assert found.linear == pytest.approx(1.0)
    assert found.independent == pytest.approx(1.1)
    assert not found.missed


def test_what_grows_faster_than_its_pods_or_with_bystanders_is_missed() -> None:
    found = growth(point(25, 10), point(100, 60), point(100, 40, fill=10.0, bystanders=9))
    assert found.linear == pytest.approx(1.5)
    assert found.independent == pytest.approx(4 / 3)
    assert len(found.missed) == 2


def test_a_storm_that_never_ended_well_is_missed() -> None:
    found = growth(point(25, 10), point(100, None), point(100, 40, bystanders=9))
    assert found.linear is None
    assert [miss.partition(":")[2].strip() for miss in found.missed] == [
        "never, wanted at most 1.3"
    ] * 2
