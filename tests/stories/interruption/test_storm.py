"""Storms and crashes: many invocations at once, on queues that deliver again."""

import itertools
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.decisions.notice import mark
from evenkeel.model.node import Node
from evenkeel.model.request import Get, List
from evenkeel_sandbox.simulator.event_source import SimulatedEventSource
from tests.stories.interruption.scene import THEIRS, Scene, warning

SECOND = timedelta(seconds=1)
NODES = 30


class Site(Scene):
    """A cluster of thirty nodes and the interruption function on its notice queue."""

    def __init__(self) -> None:
        super().__init__(numbers=range(NODES))
        self.source = SimulatedEventSource(self.clock, self.notices, self.handler)

    def put(self, *numbers: int) -> None:
        """Put warnings of these instances into the queue."""
        for number in numbers:
            self.notices.put(json.dumps(warning(number)))

    @property
    def marked(self) -> set[str]:
        replies = self.cluster.perform([Get(Node, f"n{number}") for number in range(NODES)])
        nodes = [reply.result for reply in replies]
        return {
            node.name for node in nodes if isinstance(node, Node) and mark.read(node) is not None
        }


def test_a_storm_of_mostly_foreign_notices_marks_ours_and_asks_little() -> None:
    site = Site()
    for number in range(100, 600):
        site.add_instance(number, dns_name=f"n{number}", tags=THEIRS)
    for number in range(600, 800):
        site.add_instance(number, dns_name=f"n{number}", tags={})
    # Ours stand scattered among 500 of another cluster, 200 of none, 270 that EC2 forgot.
    numbers = [*range(100, 800), *range(1_000, 1_270)]
    for position in range(NODES):
        numbers.insert(position * 33, position)
    for batch in itertools.batched(numbers, 17, strict=False):
        site.put(*batch)
        site.clock.advance(SECOND)

    site.clock.advance(SECOND)
    lists = [request for request in site.requests if isinstance(request, List)]
    assert len(lists) <= 60 / 10 + 1
    assert len(site.requests) < 3 * NODES + 200 + len(lists) + 20
    assert site.marked == {f"n{number}" for number in range(NODES)}
    assert site.notices.messages == []
    assert site.source.errors == []
    assert site.recorder.total("NoticesForeign") == 970
    assert site.recorder.total("NoticesReceived") == 1_000
    assert max(site.recorder.values["NoticeDelay"]) < 62_000


def test_thirty_nodes_at_once_are_marked_within_a_second() -> None:
    site = Site()
    site.put(*range(NODES))
    site.clock.advance(SECOND)
    assert site.marked == {f"n{number}" for number in range(NODES)}
    assert site.source.batches == [10, 10, 10]


REQUESTS = 8 + 1 + 8
"""Reading eight nodes, asking for a pause, marking eight nodes."""


@pytest.mark.parametrize("crash", range(REQUESTS))
def test_a_crash_at_any_request_costs_only_a_redelivery(crash: int) -> None:
    site = Site()
    requests = itertools.count()

    def crash_once(_request: object, proceed: Callable[[], Any]) -> Any:
        if next(requests) == crash:
            for process in site.source.running:
                process.kill()
        return proceed()

    site.cluster.intercept(crash_once)
    site.put(*range(8))

    site.clock.advance(25 * SECOND)

    assert site.marked == {f"n{number}" for number in range(8)}
    assert site.source.batches == [8, 8]
    assert site.notices.messages == []
    assert len(site.wake_ups.receive()) == 1


def test_notices_delivered_twice_and_in_any_order_mark_once() -> None:
    site = Site()
    site.put(*range(10), *reversed(range(10)), *range(0, 10, 3))
    site.clock.advance(5 * SECOND)
    assert site.marked == {f"n{number}" for number in range(10)}
    assert site.recorder.total("NodesMarked") == 10
    assert site.recorder.total("NodesCordoned") == 10
