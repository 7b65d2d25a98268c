"""How long the pods of a controller were seen to take to stop."""

import pytest

from evenkeel.flows.drain.cache.pods import Pods
from evenkeel.flows.drain.cache.stops import Stops
from evenkeel.flows.drain.queue import Queue
from evenkeel.model.pod import Pod
from tests.kit import builders
from tests.kit.builders import NOW, seconds
from tests.kit.clocks import SetClock

REPLICA_SET = builders.replica_set()
KEY = REPLICA_SET.key


def told(name: str, *, ago: float, grace: int = 30) -> Pod:
    """A pod that was told to go so many seconds ago."""
    return builders.pod(
        name,
        of=REPLICA_SET,
        deletion_timestamp=NOW - seconds(ago) + seconds(grace),
        deletion_grace_period_seconds=grace,
    )


def test_nothing_is_known_until_one_was_seen_to_stop() -> None:
    assert Stops(SetClock()).of(KEY) is None


def test_the_longest_counts_of_each_controller_by_itself() -> None:
    stops = Stops(SetClock())
    assert stops.ended(KEY, told("a", ago=3))
    assert stops.ended(KEY, told("b", ago=5))
    assert not stops.ended(KEY, told("c", ago=5))
    assert not stops.ended(KEY, told("d", ago=4))
    assert stops.of(KEY) == seconds(5)
    assert stops.of("default/another") is None


def test_a_clock_that_is_behind_tells_no_time_below_zero() -> None:
    stops = Stops(SetClock())
    assert stops.ended(KEY, told("a", ago=-2))
    assert stops.of(KEY) == seconds(0)


def test_a_pod_that_nobody_told_to_go_says_nothing() -> None:
    stops = Stops(SetClock())
    assert not stops.ended(KEY, builders.pod(of=REPLICA_SET))
    assert stops.of(KEY) is None


def test_what_was_seen_an_hour_ago_is_forgotten() -> None:
    stops = Stops(SetClock())
    stops.ended(KEY, told("a", ago=3))
    stops.forget(NOW + seconds(3_599))
    assert stops.of(KEY) == seconds(3)
    stops.forget(NOW + seconds(3_600))
    assert stops.of(KEY) is None


def test_without_a_clock_nothing_is_seen() -> None:
    stops = Stops()
    assert not stops.ended(KEY, told("a", ago=3))
    assert stops.of(KEY) is None


@pytest.mark.parametrize(("before", "is_news"), [(5, True), (2, False)])
def test_a_workload_is_planned_for_when_a_pod_of_it_took_longer_than_any_before(
    before: float, *, is_news: bool
) -> None:
    queue, stops = Queue(), Stops(SetClock())
    pods = Pods(queue, stops=stops)
    stops.ended(KEY, told("before", ago=7 - before))
    going = told("a", ago=4)
    pods.update(going)
    list(queue.take(SetClock()))
    pods.delete(going.uid)
    assert stops.of(KEY) == seconds(max(4, 7 - before))
    assert queue.has_changed(KEY) is is_news
