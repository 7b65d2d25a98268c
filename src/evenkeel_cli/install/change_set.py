"""A change set: what CloudFormation would do to a stack, before it does it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from evenkeel.ports import Clock
from evenkeel_cli.aws.asking import Aws, Nothing, Page
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.install.following import EVERY, checks

UNCHANGED: Final = ("didn't contain changes", "No updates are to be performed")
"""In the reason of a change set that failed because nothing is to be done."""
KEPT: Final = (
    "AWS::SQS::Queue",
    "AWS::SecretsManager::Secret",
    "AWS::ApiGatewayV2::Api",
)
"""A new queue loses the messages, a new secret the token, a new API the webhook's address."""

REPLACED: Final = {"True": ", replaced", "Conditional": ", perhaps replaced"}


class Made(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of CreateChangeSet."""

    id: str
    stack_id: str


class Change(msgspec.Struct, frozen=True, rename="pascal"):
    """What becomes of a resource. ``replacement`` is True, False or Conditional, as a word."""

    action: str = ""
    logical_resource_id: str = ""
    resource_type: str = ""
    replacement: str = ""

    @property
    def loses(self) -> bool:
        """Whether there is another resource afterwards, of a type of which that loses something."""
        return self.replacement == "True" and self.resource_type in KEPT

    def __str__(self) -> str:
        """A line about it."""
        told = f"{self.action:6}  {self.logical_resource_id} ({self.resource_type})"
        return f"{told}{REPLACED.get(self.replacement, '')}"


class Listed(msgspec.Struct, frozen=True, rename="pascal"):
    """A change in a listing; one of a hook has no resource."""

    resource_change: Change | None = None


class Described(Page, frozen=True, rename="pascal"):
    """A page of DescribeChangeSet."""

    status: str
    status_reason: str = ""
    changes: tuple[Listed, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """A change set that can be executed. ``name`` is also the token of its execution."""

    id: str
    name: str
    stack_id: str
    changes: Sequence[Change]

    @property
    def by_hand(self) -> str:
        """The command that executes it."""
        return f"aws cloudformation execute-change-set --change-set-name {self.id}"

    def check(self) -> None:
        """Raises UnmetError where it would replace what must stay."""
        lost = [each.logical_resource_id for each in self.changes if each.loses]
        if lost:
            raise UnmetError(
                f"the change set would replace {', '.join(lost)}, by which messages, the webhook's"
                " token or its address are lost, and was not executed: install this version as"
                " another stack by --stack-name, and uninstall this one; or lose them:"
                f" {self.by_hand}"
            )


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a stack is to become. ``declared`` are the parameters that the template has."""

    stack_name: str
    template_url: str
    declared: frozenset[str]
    parameters: Mapping[str, str]
    role_arn: str = ""


class ChangeSets:
    """Makes and executes change sets. Its methods raise AwsError and UnmetError."""

    def __init__(self, aws: Aws, clock: Clock) -> None:
        self._aws = aws
        self._clock = clock

    def make(self, wanted: Wanted, stack: Stack | None) -> ChangeSet | None:
        """Make one for a stack, or for one that is not there; None if nothing would change."""
        name = f"evenkeel-{self._clock.now():%Y%m%d-%H%M%S-%f}"
        made = self._ask(
            "create_change_set",
            Made,
            StackName=wanted.stack_name,
            ChangeSetName=name,
            ClientToken=name,  # so that a try that is repeated is not refused
            ChangeSetType="CREATE" if stack is None else "UPDATE",
            TemplateURL=wanted.template_url,
            Parameters=_parameters(wanted, stack),
            Capabilities=["CAPABILITY_IAM"],
            **by_role(wanted.role_arn),
        )
        named = {"StackName": made.stack_id, "ChangeSetName": made.id}
        page = self._made(named)
        if page.status == "FAILED":
            if any(words in page.status_reason for words in UNCHANGED):
                self._ask("delete_change_set", Nothing, **named)
                return None
            reason = checks(self._aws, page.status_reason, **named)
            raise UnmetError(f"CloudFormation refuses the change set: {reason}")
        return ChangeSet(made.id, name, made.stack_id, self._changes(named))

    def execute(self, change_set: ChangeSet) -> None:
        """Begin what it says."""
        named = {"StackName": change_set.stack_id, "ChangeSetName": change_set.id}
        self._ask("execute_change_set", Nothing, ClientRequestToken=change_set.name, **named)

    def _made(self, named: Mapping[str, str]) -> Described:
        """Its first page, once CloudFormation has translated the template and compared."""
        while True:
            page: Described = self._ask("describe_change_set", Described, **named)
            if page.status in ("CREATE_COMPLETE", "FAILED"):
                return page
            self._clock.sleep(EVERY)

    def _changes(self, named: Mapping[str, str]) -> Sequence[Change]:
        pages = self._aws.pages("cloudformation", "describe_change_set", Described, **named)
        found = [each.resource_change for page in pages for each in page.changes]
        return [each for each in found if each is not None]

    def _ask(self, method: str, shape: Any, **parameters: Any) -> Any:
        return self._aws.ask("cloudformation", method, shape, **parameters)


def by_role(arn: str) -> dict[str, str]:
    """The role with which CloudFormation works; without one it is who asks, or the role before."""
    return {"RoleARN": arn} if arn else {}


def _parameters(wanted: Wanted, stack: Stack | None) -> Sequence[Mapping[str, Any]]:
    """Those that nobody names stay: without a word CloudFormation would take their defaults."""
    named = [
        {"ParameterKey": key, "ParameterValue": value} for key, value in wanted.parameters.items()
    ]
    have = stack.parameters if stack is not None else {}
    stay = [
        {"ParameterKey": key, "UsePreviousValue": True}
        for key in have
        if key in wanted.declared and key not in wanted.parameters
    ]
    return [*named, *stay]
