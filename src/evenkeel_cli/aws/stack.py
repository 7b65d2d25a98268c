"""The stack: what CloudFormation says of it, and what its resources are called."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec

from evenkeel_cli.aws.asking import Aws, AwsError, Page

NOT_MADE: Final = "REVIEW_IN_PROGRESS"
"""The status of a stack whose first change set was made and not carried out. It stays so."""


class Parameter(msgspec.Struct, frozen=True, rename="pascal"):
    """A parameter of a stack; a secret's value is ``****``."""

    parameter_key: str
    parameter_value: str = ""


class Output(msgspec.Struct, frozen=True, rename="pascal"):
    """An output of a stack."""

    output_key: str
    output_value: str = ""


class Described(msgspec.Struct, frozen=True, rename="pascal"):
    """A stack, as DescribeStacks has it."""

    stack_name: str
    stack_status: str
    creation_time: datetime
    stack_id: str = ""
    parameters: tuple[Parameter, ...] = ()
    outputs: tuple[Output, ...] = ()


class Stacks(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of DescribeStacks."""

    stacks: tuple[Described, ...] = ()


class Resource(msgspec.Struct, frozen=True, rename="pascal"):
    """A resource of a stack."""

    logical_resource_id: str
    physical_resource_id: str = ""


class Resources(Page, frozen=True, rename="pascal"):
    """A page of ListStackResources."""

    stack_resource_summaries: tuple[Resource, ...] = ()


class Written(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of GetTemplate: JSON as botocore has read it, else the text."""

    template_body: Any


@dataclass(frozen=True, slots=True)
class Stack:
    """A stack: ``ids`` are the physical ids of its resources by their logical ids.

    ``id`` names it also when it is deleted, and another one has its name.
    """

    name: str
    id: str
    status: str
    created: datetime
    parameters: Mapping[str, str]
    outputs: Mapping[str, str]
    ids: Mapping[str, str]

    @property
    def is_under_way(self) -> bool:
        """Whether CloudFormation is at work on it."""
        return self.status.endswith("_IN_PROGRESS") and self.status != NOT_MADE

    @property
    def cluster(self) -> str:
        """The EKS cluster that it is for."""
        return self.parameters.get("ClusterName", "")

    @property
    def observes(self) -> bool:
        """Whether its functions change nothing."""
        return self.parameters.get("Mode") == "observe"

    def id_of(self, logical_id: str) -> str:
        """The physical id of a resource; empty if it has none such."""
        return self.ids.get(logical_id, "")


def template(aws: Aws, name: str) -> Any:
    """The template of a stack as it was given, before SAM's macro. Raises AwsError."""
    original = {"StackName": name, "TemplateStage": "Original"}
    return aws.ask("cloudformation", "get_template", Written, **original).template_body


def gather(aws: Aws, name: str) -> Stack | None:
    """Read a stack; None if there is none of this name. Raises AwsError."""
    try:
        found = aws.ask("cloudformation", "describe_stacks", Stacks, StackName=name).stacks
    except AwsError as error:
        if error.aws_code == "ValidationError" and "does not exist" in str(error):
            return None
        raise
    stack = found[0]
    pages = aws.pages("cloudformation", "list_stack_resources", Resources, StackName=name)
    resources = [each for page in pages for each in page.stack_resource_summaries]
    return Stack(
        name=stack.stack_name,
        id=stack.stack_id,
        status=stack.stack_status,
        created=stack.creation_time,
        parameters={each.parameter_key: each.parameter_value for each in stack.parameters},
        outputs={each.output_key: each.output_value for each in stack.outputs},
        ids={each.logical_resource_id: each.physical_resource_id for each in resources},
    )
