"""How many pods may be released and without replacements at a time."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.decisions.drain.census import LONGEST_TO_MAKE
from evenkeel.flows.gate.window import OLDEST_LIST, Window
from evenkeel.model.request import Listing, Request
from evenkeel.ports import Reply, Session
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.options import SimulatorOptions
from tests.kit import builders
from tests.kit.api_server import HandClock
from tests.kit.builders import NOW, seconds


@pytest.mark.parametrize(
    ("size", "taken", "elsewhere", "there"),
    [
        pytest.param(20, 19, True, True, id="it has room"),
        pytest.param(20, 20, True, False, id="it is full"),
        pytest.param(5, 5, True, False, id="a tenth of a small one is a pod"),
    ],
)
def test_a_full_window_has_room_for_a_tenth_of_it_in_each_other_namespace(
    size: int, taken: int, *, elsewhere: bool, there: bool
) -> None:
    clock = SimulatedClock(NOW)
    at_once = SimulatorOptions(latency=timedelta())
    window = Window(SimulatedCluster(clock, at_once), clock, size)
    for number in range(taken):
        window.took("there", f"pod-{number}")
    assert window.has_room("there") is there
    assert window.has_room("elsewhere") is elsewhere
    for number in range(max(1, size // 10)):
        window.took("elsewhere", f"pod-{number}")
    assert window.has_room("elsewhere") is (taken + max(1, size // 10) < size)
    clock.advance(OLDEST_LIST)
    assert window.has_room("there")


def test_a_process_may_release_a_window_s_worth_within_a_minute_whatever_others_released() -> None:
    clock = SimulatedClock(NOW)
    window = Window(SimulatedCluster(clock), clock, 5)
    for number in range(4):
        window.took("there", f"pod-{number}")
    assert window.may_exceed()
    window.took("there", "pod-4")
    assert not window.may_exceed()
    clock.advance(LONGEST_TO_MAKE)
    assert window.may_exceed()


def test_a_released_pod_waits_for_a_minute_unless_it_is_told_to_go() -> None:
    clock = SimulatedClock(NOW)
    cluster = SimulatedCluster(clock, SimulatorOptions(latency=timedelta()))
    replica_set = builders.replica_set()
    cases: list[tuple[str, timedelta, dict[str, Any]]] = [
        ("young", seconds(58), {}),
        ("old", LONGEST_TO_MAKE - seconds(1), {}),
        ("going", seconds(5), {"deletion_timestamp": NOW}),
    ]
    for name, age, more in cases:
        release = builders.release(replica_set, since=NOW - age)
        pod = builders.pod(name, of=replica_set, released=release, **more)
        cluster.load(builders.manifest(pod))
    clock.advance(seconds(1))
    window = Window(cluster, clock, 2)
    assert window.has_room("default")
    window.took("default", "another")
    assert not window.has_room("default")
    assert not Window(cluster, clock, 1).has_room("default")


class Beside:
    """A cluster in which nothing is released; somebody else asks while its second list is read."""

    def __init__(self) -> None:
        self.lists = 0
        self.ask: Callable[[], object] = lambda: None

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        self.lists += 1
        if self.lists == 2:
            self.ask()
        return [Reply(each, result=Listing((), "1")) for each in requests]

    def session(self) -> Session:
        raise AssertionError


def test_what_was_listed_before_counts_while_the_api_server_is_asked_anew() -> None:
    clock, cluster = HandClock(), Beside()
    window = Window(cluster, clock, 1)
    assert window.has_room("there")
    clock.sleep(seconds(1))
    with ThreadPoolExecutor() as threads:
        cluster.ask = lambda: threads.submit(window.has_room, "there").result(timeout=5)
        assert window.has_room("there")
    assert cluster.lists == 2
