"""The same questions to what simulates AWS here and to moto, which simulates it elsewhere."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import boto3
import moto.sqs.models
import pytest

from evenkeel.adapters.aws.instances import Ec2Instances
from evenkeel.adapters.aws.queue import SqsQueue
from evenkeel.model.instance import Instance
from evenkeel.ports import Instances, Queue
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.instances import SimulatedInstances
from evenkeel_sandbox.simulator.queues import SimulatedQueue
from tests.kit.mocked_aws import mocked

REGION = "eu-central-1"
START = datetime(2026, 11, 21, 6, tzinfo=UTC)


class Ec2(Protocol):
    """An EC2 in which instances can be launched."""

    @property
    def instances(self) -> Instances:
        """What is asked."""
        ...

    def launch(self, *, spot: bool = False, **tags: str) -> str:
        """Run an instance; answers its id."""
        ...

    def stop(self, instance_id: str) -> None:
        """Stop an instance."""
        ...

    def terminate(self, instance_id: str) -> None:
        """Terminate an instance."""
        ...


class SimulatedEc2:
    def __init__(self) -> None:
        self.instances = SimulatedInstances()
        self._count = 0

    def launch(self, *, spot: bool = False, **tags: str) -> str:
        self._count += 1
        instance_id = f"i-{self._count:017x}"
        self.instances.add(
            Instance(
                instance_id=instance_id,
                state="running",
                private_dns_name=f"ip-10-0-0-{self._count}.{REGION}.compute.internal",
                tags=tags,
                lifecycle="spot" if spot else "",
            )
        )
        return instance_id

    def stop(self, instance_id: str) -> None:
        self.instances.set_state(instance_id, "stopped")

    def terminate(self, instance_id: str) -> None:
        self.instances.set_state(instance_id, "terminated")


class MotoEc2:
    def __init__(self) -> None:
        self._client = boto3.client("ec2", region_name=REGION)
        self.instances = Ec2Instances(REGION)

    def launch(self, *, spot: bool = False, **tags: str) -> str:
        market: Any = {"InstanceMarketOptions": {"MarketType": "spot"}} if spot else {}
        answer = self._client.run_instances(
            ImageId="ami-12c6146b",
            InstanceType="m5.large",
            Placement={"AvailabilityZone": "eu-central-1a"},
            MinCount=1,
            MaxCount=1,
            **market,
        )
        instance_id = answer["Instances"][0]["InstanceId"]
        if tags:
            self._client.create_tags(
                Resources=[instance_id],
                Tags=[{"Key": key, "Value": value} for key, value in tags.items()],
            )
        return instance_id

    def stop(self, instance_id: str) -> None:
        self._client.stop_instances(InstanceIds=[instance_id])

    def terminate(self, instance_id: str) -> None:
        self._client.terminate_instances(InstanceIds=[instance_id])


class Sqs(Protocol):
    """A queue whose time can be moved."""

    @property
    def queue(self) -> Queue:
        """What is sent to."""
        ...

    def receive(self) -> list[tuple[str, str]]:
        """Receive what is visible: body and receipt handle of each message."""
        ...

    def delete(self, receipt_handle: str) -> None:
        """Delete a message."""
        ...

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        ...


class SimulatedSqs:
    def __init__(self) -> None:
        self._clock = SimulatedClock(START)
        self.queue = SimulatedQueue(self._clock, visibility=timedelta(seconds=20))

    def receive(self) -> list[tuple[str, str]]:
        return [(message.body, message.receipt_handle) for message in self.queue.receive()]

    def delete(self, receipt_handle: str) -> None:
        self.queue.delete(receipt_handle)

    def advance(self, seconds: float) -> None:
        self._clock.advance(timedelta(seconds=seconds))


class MotoSqs:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._now = START.timestamp()
        monkeypatch.setattr(moto.sqs.models, "unix_time", lambda: self._now)
        monkeypatch.setattr(moto.sqs.models, "unix_time_millis", lambda: self._now * 1_000)
        self._client = boto3.client("sqs", region_name=REGION)
        self._url = self._client.create_queue(
            QueueName="wake-ups", Attributes={"VisibilityTimeout": "20"}
        )["QueueUrl"]
        self.queue = SqsQueue(self._url, REGION)

    def receive(self) -> list[tuple[str, str]]:
        answer = self._client.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10)
        return [(each["Body"], each["ReceiptHandle"]) for each in answer.get("Messages", [])]

    def delete(self, receipt_handle: str) -> None:
        self._client.delete_message(QueueUrl=self._url, ReceiptHandle=receipt_handle)

    def advance(self, seconds: float) -> None:
        self._now += seconds


@pytest.fixture(params=["simulator", "moto"])
def aws(request: pytest.FixtureRequest) -> Iterator[str]:
    """Which AWS it is; moto's stands until the end of the test."""
    if request.param == "simulator":
        yield "simulator"
        return
    with mocked():
        yield "moto"


@pytest.fixture
def ec2(aws: str) -> Ec2:
    return SimulatedEc2() if aws == "simulator" else MotoEc2()


@pytest.fixture
def sqs(aws: str, monkeypatch: pytest.MonkeyPatch) -> Sqs:
    return SimulatedSqs() if aws == "simulator" else MotoSqs(monkeypatch)
