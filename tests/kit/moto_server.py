"""EC2, SQS and EventBridge: moto_server in a process of its own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import batched
from typing import Any, Final

import boto3
from botocore.config import Config

from evenkeel.settings import HANDOVER_TIMEOUT

REGION: Final = "eu-central-1"
CLUSTER: Final = "storm"
CREDENTIALS: Final = {
    "AWS_ACCESS_KEY_ID": "bench",
    "AWS_SECRET_ACCESS_KEY": "bench",
    "AWS_REGION": REGION,
    "AWS_DEFAULT_REGION": REGION,
}
STARTING: Final = 120.0


@dataclass(frozen=True, slots=True)
class Aws:
    """A running stand-in for AWS with the stack's two queues, set as template.yaml sets them."""

    endpoint: str
    notice_queue: str
    wake_up_queue: str
    ec2: Any
    sqs: Any
    events: Any

    def launch(self, count: int, cluster: str = CLUSTER) -> Sequence[str]:
        """Run so many spot instances that belong to a cluster; their ids."""
        tags = [{"Key": "eks:cluster-name", "Value": cluster}]
        answer = self.ec2.run_instances(
            ImageId="ami-12c6146b",
            InstanceType="m5.large",
            MinCount=count,
            MaxCount=count,
            InstanceMarketOptions={"MarketType": "spot"},
            TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],
        )
        return [instance["InstanceId"] for instance in answer["Instances"]]

    def dns_names(self, instance_ids: Sequence[str]) -> dict[str, str]:
        """The private DNS names of instances: what their nodes are called."""
        found: dict[str, str] = {}
        for page in self.ec2.get_paginator("describe_instances").paginate():
            for reservation in page["Reservations"]:
                for instance in reservation["Instances"]:
                    if instance["InstanceId"] in instance_ids:
                        found[instance["InstanceId"]] = instance["PrivateDnsName"]
        return found

    def nodes(self, count: int) -> dict[str, str]:
        """Run so many instances that belong to the cluster; their nodes' names by their ids."""
        return self.dns_names(self.launch(count))

    def send(self, bodies: Sequence[str]) -> Sequence[str]:
        """Put messages into the notice queue, ten at a time; their ids."""
        ids: list[str] = []
        for start in range(0, len(bodies), 10):
            some = bodies[start : start + 10]
            answer = self.sqs.send_message_batch(
                QueueUrl=self.notice_queue,
                Entries=[{"Id": str(n), "MessageBody": body} for n, body in enumerate(some)],
            )
            ids += [each["MessageId"] for each in answer["Successful"]]
        assert len(ids) == len(bodies), "the queue refused messages"
        return ids

    @property
    def notice_queue_arn(self) -> str:
        """What rules on the event bus call the notice queue."""
        found = self.sqs.get_queue_attributes(
            QueueUrl=self.notice_queue, AttributeNames=["QueueArn"]
        )
        return str(found["Attributes"]["QueueArn"])

    def put(self, entries: Sequence[Mapping[str, str]]) -> None:
        """Put events on the event bus, ten at a time."""
        for some in batched(entries, 10, strict=False):
            answer = self.events.put_events(Entries=list(some))
            assert answer["FailedEntryCount"] == 0, answer

    def left(self) -> dict[str, int]:
        """How many messages each queue still holds, visible or not; the dead ones, too."""
        counts = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        return {
            url.rpartition("/")[2]: sum(
                int(value)
                for value in self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=counts)[
                    "Attributes"
                ].values()
            )
            for queue in (self.notice_queue, self.wake_up_queue)
            for url in (queue, f"{queue}-dead")
        }

    def terminate(self, instance_ids: Sequence[str]) -> None:
        """Terminate instances: what becomes of those that were noticed."""
        self.ec2.terminate_instances(InstanceIds=list(instance_ids))


@contextmanager
def started() -> Iterator[Aws]:
    """Start moto_server on a free port, and make the queues."""
    environment = {**os.environ, **CREDENTIALS}  # noqa: TID251 - for a child
    command = [sys.executable, "-u", "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            endpoint = _endpoint(server)
            drain = subprocess.Popen(["/bin/cat"], stdin=server.stderr, stdout=subprocess.DEVNULL)
            try:
                yield _furnished(endpoint)
            finally:
                # Asked to end, it takes its time on a busy machine, and it has nothing to save.
                server.kill()
                drain.wait(10)
        finally:
            server.kill()


def warning(instance_id: str, now: datetime) -> str:
    """An interruption warning as EventBridge puts it into the notice queue."""
    return json.dumps(
        {
            "version": "0",
            "id": f"storm-{instance_id}",
            "detail-type": "EC2 Spot Instance Interruption Warning",
            "source": "aws.ec2",
            "account": "123456789012",
            "time": now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "region": REGION,
            "resources": [],
            "detail": {"instance-id": instance_id, "instance-action": "terminate"},
        }
    )


def _endpoint(server: subprocess.Popen[str]) -> str:
    assert server.stderr is not None
    give_up = time.monotonic() + STARTING
    for line in server.stderr:
        if "Running on http" in line:
            return line.split("Running on ")[1].split()[0]
        assert time.monotonic() < give_up, "moto_server does not start"
    raise AssertionError("moto_server ended at once")


def _furnished(endpoint: str) -> Aws:
    options: dict[str, Any] = {
        "region_name": REGION,
        "endpoint_url": endpoint,
        "aws_access_key_id": "bench",
        "aws_secret_access_key": "bench",
        "config": Config(retries={"total_max_attempts": 3}, read_timeout=30),
    }
    sqs, ec2 = boto3.client("sqs", **options), boto3.client("ec2", **options)
    events = boto3.client("events", **options)

    def queue(name: str, visibility: int, receives: int, retention: int) -> str:
        dead = sqs.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])
        policy = {"deadLetterTargetArn": arn["Attributes"]["QueueArn"], "maxReceiveCount": receives}
        url: str = sqs.create_queue(
            QueueName=name,
            Attributes={
                "VisibilityTimeout": str(visibility),
                "MessageRetentionPeriod": str(retention),
                "RedrivePolicy": json.dumps(policy),
            },
        )["QueueUrl"]
        return url

    return Aws(
        endpoint,
        queue("notices", 30, 100, 300),
        queue("wake-ups", round(HANDOVER_TIMEOUT.total_seconds()), 1_000, 3_600),
        ec2,
        sqs,
        events,
    )
