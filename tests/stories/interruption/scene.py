"""The handler of notices with both of its queues, and events of EC2."""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from evenkeel.decisions.notice import mark
from evenkeel.errors import ClusterError
from evenkeel.handlers.interruption import build
from evenkeel.model.instance import Instance
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice, WakeUp
from evenkeel.model.request import Get, List
from evenkeel.ports import Ports
from evenkeel.settings import InterruptionSettings, Mode
from evenkeel_hosting.events import batch_event
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.auto_scaling import SimulatedAutoScaling
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.simulator.instances import SimulatedInstances
from evenkeel_sandbox.simulator.queues import SimulatedQueue
from tests.kit.asking import EVERYTHING, Concerns, failing, noting
from tests.kit.builders import NOW
from tests.kit.manifests import resource

CLUSTER = "prod"


OURS = {f"kubernetes.io/cluster/{CLUSTER}": "owned"}


THEIRS = {"kubernetes.io/cluster/other": "owned"}


def instance_id(number: int) -> str:
    return f"i-{number:017x}"


class Scene:
    """Nodes of this cluster, n1 to n5 unless others are named, the handler and its queues."""

    def __init__(
        self, mode: Mode = Mode.ACT, nodes: Iterable[int] = range(1, 6), **settings: Any
    ) -> None:
        self.clock = SimulatedClock(NOW - timedelta(minutes=1))
        self.cluster = SimulatedCluster(self.clock)
        self.instances = SimulatedInstances()
        self.notices = SimulatedQueue(self.clock, "notices", retention=timedelta(seconds=300))
        self.wake_ups = SimulatedQueue(self.clock, "wake-ups")
        self.recorder = InMemoryRecorder()
        self.auto_scaling = SimulatedAutoScaling(self.clock, lambda _: None)
        for number in nodes:
            self.add_node(f"n{number}", number)
        self.handler = build(
            InterruptionSettings(mode=mode, cluster_name=CLUSTER, **settings),
            Ports(self.cluster, self.instances, self.clock, self.recorder, self.auto_scaling),
            self.notices,
            self.wake_ups,
        )
        self.clock.advance(timedelta(minutes=1))
        self.requests = noting(self.cluster)

    def add_node(
        self,
        name: str,
        number: int,
        *,
        dns_name: str | None = None,
        provider_id: str = "aws:///eu-central-1a/{}",
    ) -> None:
        self.cluster.apply(
            resource(
                "Node",
                name,
                labels={"eks.amazonaws.com/capacityType": "SPOT"},
                spec={"providerID": provider_id.format(instance_id(number))},
            )
        )
        self.add_instance(number, dns_name=name if dns_name is None else dns_name)

    def add_instance(
        self,
        number: int,
        *,
        dns_name: str = "",
        state: str = "running",
        tags: Any = OURS,
        lifecycle: str = "spot",
        operator: str = "",
    ) -> None:
        self.instances.add(
            Instance(
                instance_id=instance_id(number),
                state=state,
                private_dns_name=dns_name,
                tags=tags,
                lifecycle=lifecycle,
                operator=operator,
            )
        )

    def node(self, name: str) -> Node:
        (reply,) = self.cluster.perform([Get(Node, name)])
        assert isinstance(reply.result, Node)
        return reply.result

    def notice(self, name: str) -> NodeNotice:
        """What the mark of a node says, which has to be there."""
        found = mark.read(self.node(name))
        assert found is not None
        return found

    def fail(
        self, error: ClusterError, concerns: Concerns = EVERYTHING, *, times: int = 1_000_000
    ) -> Callable[[], None]:
        """Answer requests with an error; what ends that."""
        return failing(self.cluster, error, concerns, times=times)

    def come_again(self, seconds: float = 2) -> Sequence[str]:
        """Handle again what comes back so much later; answers what failed."""
        self.clock.advance(timedelta(seconds=seconds))
        return self.redeliver()

    def deliver(self, *events: dict[str, Any] | str) -> Sequence[str]:
        """Put events in the queue, receive them, handle them; answers what failed."""
        for event in events:
            self.notices.put(event if isinstance(event, str) else json.dumps(event))
        return self.redeliver()

    def redeliver(self) -> Sequence[str]:
        messages = self.notices.receive()
        self.requests.clear()
        self.recorder.decisions.clear()
        answer = self.handler(batch_event(messages), None)
        failed = [each["itemIdentifier"] for each in answer["batchItemFailures"]]
        for message in messages:
            if message.message_id not in failed:
                self.notices.delete(message.receipt_handle)
        return failed

    def writes(self) -> Sequence[object]:
        return [each for each in self.requests if not isinstance(each, Get | List)]

    def reasons(self) -> Sequence[str]:
        return [decision.reason for decision in self.recorder.decisions]

    def wake_up(self) -> WakeUp | None:
        """The one wake-up that is in the queue, taken out; None if there is none."""
        self.clock.advance(timedelta(seconds=1))
        messages = self.wake_ups.receive()
        assert len(messages) == len(self.wake_ups.messages) <= 1
        if not messages:
            return None
        self.wake_ups.delete(messages[0].receipt_handle)
        return msgspec.json.decode(messages[0].body, type=WakeUp)

    def comes_back_after(self, message_id: str) -> float:
        """Seconds until a message is visible again."""
        (message,) = (m for m in self.notices.messages if m.message_id == message_id)
        return round((message.visible_at - self.clock.now()).total_seconds(), 1)


def warning(number: int, *, action: str = "terminate", at: datetime = NOW) -> dict[str, Any]:
    return event(
        "EC2 Spot Instance Interruption Warning",
        number,
        at=at,
        **{"instance-action": action},
    )


def state_change(number: int, state: str, *, at: datetime = NOW) -> dict[str, Any]:
    return event("EC2 Instance State-change Notification", number, at=at, state=state)


def event(kind: str, number: int, *, at: datetime = NOW, **detail: Any) -> dict[str, Any]:
    return {
        "version": "0",
        "id": f"event-{number}",
        "detail-type": kind,
        "source": "aws.ec2",
        "account": "123456789012",
        "time": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": "eu-central-1",
        "resources": [],
        "detail": {"instance-id": instance_id(number), **detail},
    }
