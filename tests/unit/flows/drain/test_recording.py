"""Counts of pods are told once a second at most, and a low one before the next whole one."""

from typing import Any

from evenkeel.flows.drain.low_counts import LowCounts
from evenkeel.flows.drain.recording import Counted, OnceRecorder
from evenkeel.model.pod_count import PodCount
from evenkeel_hosting.memory import InMemoryRecorder
from tests.kit import builders
from tests.kit.api_server import HandClock
from tests.kit.builders import NOW, seconds

WEB = builders.deployment(replicas=3)


class Recorded:
    """A recorder of a workload's counts."""

    def __init__(self) -> None:
        self.recorder = InMemoryRecorder()
        cluster: Any = None
        self.once = OnceRecorder(self.recorder, LowCounts(cluster, HandClock(), self.recorder))

    def count(self, at: float, available: int, *, begins: bool = True) -> None:
        count = PodCount(
            at=NOW + seconds(at), workload=WEB.reference, available=available, wanted=3
        )
        self.once.count(Counted(count, tuple, begins))

    @property
    def told(self) -> list[int | None]:
        return [each.available for each in self.recorder.pod_counts]


def test_a_workload_is_told_of_from_when_its_pods_move() -> None:
    made = Recorded()
    made.count(0, 3, begins=False)
    made.once.tell_counts()
    assert made.told == []
    made.count(1, 3)
    made.once.tell_counts()
    assert made.told == [3]


def test_of_the_counts_of_a_second_the_last_is_told() -> None:
    made = Recorded()
    made.count(0, 3)
    made.once.tell_counts(NOW)
    for at, available in ((0.2, 2), (0.4, 1), (0.6, 0)):
        made.count(at, available)
    made.once.tell_counts(NOW + seconds(0.9))
    assert made.told == [3]
    made.once.tell_counts(NOW + seconds(1))
    assert made.told == [3, 0]


def test_a_low_count_is_told_before_a_whole_one_though_the_second_is_not_over() -> None:
    made = Recorded()
    made.count(0, 3)
    made.once.tell_counts(NOW)
    made.count(0.2, 1)
    made.count(0.4, 3)
    made.once.tell_counts(NOW + seconds(2))
    assert made.told == [3, 1, 3]


def test_a_count_that_says_what_the_last_one_said_is_not_told() -> None:
    made = Recorded()
    made.count(0, 3)
    made.once.tell_counts(NOW)
    made.count(0.2, 2)
    made.count(0.4, 2)
    made.count(5, 2)
    made.once.tell_counts(NOW + seconds(5))
    made.count(9, 2)
    made.once.tell_counts()
    assert made.told == [3, 2]
