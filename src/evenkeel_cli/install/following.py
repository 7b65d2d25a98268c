"""An operation of CloudFormation on a stack, followed to its end by the events that it writes.

What is read may be a moment old: a stack's status may still be the one before, and its events may
come late. So an operation counts as ended when the newest event of the stack itself says so, and
the stack's status is the same.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import msgspec

from evenkeel.ports import Clock
from evenkeel_cli.aws.asking import Aws, AwsError, Page
from evenkeel_cli.aws.stack import Stacks

type Say = Callable[[str], None]

EVERY: Final = timedelta(seconds=1)
BEGUN: Final = ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS", "DELETE_IN_PROGRESS")
"""The status with which a person's operation begins. A rollback belongs to what it rolls back."""
NOT_ITSELF: Final = "cancel"
"""In the reason of a resource that failed because another one did."""


class Event(msgspec.Struct, frozen=True, rename="pascal"):
    """What became of a resource, or of the stack itself, at a moment."""

    event_id: str
    logical_resource_id: str = ""
    physical_resource_id: str = ""
    resource_type: str = ""
    resource_status: str = ""
    resource_status_reason: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether nothing more is under way."""
        return not self.resource_status.endswith("_IN_PROGRESS")

    @property
    def has_failed(self) -> bool:
        """Whether it failed of its own accord."""
        reason = self.resource_status_reason.lower()
        return self.resource_status.endswith("_FAILED") and NOT_ITSELF not in reason


class Events(Page, frozen=True, rename="pascal"):
    """A page of DescribeStackEvents, the newest first."""

    stack_events: tuple[Event, ...] = ()


class Check(msgspec.Struct, frozen=True, rename="pascal"):
    """An event of DescribeEvents: of a validation before anything is made, or of a resource."""

    logical_resource_id: str = ""
    resource_status_reason: str = ""
    validation_status_reason: str = ""
    validation_path: str = ""


class Checks(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of DescribeEvents."""

    operation_events: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """How an operation ended: the stack's status, and the first failure; empty without one."""

    status: str
    failure: str = ""


class Following:
    """Follows the operations of one stack. Its methods raise AwsError."""

    def __init__(self, aws: Aws, clock: Clock, stack_id: str, say: Say) -> None:
        """``stack_id`` is the id, not the name: it names the stack when it is deleted, too."""
        self._aws = aws
        self._clock = clock
        self._id = stack_id
        self._say = say

    def newest(self) -> str:
        """The id of the newest event; empty if there is none."""
        first = next(self._events(), None)
        return first.event_id if first is not None else ""

    def to_the_end(self, after: str | None = None, of: Collection[str] = ()) -> Ended:
        """Follow what happens after this event; None: the operation that is under way.

        ``of`` are the resources that change, where that is known; a line says how many of them are
        done. It waits for as long as the clock lets it. An interrupt, or a clock that does not
        sleep any longer, ends nothing but the following.
        """
        told: list[Event] = []
        try:
            while True:
                fresh = self._after(told[-1].event_id if told else after)
                self._tell(told, fresh, of)
                told.extend(fresh)
                if (status := self._ended(told)) is not None:
                    return Ended(status, self._failure(told))
                self._clock.sleep(EVERY)
        except KeyboardInterrupt:
            self._say("AWS goes on by itself: the same command follows it")
            raise

    def _after(self, event_id: str | None) -> Sequence[Event]:
        """The events after this one, or since the operation began, the oldest first."""
        found: list[Event] = []
        for each in self._events():
            if each.event_id == event_id:
                break
            found.append(each)
            if event_id is None and self._is_own(each) and each.resource_status in BEGUN:
                break
        return found[::-1]

    def _events(self) -> Iterator[Event]:
        """All events, the newest first; pages are asked for as they are wanted."""
        named = {"StackName": self._id}
        for page in self._aws.pages("cloudformation", "describe_stack_events", Events, **named):
            yield from page.stack_events

    def _tell(self, before: Sequence[Event], fresh: Sequence[Event], of: Collection[str]) -> None:
        """A line for each new state of a resource, with how many are done."""
        states = {each.logical_resource_id: each for each in before}
        for each in fresh:
            name, old = each.logical_resource_id, states.get(each.logical_resource_id)
            states[name] = each
            if self._is_own(each) or (old and old.resource_status == each.resource_status):
                continue
            done = sum(e.has_ended and (key in of or not of) for key, e in states.items())
            count = f"{done} of {len(of)}" if of else f"{done}"
            reason = f": {each.resource_status_reason}" if each.has_failed else ""
            self._say(f"{count}  {each.resource_status}  {name}{reason}")

    def _ended(self, told: Sequence[Event]) -> str | None:
        """The stack's status, once the operation has ended."""
        own = [each for each in told if self._is_own(each)]
        if not own or not own[-1].has_ended:
            return None
        (stack,) = self._ask("describe_stacks", Stacks).stacks
        return stack.stack_status if stack.stack_status == own[-1].resource_status else None

    def _failure(self, told: Sequence[Event]) -> str:
        for each in told:
            if each.has_failed and not self._is_own(each):
                kind, reason = each.resource_type, each.resource_status_reason
                return f"{each.logical_resource_id} ({kind}) failed first: {reason}"
        for each in told:
            if each.has_failed:
                return checks(self._aws, each.resource_status_reason, StackName=self._id)
        return ""

    def _is_own(self, event: Event) -> bool:
        return event.physical_resource_id == self._id

    def _ask(self, method: str, shape: Any, **parameters: str) -> Any:
        return self._aws.ask("cloudformation", method, shape, StackName=self._id, **parameters)


def checks(aws: Aws, reason: str, **what: str) -> str:
    """What a validation refused; ``reason``, where CloudFormation tells of no validation.

    ``what`` is the stack or the change set. The events of a stack name no more than their number:
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/validate-stack-deployments.html
    """
    failed = {"FailedEvents": True}
    try:
        found = aws.ask("cloudformation", "describe_events", Checks, Filters=failed, **what)
    except AwsError:
        return reason
    for each in found.operation_events:
        if told := each.validation_status_reason or each.resource_status_reason:
            where = each.validation_path or each.logical_resource_id
            return f"{where}: {told}" if where else told
    return reason
