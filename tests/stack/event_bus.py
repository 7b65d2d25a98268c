"""The stack's rules on an event bus, and what arrives in a queue behind them."""

import json
from typing import Any

from tests.stack.cloudformation import deployed


def put_rules(events: Any, queue_arn: str, *, replay_source: str = "") -> None:
    """Put the template's rules on a bus, so that a queue gets what they let through."""
    stack = deployed(ReplaySource=replay_source, LifecycleHook="evenkeel")
    for name in stack.names("AWS::Events::Rule"):
        events.put_rule(Name=name, EventPattern=json.dumps(stack.of(name)["EventPattern"]))
        events.put_targets(Rule=name, Targets=[{"Id": "notices", "Arn": queue_arn}])


class EventBus:
    """The rules of the template between two clients, of EventBridge and of SQS.

    ``seconds``: how long to wait for an event to arrive.
    """

    def __init__(self, events: Any, sqs: Any, replay_source: str, *, seconds: int = 0) -> None:
        self._events = events
        self._sqs = sqs
        self._seconds = seconds
        self._url = sqs.create_queue(QueueName="notices")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=["QueueArn"])
        put_rules(events, arn["Attributes"]["QueueArn"], replay_source=replay_source)

    def put(self, event: dict[str, Any]) -> None:
        """Put an event on the bus."""
        entry = {
            "Source": event["source"],
            "DetailType": event["detail-type"],
            "Detail": json.dumps(event["detail"]),
            "Resources": event["resources"],
        }
        answer = self._events.put_events(Entries=[entry])
        assert answer["FailedEntryCount"] == 0, answer

    def receive(self) -> list[dict[str, Any]]:
        """The events that have arrived since the last time."""
        answer = self._sqs.receive_message(
            QueueUrl=self._url, MaxNumberOfMessages=10, WaitTimeSeconds=self._seconds
        )
        messages = answer.get("Messages", [])
        for message in messages:
            self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"])
        return [json.loads(message["Body"]) for message in messages]

    def delivers(self, event: dict[str, Any]) -> int:
        """How often an event arrives."""
        self.put(event)
        return len(self.receive())
