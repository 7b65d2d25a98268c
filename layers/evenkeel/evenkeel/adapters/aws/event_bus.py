"""EventBridge's default bus, which takes what is told of interruptions.

https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
"""

from typing import Any, Final

import msgspec
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from evenkeel.adapters.aws.clients import CONFIG, Client
from evenkeel.errors import NotificationError
from evenkeel.model.notification import SOURCE, Notification

ONCE: Final = CONFIG.merge(Config(retries={"total_max_attempts": 1}))
"""One attempt, of three seconds: what nobody takes is sent again."""


class EventBus:
    """Implements the port Notifications. Needs events:PutEvents for events of Evenkeel's source."""

    def __init__(self, region: str, client: Any = None) -> None:
        """``client`` None: one is made for the first notification."""
        self._connected = Client("events", region, ONCE, client)

    def send(self, notification: Notification) -> None:
        """Put one event on the bus. Raises NotificationError."""
        try:
            answer = self._connected().put_events(
                Entries=[
                    {
                        "Source": SOURCE,
                        "DetailType": notification.phase.detail_type,
                        "Detail": msgspec.json.encode(notification).decode(),
                    }
                ]
            )
        except (BotoCoreError, ClientError, ResponseParserError) as error:
            raise NotificationError(f"PutEvents failed: {error}") from error
        if answer.get("FailedEntryCount"):
            (entry,) = answer["Entries"]
            why = f"{entry.get('ErrorCode')}: {entry.get('ErrorMessage')}"
            raise NotificationError(f"PutEvents failed: {why}")
