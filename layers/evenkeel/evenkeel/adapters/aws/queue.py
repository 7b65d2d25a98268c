"""An SQS queue.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_ChangeMessageVisibility.html
"""

import math
from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec
from botocore.exceptions import BotoCoreError, ClientError

from evenkeel.adapters.aws.clients import Client
from evenkeel.errors import QueueError
from evenkeel.model.notice import WakeUp

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


class SqsQueue:
    """Implements the port Queue.

    Needs the permission sqs:SendMessage, sqs:ChangeMessageVisibility, or both.
    SQS counts in whole seconds: a delay with a fraction is rounded up.
    """

    def __init__(self, url: str, region: str, client: "SQSClient | None" = None) -> None:
        """``client`` None: one is made for the first message."""
        self._url = url
        self._connected = Client("sqs", region, given=client)

    def send(self, wake_up: WakeUp, delay: timedelta = timedelta()) -> None:
        """Send a wake-up that becomes visible after ``delay``. Raises QueueError."""
        try:
            sqs: SQSClient = self._connected()
            sqs.send_message(
                QueueUrl=self._url,
                MessageBody=msgspec.json.encode(wake_up).decode(),
                DelaySeconds=_seconds(delay),
            )
        except (BotoCoreError, ClientError) as error:
            raise QueueError(f"SendMessage failed: {error}") from error

    def postpone(self, receipt_handle: str, delay: timedelta) -> None:
        """Make a received message visible again after ``delay``. Raises QueueError."""
        try:
            sqs: SQSClient = self._connected()
            sqs.change_message_visibility(
                QueueUrl=self._url,
                ReceiptHandle=receipt_handle,
                VisibilityTimeout=_seconds(delay),
            )
        except (BotoCoreError, ClientError) as error:
            raise QueueError(f"ChangeMessageVisibility failed: {error}") from error


def _seconds(delay: timedelta) -> int:
    return math.ceil(delay / timedelta(seconds=1))
