"""What a process of the webhooks keeps of its reads: for a second, and so many bytes at most."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from evenkeel.flows.read_cache import KEPT_FOR, MOST_BYTES, ReadCache
from evenkeel.model.cluster_objects import Service
from evenkeel.model.request import List, Listing, Request, Selection
from evenkeel.ports import Reply, Session
from tests.kit.api_server import HandClock


class Namespaces:
    """A cluster whose namespaces have services of so many bytes; counts what it is asked."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.asked = 0

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        self.asked += len(requests)
        return [Reply(each, result=Listing((), "1", self.size)) for each in requests]

    def session(self) -> Session:
        raise AssertionError


def services(number: int) -> List[Service]:
    return List(Selection(Service, f"space-{number}"), fresh=False)


@pytest.mark.parametrize("number", [1, 8])
def test_an_answer_counts_for_a_second_if_there_is_room(number: int) -> None:
    cluster, clock = Namespaces(MOST_BYTES // 8), HandClock()
    cache = ReadCache(cluster, clock)
    questions = [services(each) for each in range(number)]
    cache.ask(*questions)
    cache.ask(*questions)
    assert cluster.asked == number
    clock.sleep(KEPT_FOR)
    cache.ask(*questions)
    assert cluster.asked == 2 * number


def test_the_oldest_answers_are_forgotten_when_there_are_too_many_bytes() -> None:
    cluster = Namespaces(MOST_BYTES // 8)
    cache = ReadCache(cluster, HandClock())
    for number in range(10):
        cache.ask(services(number))
    cache.ask(*map(services, range(2, 10)))
    assert cluster.asked == 10
    cache.ask(services(0))
    assert cluster.asked == 11


def test_an_answer_of_too_many_bytes_is_not_kept() -> None:
    cluster = Namespaces(MOST_BYTES + 1)
    cache = ReadCache(cluster, HandClock())
    cache.ask(services(1))
    cache.ask(services(1))
    assert cluster.asked == 2


def test_nothing_is_kept_for_longer_than_it_counts() -> None:
    cluster, clock = Namespaces(1), HandClock()
    cache = ReadCache(cluster, clock)
    for number in range(100):
        cache.ask(services(number))
        clock.sleep(timedelta(seconds=0.1))
    assert len(cache) <= 11
