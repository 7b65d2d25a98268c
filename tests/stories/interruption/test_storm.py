"""Storms and crashes: many invocations at once, on queues that deliver again."""

import itertools
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.decisions.notice import mark
from evenkeel.handlers.interruption import build
from evenkeel.model.instance import Instance
from evenkeel.model.node import Node
from evenkeel.model.request import Get, List
from evenkeel.settings import InterruptionSettings, Mode
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.event_source import SimulatedEventSource
from evenkeel_sandbox.simulator.instances import SimulatedInstances
from evenkeel_sandbox.simulator.queues import SimulatedQueue
from tests.kit.builders import NOW
from tests.kit.manifests import resource

SECOND = timedelta(seconds=1)
NODES = 30


def instance_id(number: int) -> str:
    return f"i-{number:017x}"


def warning(number: int) -> str:
    return json.dumps(
        {
            "id": f"event-{number}",
            "source": "aws.ec2",
            "detail-type": "EC2 Spot Instance Interruption Warning",
            "time": NOW.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "detail": {"instance-id": instance_id(number), "instance-action": "terminate"},
        }
    )


class Site:
    """A cluster of thirty nodes and the interruption function on its notice queue."""

    def __init__(self) -> None:
        self.clock = SimulatedClock(NOW - timedelta(minutes=1))
        self.cluster = SimulatedCluster(self.clock)
        self.instances = SimulatedInstances()
        self.recorder = InMemoryRecorder()
        self.notices = SimulatedQueue(self.clock, "notices", retention=timedelta(seconds=300))
        self.wake_ups = SimulatedQueue(self.clock, "wake-ups")
        for number in range(NODES):
            self.cluster.apply(
                resource(
                    "Node",
                    f"n{number}",
                    spec={"providerID": f"aws:///eu-central-1a/{instance_id(number)}"},
                )
            )
            self.add_instance(number, cluster="prod")
        self.handler = build(
            InterruptionSettings(mode=Mode.ACT, cluster_name="prod"),
            self.cluster,
            self.instances,
            self.notices,
            self.wake_ups,
            self.clock,
            self.recorder,
        )
        self.source = SimulatedEventSource(self.clock, self.notices, self.handler)
        self.clock.advance(timedelta(minutes=1))

    def add_instance(self, number: int, *, cluster: str = "") -> None:
        self.instances.add(
            Instance(
                instance_id=instance_id(number),
                state="running",
                private_dns_name=f"n{number}",
                tags={f"kubernetes.io/cluster/{cluster}": "owned"} if cluster else {},
                lifecycle="spot",
            )
        )

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
        site.add_instance(number, cluster="other")
    for number in range(600, 800):
        site.add_instance(number)
    requests: list[object] = []

    def count(request: object, proceed: Callable[[], Any]) -> Any:
        requests.append(request)
        return proceed()

    site.cluster.intercept(count)
    # Ours stand scattered among 500 of another cluster, 200 of none, 270 that EC2 forgot.
    numbers = [*range(100, 800), *range(1_000, 1_270)]
    for position in range(NODES):
        numbers.insert(position * 33, position)
    for batch in itertools.batched(numbers, 17, strict=False):
        for number in batch:
            site.notices.put(warning(number))
        site.clock.advance(SECOND)

    site.clock.advance(SECOND)
    lists = [request for request in requests if isinstance(request, List)]
    assert len(lists) <= 60 / 10 + 1
    assert len(requests) < 3 * NODES + 200 + len(lists) + 20
    assert site.marked == {f"n{number}" for number in range(NODES)}
    assert site.notices.messages == []
    assert site.source.errors == []
    assert site.recorder.total("NoticesForeign") == 970
    assert site.recorder.total("NoticesReceived") == 1_000
    assert max(site.recorder.values["NoticeDelay"]) < 62_000


def test_thirty_nodes_at_once_are_marked_within_a_second() -> None:
    site = Site()
    for number in range(NODES):
        site.notices.put(warning(number))
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
    for number in range(8):
        site.notices.put(warning(number))

    site.clock.advance(25 * SECOND)

    assert site.marked == {f"n{number}" for number in range(8)}
    assert site.source.batches == [8, 8]
    assert site.notices.messages == []
    assert len(site.wake_ups.receive()) == 1


def test_notices_delivered_twice_and_in_any_order_mark_once() -> None:
    site = Site()
    for number in [*range(10), *reversed(range(10)), *range(0, 10, 3)]:
        site.notices.put(warning(number))
    site.clock.advance(5 * SECOND)
    assert site.marked == {f"n{number}" for number in range(10)}
    assert site.recorder.total("NodesMarked") == 10
    assert site.recorder.total("NodesCordoned") == 10
