"""The queues: who may send to them, and whether their dead letter queues are empty."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from evenkeel_cli import words
from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.doctor.findings import Finding, broken, fine, looked

SERVICE: Final = "events.amazonaws.com"
SENDS: Final = ("sqs:sendmessage", "sqs:send*", "sqs:*", "*")
DEPLOY: Final = "deploy the stack again"
DEAD_LETTERS: Final = {
    "NoticeDeadLetters": "EventBridge could not deliver them, or they make no sense",
    "WakeUpDeadLetters": "each came 1,000 times; the schedule goes on without them",
}
"""What it means that there are messages in a queue."""


class Attributes(msgspec.Struct, frozen=True, rename="pascal"):
    """A queue's attributes, all of which are strings."""

    queue_arn: str = ""
    policy: str = ""
    approximate_number_of_messages: str = "0"
    approximate_number_of_messages_not_visible: str = "0"

    @property
    def messages(self) -> int:
        """About how many messages are in it."""
        hidden = int(self.approximate_number_of_messages_not_visible)
        return int(self.approximate_number_of_messages) + hidden


class Answer(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of GetQueueAttributes."""

    attributes: Attributes = Attributes()


def gather(aws: Aws, stack: Stack, queue: str) -> Attributes:
    """The attributes of a queue of the stack. Raises AwsError."""
    url = stack.id_of(queue)
    return aws.ask(
        "sqs", "get_queue_attributes", Answer, QueueUrl=url, AttributeNames=["All"]
    ).attributes


def look(aws: Aws, stack: Stack, rules: Sequence[str]) -> Iterator[Finding]:
    """The policies of the queues that rules send to, and all dead letters.

    ``rules`` are their ARNs.
    """
    for queue in ("NoticeQueue", "NoticeDeadLetters"):
        yield from looked(f"policy {queue}", _of_policy, aws, stack, queue, rules)
    for queue in DEAD_LETTERS:
        yield from looked(queue, _of_dead_letters, aws, stack, queue)


def judge_policy(queue: str, found: Attributes, rules: Sequence[str]) -> Finding:
    """Whether EventBridge may send to a queue for each of these rules."""
    link = f"policy {queue}"
    if not found.policy:
        return broken(link, "it has no policy: EventBridge cannot send to it", DEPLOY)
    statements = _listed(json.loads(found.policy).get("Statement", []))
    for rule in rules:
        if any(_allows(each, "Deny", found.queue_arn, rule) for each in statements):
            return broken(link, f"it denies what the rule {_name(rule)} sends", DEPLOY)
        if not any(_allows(each, "Allow", found.queue_arn, rule) for each in statements):
            return broken(link, f"it does not let the rule {_name(rule)} send", DEPLOY)
    return fine(link, f"it lets {words.counted(len(rules), 'rule')} send")


def judge_dead_letters(queue: str, found: Attributes) -> Finding:
    """Whether nothing got lost within the last 14 days."""
    if not found.messages:
        return fine(queue, "it is empty")
    return broken(
        queue,
        f"{words.counted(found.messages, 'message')}: {DEAD_LETTERS[queue]}",
        "read them, mend the cause, and purge the queue",
    )


def _of_policy(aws: Aws, stack: Stack, queue: str, rules: Sequence[str]) -> Finding:
    return judge_policy(queue, gather(aws, stack, queue), rules)


def _of_dead_letters(aws: Aws, stack: Stack, queue: str) -> Finding:
    return judge_dead_letters(queue, gather(aws, stack, queue))


def _allows(statement: dict[str, Any], effect: str, queue: str, rule: str) -> bool:
    """Whether a statement is about EventBridge's sending for this rule.

    Of its conditions those on the rule's ARN are understood, and those on TLS, by which EventBridge
    comes; another one is taken to hold where it denies, and not to where it allows.
    """
    principal = statement.get("Principal", {})
    principals = _listed(principal if principal == "*" else principal.get("Service", []))
    actions = [str(each).lower() for each in _listed(statement.get("Action", []))]
    return (
        statement.get("Effect") == effect
        and ("*" in principals or SERVICE in principals)
        and any(each in SENDS for each in actions)
        and any(each in ("*", queue) for each in _listed(statement.get("Resource", [])))
        and _holds(statement.get("Condition", {}), rule, otherwise=effect == "Deny")
    )


def _holds(conditions: dict[str, Any], rule: str, *, otherwise: bool) -> bool:
    for operator, clauses in conditions.items():
        for key, values in clauses.items():
            match operator, key.lower():
                case "ArnEquals" | "ArnLike" | "StringEquals", "aws:sourcearn":
                    holds = rule in _listed(values)
                case "Bool", "aws:securetransport":
                    holds = "true" in _listed(values)
                case _:
                    return otherwise
            if not holds:
                return False
    return True


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _name(arn: str) -> str:
    return arn.rpartition("/")[2]
