"""What AWS's IAM is asked for a call: which rights it takes, and whether a policy gives them.

https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import botocore.session
from botocore import xform_name
from botocore.model import ServiceModel

REGION = "eu-central-1"
ACCOUNT = "123456789012"
TRANSFORM = f"arn:aws:cloudformation:{REGION}:aws:transform/Serverless-2016-10-31"
"""A template with a transform is translated for who may use it.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-iam-template.html
"""

ACTIONS = {
    "s3:DeleteObjects": "s3:DeleteObject",
    "s3:HeadBucket": "s3:ListBucket",
    "s3:HeadObject": "s3:GetObject",
    "s3:ListObjectsV2": "s3:ListBucket",
    "s3:PutBucketEncryption": "s3:PutEncryptionConfiguration",
    "s3:PutPublicAccessBlock": "s3:PutBucketPublicAccessBlock",
    "sqs:ChangeMessageVisibilityBatch": "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessageBatch": "sqs:DeleteMessage",
    "sqs:SendMessageBatch": "sqs:SendMessage",
}
"""Operations that are allowed by an action of another name.

https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-with-s3-policy-actions.html
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-api-permissions-reference.html
"""

FREE = {"sts:GetCallerIdentity"}
"""What takes no right.

https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html
"""

NAMING = {
    ("autoscaling", "AutoScalingGroupName"): "autoScalingGroup:*:autoScalingGroupName/{}",
    ("cloudformation", "StackName"): "stack/{}/*",
    ("eks", "clusterName"): "cluster/{}",
    ("eks", "name"): "cluster/{}",
    ("events", "Name"): "rule/{}",
    ("events", "Rule"): "rule/{}",
    ("logs", "logGroupName"): "log-group:{}",
    ("secretsmanager", "SecretId"): "secret:{}-??????",
}
"""The end of the ARN of what a service's parameter names."""

ABOUT_ALL = {"autoscaling:DescribeLifecycleHooks"}
"""Operations that name a resource, and know no rights for single ones."""

ANY = "*"
"""The resource of an action that knows none: only a statement about all resources gives it."""


@dataclass(frozen=True, slots=True)
class Right:
    """An action on a resource; ``context`` are the condition keys that the call sets."""

    action: str
    resource: str = ANY
    context: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        """As one says it."""
        return f"{self.action} on {self.resource}"


class Policy:
    """A policy that allows, and denies nothing."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._statements: Sequence[Mapping[str, Any]] = document["Statement"]
        assert all(each["Effect"] == "Allow" for each in self._statements)

    def allows(self, right: Right) -> bool:
        """Whether one of its statements gives it."""
        return any(_gives(each, right) for each in self._statements)

    def names(self, action: str) -> bool:
        """Whether it allows an action on any resource at all."""
        return any(matches(action, pattern) for pattern, _ in self.pairs())

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The actions and resources that it allows, as it writes them, one by one."""
        for each in self._statements:
            for action in listed(each["Action"]):
                for resource in listed(each["Resource"]):
                    yield action, resource


def matches(action: str, pattern: str) -> bool:
    """Whether a policy's action is this one. IAM heeds no case here."""
    return fnmatchcase(action.lower(), pattern.lower())


def listed(value: str | Sequence[str]) -> Sequence[str]:
    """A policy's values, of which a single one may stand for itself."""
    return [value] if isinstance(value, str) else value


def operation(service: str, method: str) -> str:
    """An operation's name, such as DescribeStacks, by its method in boto3. Raises KeyError."""
    return operations(service)[method]


@cache
def operations(service: str) -> Mapping[str, str]:
    """The names of a service's operations by their methods; empty if botocore knows none such."""
    if service not in botocore.session.get_session().get_available_services():
        return {}
    return {xform_name(name): name for name in model(service).operation_names}


@cache
def model(service: str) -> ServiceModel:
    """A service as botocore has it."""
    return botocore.session.get_session().get_service_model(service)


def action(service: str, name: str) -> str | None:
    """The action by which an operation is allowed; None if it takes no right."""
    called = f"{service}:{name}"
    return None if called in FREE else ACTIONS.get(called, called)


def needed(service: str, name: str, parameters: Mapping[str, Any]) -> Iterator[Right]:
    """The rights that a call takes.

    A resource that cannot be told of its parameters is any: a policy has to allow all.
    """
    by = action(service, name)
    if by is None:
        return
    for resource in _resources(service, name, parameters):
        yield Right(by, resource)
    if service == "cloudformation" and "TemplateURL" in parameters:
        yield Right(by, TRANSFORM)
    if service == "cloudformation" and "RoleARN" in parameters:
        to = {"iam:PassedToService": "cloudformation.amazonaws.com"}
        yield Right("iam:PassRole", parameters["RoleARN"], to)


def _resources(service: str, name: str, parameters: Mapping[str, Any]) -> Iterator[str]:
    match service, dict(parameters):
        case "s3", {"Bucket": bucket}:
            yield from (f"arn:aws:s3:::{bucket}{key}" for key in _keys(parameters))
        case "sqs", {"QueueUrl": url}:
            *_, account, queue = urlsplit(url).path.split("/")
            yield f"arn:aws:sqs:{REGION}:{account}:{queue}"
        case "eks", {"clusterName": cluster, "principalArn": principal}:
            yield _arn("eks", cluster, f"access-entry/{{}}/{_kind_account_and_name(principal)}/*")
        case _ if f"{service}:{name}" not in ABOUT_ALL:
            found = [each for each in parameters if (service, each) in NAMING]
            yield from (_arn(service, parameters[e], NAMING[service, e]) for e in found)
            if not found:
                yield ANY
        case _:
            yield ANY


def _keys(parameters: Mapping[str, Any]) -> Sequence[str]:
    """What follows a bucket in the ARN of what is in it; nothing in its own."""
    if "Delete" in parameters:
        return [f"/{each['Key']}" for each in parameters["Delete"]["Objects"]]
    return [f"/{parameters['Key']}"] if "Key" in parameters else [""]


def _arn(service: str, named: str, pattern: str) -> str:
    """What is named by its ARN, or by its name."""
    if named.startswith("arn:"):
        return named
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{pattern.format(named)}"


def _kind_account_and_name(principal: str) -> str:
    """Of a role or user, by its ARN."""
    *_, account, what = principal.split(":")
    kind, *_, who = what.split("/")
    return f"{kind}/{account}/{who}"


def _gives(statement: Mapping[str, Any], right: Right) -> bool:
    return (
        any(matches(right.action, each) for each in listed(statement["Action"]))
        and any(fnmatchcase(right.resource, each) for each in listed(statement["Resource"]))
        and all(
            _holds(operator, key, listed(values), right.context)
            for operator, clauses in statement.get("Condition", {}).items()
            for key, values in clauses.items()
        )
    )


def _holds(operator: str, key: str, values: Sequence[str], context: Mapping[str, str]) -> bool:
    assert operator == "StringEquals", f"{operator} is not known here"
    return context.get(key) in values
