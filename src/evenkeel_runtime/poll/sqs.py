"""An SQS queue as Lambda's event source mapping sees it.

https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
"""

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import batched
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import boto3
import msgspec
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, NoRegionError

from evenkeel.adapters.aws.clients import CONFIG as AWS_CONFIG
from evenkeel.errors import QueueError, SettingsError
from evenkeel_hosting.events import BATCH
from evenkeel_runtime import aws
from evenkeel_runtime.poll.sources import RecordDocument

if TYPE_CHECKING:
    from mypy_boto3_ec2 import EC2Client
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import MessageTypeDef

WAIT: Final = timedelta(seconds=5)
"""How long one receive waits for a message: as long as a poller may take to end."""

CONFIG: Final = Config(
    connect_timeout=3,
    read_timeout=math.ceil(WAIT.total_seconds()) + 10,
    retries={"mode": "standard", "total_max_attempts": 3},
    max_pool_connections=20,
    user_agent_extra="evenkeel",
)


class Redrive(msgspec.Struct, frozen=True, rename="camel"):
    """A queue's redrive policy. SQS writes the number as a string, some write a number."""

    max_receive_count: int | str
    dead_letter_target_arn: str


@dataclass(frozen=True, slots=True)
class QueueFacts:
    """What a queue's owner has set; ``receive_limit`` None: it has no dead letter queue."""

    visibility: timedelta
    retention: timedelta
    receive_limit: int | None
    dead_letters: str

    def __str__(self) -> str:
        """``visibility 30 s, after 100 receives to evenkeel-dead``."""
        limit = "no dead letter queue"
        if self.receive_limit is not None:
            limit = f"after {self.receive_limit} receives to {self.dead_letters}"
        return f"visibility {self.visibility.total_seconds():g} s, {limit}"


class SqsSource:
    """Implements a poller's Source.

    Needs the permissions sqs:ReceiveMessage, sqs:DeleteMessage, sqs:ChangeMessageVisibility
    and sqs:GetQueueAttributes.
    """

    def __init__(self, client: "SQSClient", url: str) -> None:
        self.url = url
        self._client = client
        self._arn = url

    @property
    def name(self) -> str:
        """The queue's name: the last part of its URL."""
        return self.url.rpartition("/")[2]

    def look(self) -> QueueFacts:
        """Ask for the queue's attributes. Raises SettingsError where there is no such queue."""
        try:
            found = self._client.get_queue_attributes(QueueUrl=self.url, AttributeNames=["All"])
        except (BotoCoreError, ClientError) as error:
            raise SettingsError(
                f"the queue {self.url} cannot be used: {error}: check its URL, --endpoint-url,"
                " and your AWS credentials"
            ) from None
        attributes = found["Attributes"]
        self._arn = attributes.get("QueueArn", self.url)
        policy = attributes.get("RedrivePolicy")
        redrive = msgspec.json.decode(policy, type=Redrive) if policy else None
        return QueueFacts(
            visibility=timedelta(seconds=int(attributes["VisibilityTimeout"])),
            retention=timedelta(seconds=int(attributes["MessageRetentionPeriod"])),
            receive_limit=int(redrive.max_receive_count) if redrive else None,
            dead_letters=redrive.dead_letter_target_arn.rpartition(":")[2] if redrive else "",
        )

    def receive(self) -> Sequence[RecordDocument]:
        """Up to ten messages; waits ``WAIT`` for a first one. Raises QueueError."""
        with _translating("ReceiveMessage"):
            answer = self._client.receive_message(
                QueueUrl=self.url,
                MaxNumberOfMessages=BATCH,
                WaitTimeSeconds=math.ceil(WAIT.total_seconds()),
                MessageSystemAttributeNames=["All"],
            )
        return [self._record(message) for message in answer.get("Messages", [])]

    def delete(self, records: Collection[RecordDocument]) -> None:
        """Delete received messages. Raises QueueError; then some come once more."""
        for some in batched(records, BATCH, strict=False):
            with _translating("DeleteMessageBatch"):
                answer = self._client.delete_message_batch(
                    QueueUrl=self.url,
                    Entries=[
                        {"Id": str(number), "ReceiptHandle": record["receiptHandle"]}
                        for number, record in enumerate(some)
                    ],
                )
            _raise_failures("DeleteMessageBatch", answer.get("Failed", []))

    def give_back(self, records: Collection[RecordDocument]) -> None:
        """Let received messages be received again at once. Raises QueueError."""
        for some in batched(records, BATCH, strict=False):
            with _translating("ChangeMessageVisibilityBatch"):
                answer = self._client.change_message_visibility_batch(
                    QueueUrl=self.url,
                    Entries=[
                        {
                            "Id": str(number),
                            "ReceiptHandle": record["receiptHandle"],
                            "VisibilityTimeout": 0,
                        }
                        for number, record in enumerate(some)
                    ],
                )
            _raise_failures("ChangeMessageVisibilityBatch", answer.get("Failed", []))

    def _record(self, message: "MessageTypeDef") -> RecordDocument:
        """A message in the shape in which Lambda hands it to a function."""
        return {
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": dict(message.get("Attributes", {})),
            "messageAttributes": {},
            "md5OfBody": message.get("MD5OfBody", ""),
            "eventSource": "aws:sqs",
            "eventSourceARN": self._arn,
            "awsRegion": self._client.meta.region_name,
        }


def connect(region: str | None, endpoint_url: str | None, url: str) -> "SQSClient":
    """A client for the queue of this URL. Raises SettingsError where no region is known."""
    try:
        return aws.session(region or region_of(url)).client(
            "sqs", endpoint_url=endpoint_url, config=CONFIG
        )
    except NoRegionError:
        raise SettingsError(
            f"the region of {url} is not known: set AWS_REGION, or give --region"
        ) from None
    except (BotoCoreError, ValueError) as error:
        raise SettingsError(f"no client for SQS can be made: {error}") from None


def writing(client: "SQSClient", endpoint_url: str | None) -> "SQSClient":
    """A client for what the functions write, beside one that waits for messages."""
    return boto3.client("sqs", **_beside(client, endpoint_url))


def ec2(client: "SQSClient", endpoint_url: str | None) -> "EC2Client":
    """A client for EC2 beside one for SQS."""
    return boto3.client("ec2", **_beside(client, endpoint_url))


def auto_scaling(client: "SQSClient", endpoint_url: str | None) -> Any:
    """A client for EC2 Auto Scaling beside one for SQS."""
    return boto3.client("autoscaling", **_beside(client, endpoint_url))


def _beside(client: "SQSClient", endpoint_url: str | None) -> dict[str, Any]:
    """The region and place of one client, and how the functions ask, for another."""
    return {
        "region_name": client.meta.region_name,
        "endpoint_url": endpoint_url,
        "config": AWS_CONFIG,
    }


def region_of(url: str) -> str | None:
    """The region in a queue's URL, https://sqs.<region>.amazonaws.com/...; None elsewhere."""
    labels = (urlsplit(url).hostname or "").split(".")
    return labels[1] if labels[0] == "sqs" and "amazonaws" in labels and len(labels) > 3 else None


@contextmanager
def _translating(action: str) -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise QueueError(f"{action} failed: {error}") from error


def _raise_failures(action: str, failed: Sequence[Any]) -> None:
    if failed:
        told = "; ".join(f"{each.get('Code')}: {each.get('Message', '')}" for each in failed)
        raise QueueError(f"{action} failed for {len(failed)} messages: {told}")
