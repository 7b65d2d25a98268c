"""What the webhook adds, from what was measured; and the clients that measure it."""

import time
from threading import Barrier, Lock, current_thread

import pytest

from bench.conditions import look
from bench.placement.creations import CLIENTS, paced, pressed
from bench.placement.results import Burst, Extent, Placement, Round, Webhook, spread
from bench.placement.site import floor_of
from bench.report import placement as report


def burst(seconds: float, told: int = 150, landed: int = 150, unplaced: int = 0) -> Burst:
    return Burst(
        pods=500,
        seconds=seconds,
        latency=spread([seconds / 60]),
        floor=150,
        told=told,
        landed=landed,
        unplaced=unplaced,
    )


def one_round(p99: float, asked: Burst | None = None) -> Round:
    return Round(
        bare=spread([0.004] * 99 + [0.010]),
        asked=spread([0.009] * 98 + [p99, 1.0]),
        bare_burst=burst(1.5),
        asked_burst=asked or burst(4.5),
        load=1.0,
    )


def placement(*rounds: Round) -> Placement:
    return Placement(
        conditions=look(),
        extent=Extent(rounds=len(rounds)),
        clients=8,
        rounds=rounds,
        webhook=Webhook(reviews=100, mean=0.007, cpu_seconds=0.5, peak_mb=60.0),
    )


def test_what_is_added_is_the_difference_of_the_percentiles() -> None:
    found = placement(one_round(0.018))
    assert list(found.middle.added) == pytest.approx([0.005, 0.014])
    assert found.ratio == pytest.approx(3.0)
    assert not found.missed


def test_the_round_in_the_middle_counts() -> None:
    found = placement(one_round(0.9), one_round(0.018), one_round(0.005))
    assert found.middle is found.rounds[1]
    assert not found.missed


def test_more_than_fifteen_milliseconds_are_missed() -> None:
    (miss,) = placement(one_round(0.005), one_round(0.020), one_round(0.020)).missed
    assert miss == "it adds 16.0 ms to the 99th percentile, wanted at most 15 ms"


@pytest.mark.parametrize(
    "wrong", [burst(1, told=151), burst(1, landed=149), burst(1, told=149), burst(1, unplaced=1)]
)
def test_a_burst_that_is_not_exactly_its_floor_is_missed(wrong: Burst) -> None:
    found = placement(one_round(0.018), one_round(0.018, wrong))
    (miss,) = found.missed
    assert "wanted: 150" in miss
    assert "1 of 2 bursts landed exactly" in report.table(found)


def test_a_percentage_is_rounded_up() -> None:
    assert [floor_of(pods) for pods in (500, 200, 1, 11)] == [150, 60, 1, 4]


def test_the_table_tells_what_was_added_and_that_it_was_exact() -> None:
    table = report.table(placement(one_round(0.018)))
    assert "| **added** | 5.0 ms | 14.0 ms | - | - | - |" in table
    assert (
        "| the same with the webhook | 75.0 ms | 75.0 ms | 75.0 ms"
        " | 4.50 s = 111 a second | 150, 150 |" in table
    )
    assert "A burst takes 3.00 x as long" in table
    assert "5.0 ms of CPU for a review of 7.0 ms (both means over all), 60 MB" in table


def test_a_creation_that_waits_for_a_client_has_that_on_its_account() -> None:
    """A server that answers one after the other, slower than they are due."""
    lock = Lock()

    def create() -> None:
        with lock:
            time.sleep(0.01)  # noqa: TID251 - what is measured is real time

    took = paced(create, 40, 1_000)
    assert len(took) == 40
    assert max(took) > 0.3


def test_every_client_makes_some_and_all_are_made() -> None:
    """Each client waits in its first creation until all are at work."""
    seen: list[str] = []
    together = Barrier(CLIENTS)

    def create() -> None:
        is_first = current_thread().name not in seen
        seen.append(current_thread().name)
        if is_first:
            together.wait(60)

    seconds, took = pressed(create, 100)
    assert len(took) == len(seen) == 100
    assert len(set(seen)) == CLIENTS
    assert 0 < max(took) <= seconds
