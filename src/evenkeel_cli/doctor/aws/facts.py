"""What the checks in AWS go by: the stack, its resources, and EKS."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
import yaml

from evenkeel.flows.reads import ask_for_one
from evenkeel.model.cluster_objects import ConfigMap
from evenkeel.model.request import Get
from evenkeel.ports import Clock, Cluster
from evenkeel_cli.aws import eks, vpc
from evenkeel_cli.aws.asking import Aws, AwsError
from evenkeel_cli.aws.eks import Described
from evenkeel_cli.aws.stack import Stack
from evenkeel_cli.decisions.network.control_plane import ControlPlane
from evenkeel_cli.decisions.network.functions import FunctionNetwork
from evenkeel_cli.decisions.network.vpc import Vpc
from evenkeel_cli.doctor.check import Facts, once

FUNCTIONS: Final = ("interruption", "handover", "restore", "placement")
SOURCES: Final = {"interruption": "NoticeQueue", "handover": "WakeUpQueue"}
"""The queue that feeds each function."""

DEAD_LETTERS: Final = {
    "NoticeDeadLetters": "EventBridge could not deliver them, or they make no sense",
    "WakeUpDeadLetters": "each came 1,000 times; the schedule goes on without them",
}
"""What it means that there are messages in a queue."""

RULES: Final = ("NoticeRule", "StateChangeRule", "ScheduledChangeRule")
HOOKS_RULE: Final = "LifecycleActionRule"
PROBE: Final = "probe"
MISSING: Final = "ResourceNotFoundException"

PERIOD: Final = timedelta(minutes=5)
"""What CloudWatch sums up; the beginning of a period is all that is known of a time."""

BACK: Final = timedelta(hours=25)
LATE: Final = timedelta(minutes=15)
"""Two probes may get lost, and CloudWatch may be minutes behind."""


def rules_of(parameters: Mapping[str, str]) -> tuple[str, ...]:
    """The logical ids of the rules of a stack with these parameters."""
    return (*RULES, HOOKS_RULE) if parameters.get("LifecycleHook") else RULES


class Target(msgspec.Struct, frozen=True, rename="pascal"):
    """Where a rule sends to."""

    arn: str


class Rule(msgspec.Struct, frozen=True, rename="pascal"):
    """A rule, as DescribeRule and ListTargetsByRule tell of it."""

    arn: str = ""
    state: str = ""
    targets: tuple[Target, ...] = ()


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

    @property
    def statements(self) -> Sequence[Mapping[str, Any]]:
        """The statements of its policy; none without one."""
        return listed(json.loads(self.policy or "{}").get("Statement", []))


class Queue(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of GetQueueAttributes."""

    attributes: Attributes = Attributes()


class Mapped(msgspec.Struct, frozen=True, rename="pascal"):
    """An event source mapping."""

    event_source_arn: str = ""
    state: str = ""
    state_transition_reason: str = ""
    uuid: str = msgspec.field(default="", name="UUID")


class Mappings(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of ListEventSourceMappings."""

    event_source_mappings: tuple[Mapped, ...] = ()


class Entry(msgspec.Struct, frozen=True, rename="camel"):
    """An access entry."""

    kubernetes_groups: tuple[str, ...] = ()


class AccessEntry(msgspec.Struct, frozen=True, rename="camel"):
    """The answer of DescribeAccessEntry."""

    access_entry: Entry


class Series(msgspec.Struct, frozen=True, rename="pascal"):
    """One metric's sums, by the beginning of their periods."""

    id: str = ""
    timestamps: tuple[datetime, ...] = ()
    values: tuple[float, ...] = ()


class Data(msgspec.Struct, frozen=True, rename="pascal"):
    """The answer of GetMetricData."""

    metric_data_results: tuple[Series, ...] = ()


@dataclass(frozen=True, slots=True)
class Counted:
    """A metric: the end of the last period in which it counted, and its sum of late."""

    last: datetime | None = None
    of_late: float = 0


@dataclass(eq=False)
class AwsFacts(Facts):
    """What AWS tells of a stack, and of what it has made. Its methods raise AwsError.

    The cluster is read where aws-auth maps the roles.
    """

    aws: Aws
    stack: Stack
    _cluster: Cluster
    _clock: Clock

    @property
    def now(self) -> datetime:
        """The time by the clock here."""
        return self._clock.now()

    @once
    def described(self) -> Described:
        """The stack's cluster, as EKS has it."""
        return eks.gather(self.aws, self.stack.cluster)

    @once
    def rule(self, logical: str) -> Rule | None:
        """A rule by its logical id; None: there is none."""
        name = self.stack.id_of(logical)
        if not name:
            return None
        try:
            rule = self.aws.ask("events", "describe_rule", Rule, Name=name)
            targets = self.aws.ask("events", "list_targets_by_rule", Rule, Rule=name).targets
        except AwsError as error:
            if error.aws_code == MISSING:
                return None
            raise
        return msgspec.structs.replace(rule, targets=targets)

    @once
    def queue(self, logical: str) -> Attributes:
        """The attributes of a queue by its logical id."""
        wanted = {"QueueUrl": self.stack.id_of(logical), "AttributeNames": ["All"]}
        return self.aws.ask("sqs", "get_queue_attributes", Queue, **wanted).attributes

    @once
    def mappings(self, function: str) -> Sequence[Mapped]:
        """What feeds a function."""
        name = self._name_of(function)
        found = self.aws.ask("lambda", "list_event_source_mappings", Mappings, FunctionName=name)
        return found.event_source_mappings

    @once
    def metrics(self) -> Mapping[str, Counted]:
        """What CloudWatch counted of late.

        By function and metric, as in ``handover/Errors``, and ``probe``; functions that the stack
        lacks are left out.
        """
        now = self.now
        metrics = {
            f"{function}/{metric}": ("AWS/Lambda", metric, {"FunctionName": name})
            for function in FUNCTIONS
            for metric in ("Invocations", "Errors")
            if (name := self._name_of(function))
        } | {PROBE: ("Evenkeel", "ProbesAnswered", {"cluster": self.stack.cluster})}
        queries = [_query(f"m{number}", *each) for number, each in enumerate(metrics.values())]
        asked = {"StartTime": now - BACK, "EndTime": now, "ScanBy": "TimestampDescending"}
        found = self.aws.ask(
            "cloudwatch", "get_metric_data", Data, MetricDataQueries=queries, **asked
        )
        series = {each.id: each for each in found.metric_data_results}
        return {
            key: _counted(series.get(f"m{number}", Series()), now)
            for number, key in enumerate(metrics)
        }

    @once
    def entry(self, role: str) -> Sequence[str] | None:
        """The groups of a role's access entry, None if it has none."""
        named = {"clusterName": self.stack.cluster, "principalArn": role}
        try:
            found = self.aws.ask("eks", "describe_access_entry", AccessEntry, **named)
        except AwsError as error:
            if error.aws_code == MISSING:
                return None
            raise
        return found.access_entry.kubernetes_groups

    @once
    def aws_auth(self) -> Mapping[str, Sequence[str]]:
        """The groups of each role in aws-auth; none if it cannot be read as a list of roles.

        Raises ClusterError.
        """
        found = ask_for_one(self._cluster, Get(ConfigMap, "aws-auth", "kube-system"))
        text = found.data.get("mapRoles", "") if found is not None else ""
        try:
            roles: Any = yaml.safe_load(text) or []
            return {each["rolearn"]: each.get("groups") or [] for each in roles}
        except (yaml.YAMLError, TypeError, KeyError, AttributeError):
            return {}

    @once
    def vpc(self, control_plane: ControlPlane, functions: FunctionNetwork) -> Vpc:
        """The network of both, as EC2 tells of it."""
        return vpc.gather(self.aws, control_plane, functions)

    def _name_of(self, function: str) -> str:
        return self.stack.id_of(f"{function.capitalize()}Function")


def listed(value: Any) -> list[Any]:
    """A list, which AWS may write as its only member."""
    return value if isinstance(value, list) else [value]


def _query(id_: str, namespace: str, metric: str, dimensions: Mapping[str, str]) -> dict[str, Any]:
    named = [{"Name": name, "Value": value} for name, value in dimensions.items()]
    counted = {"Namespace": namespace, "MetricName": metric, "Dimensions": named}
    period = int(PERIOD.total_seconds())
    return {"Id": id_, "MetricStat": {"Metric": counted, "Period": period, "Stat": "Sum"}}


def _counted(series: Series, now: datetime) -> Counted:
    points = [(at + PERIOD, n) for at, n in zip(series.timestamps, series.values, strict=True) if n]
    return Counted(
        last=min(max(end for end, _ in points), now) if points else None,
        of_late=sum(number for end, number in points if now - end <= LATE),
    )
