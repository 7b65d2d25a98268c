"""Where a poller takes its messages from."""

from collections.abc import Collection, Sequence
from typing import Any, Protocol

type RecordDocument = dict[str, Any]
"""One message as Lambda hands it to a function: messageId, receiptHandle, body, attributes, ..."""


class Source(Protocol):
    """A queue as its event source mapping sees it. Several threads use it at once."""

    @property
    def name(self) -> str:
        """How to call the queue in a message."""
        ...

    def receive(self) -> Sequence[RecordDocument]:
        """Up to ten messages; waits some seconds for a first one. Raises QueueError."""
        ...

    def delete(self, records: Collection[RecordDocument]) -> None:
        """Done with these messages. Raises QueueError; then they come once more."""
        ...

    def give_back(self, records: Collection[RecordDocument]) -> None:
        """Let these messages be received again at once. Raises QueueError."""
        ...
