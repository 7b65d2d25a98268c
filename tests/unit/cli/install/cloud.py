"""An account in memory: a bucket's objects, and a stack that CloudFormation changes event by event.

Each question for events brings the next of them, and the status of the stack follows its events: so
an operation is slow. Where it is late, what is read right after a write is still as it was before.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.aws.eks import Described
from evenkeel_cli.install.build import Build, Piece
from evenkeel_cli.install.site import Place, Site
from tests.kit.api_server import HandClock
from tests.kit.aws_clients import STACK, refusal
from tests.kit.clocks import NOW
from tests.unit.cli.install.keeping import REGION
from tests.unit.cli.install.killing import WRITES

ACCOUNT = "123456789012"
OURS = f"evenkeel-{ACCOUNT}-{REGION}-an"
ARN = f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/{STACK}/"
QUEUE = {"Type": "AWS::SQS::Queue", "Properties": {}}
FUNCTION = {"Type": "AWS::Serverless::Function", "Properties": {"CodeUri": "functions/handover/"}}
TEMPLATE: dict[str, Any] = {
    "Parameters": {"ClusterName": {}, "Mode": {}, "Window": {}},
    "Resources": {"NoticeQueue": QUEUE, "HandoverFunction": FUNCTION},
}
PARAMETERS = {"ClusterName": "prod", "Mode": "act"}


def a_build(version: str = "1", **others: Any) -> Build:
    """A build whose function's digest is made of its version."""
    digest = version * 16
    piece = Piece("HandoverFunction", digest, "zip", version.encode())
    return Build({**TEMPLATE, **others}, {"HandoverFunction": piece})


def told(status: str, name: str = "", reason: str = "") -> dict[str, str]:
    """A state of a resource, or without a name of the stack."""
    return {"name": name, "status": status, "reason": reason}


@dataclass
class Cloud:
    """Every service at once. ``asked`` are the calls.

    ``failing`` are the reasons of resources that cannot be made, ``replacing`` those that a change
    replaces; ``refused`` is why no change set can be made; ``codes`` are the errors by which
    methods are refused.
    """

    status: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    template: dict[str, Any] = field(default_factory=dict)
    buckets: dict[str, dict[str, bytes]] = field(default_factory=dict)
    policies: dict[str, str] = field(default_factory=dict)
    events: list[dict[str, str]] = field(default_factory=list)
    pending: list[dict[str, str]] = field(default_factory=list)
    failing: dict[str, str] = field(default_factory=dict)
    replacing: tuple[str, ...] = ()
    refused: str = ""
    codes: dict[str, str] = field(default_factory=dict)
    checks: list[dict[str, str]] = field(default_factory=list)
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    is_late: bool = False
    generation: int = 1
    change_set: dict[str, Any] = field(default_factory=dict)
    meta: Any = field(default_factory=lambda: SimpleNamespace(endpoint_url="https://s3.aws"))

    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, name)
        if not name.startswith(("get_", "head_", "list_", "describe_", *WRITES)):
            return found

        def call(**parameters: Any) -> Any:
            self.asked.append((name, parameters))
            if name in self.codes:
                raise refusal(self.codes[name])
            answer = found(**parameters)
            if name.startswith(WRITES) and self.pending and not self.is_late:
                self._add(self.pending.pop(0))
            return answer

        return call

    def calls(self, method: str) -> list[dict[str, Any]]:
        """With what a method was called."""
        return [parameters for name, parameters in self.asked if name == method]

    def get_caller_identity(self) -> Any:
        return {"Account": ACCOUNT, "Arn": f"arn:aws:iam::{ACCOUNT}:user/u", "UserId": "u"}

    def head_bucket(self, **p: Any) -> Any:
        if p["Bucket"] not in self.buckets:
            raise refusal("404")
        return {}

    def create_bucket(self, **p: Any) -> Any:
        self.buckets[p["Bucket"]] = {}
        return {}

    def put_public_access_block(self, **_: Any) -> Any:
        return {}

    def put_bucket_encryption(self, **_: Any) -> Any:
        return {}

    def put_bucket_policy(self, **p: Any) -> Any:
        self.policies[p["Bucket"]] = p["Policy"]
        return {}

    def get_bucket_policy(self, **p: Any) -> Any:
        if p["Bucket"] not in self.policies:
            raise refusal("NoSuchBucketPolicy")
        return {"Policy": self.policies[p["Bucket"]]}

    def head_object(self, **p: Any) -> Any:
        if p["Key"] not in self.buckets[p["Bucket"]]:
            raise refusal("404")
        return {}

    def put_object(self, **p: Any) -> Any:
        self.buckets[p["Bucket"]][p["Key"]] = p["Body"]
        return {}

    def list_objects_v2(self, **p: Any) -> Any:
        """One key a page."""
        keys = sorted(k for k in self.buckets[p["Bucket"]] if k.startswith(p["Prefix"]))
        i = int(p.get("ContinuationToken", 0))
        more = {"NextContinuationToken": str(i + 1)} if i + 1 < len(keys) else {}
        return {"Contents": [{"Key": key} for key in keys[i : i + 1]], **more}

    def delete_objects(self, **p: Any) -> Any:
        for each in p["Delete"]["Objects"]:
            self.buckets[p["Bucket"]].pop(each["Key"], None)
        return {}

    def delete_bucket(self, **p: Any) -> Any:
        if self.buckets[p["Bucket"]]:
            raise refusal("BucketNotEmpty")
        del self.buckets[p["Bucket"]]
        return {}

    def describe_stacks(self, **p: Any) -> Any:
        if not self.status or (self.status == "DELETE_COMPLETE" and p["StackName"] == STACK):
            raise refusal("ValidationError", f"Stack with id {STACK} does not exist")
        parameters = [{"ParameterKey": k, "ParameterValue": v} for k, v in self.parameters.items()]
        stack = {"StackName": STACK, "StackStatus": self.status, "CreationTime": NOW}
        return {"Stacks": [{**stack, "StackId": self.id, "Parameters": parameters}]}

    def list_stack_resources(self, **_: Any) -> Any:
        names = self.template.get("Resources", {})
        return {"StackResourceSummaries": [{"LogicalResourceId": name} for name in names]}

    def get_template(self, **p: Any) -> Any:
        assert p["TemplateStage"] == "Original"
        return {"TemplateBody": self.template}

    def create_change_set(self, **p: Any) -> Any:
        assert p["ChangeSetName"] != self.change_set.get("ChangeSetName"), "the name is taken"
        is_new = self.status in ("", "REVIEW_IN_PROGRESS", "DELETE_COMPLETE")
        assert p["ChangeSetType"] == ("CREATE" if is_new else "UPDATE")
        assert is_new or self.status.endswith("_COMPLETE"), self.status
        assert self.status != "ROLLBACK_COMPLETE"
        if is_new:
            self.generation += self.status == "DELETE_COMPLETE"
            self.status, self.parameters, self.template = "REVIEW_IN_PROGRESS", {}, {}
            self._add(told("REVIEW_IN_PROGRESS"))
        bucket, key = p["TemplateURL"].removeprefix("https://s3.aws/").split("/", 1)
        self.change_set = p | {"template": json.loads(self.buckets[bucket][key]), "pages": 0}
        return {"Id": f"{p['ChangeSetName']}-id", "StackId": self.id}

    def describe_change_set(self, **p: Any) -> Any:
        assert p["ChangeSetName"] == f"{self.change_set['ChangeSetName']}-id"
        after, values = self.change_set["template"], self._values()
        if self.refused:
            return {"Status": "FAILED", "StatusReason": self.refused}
        if self.template == after and self.parameters == values:
            return {"Status": "FAILED", "StatusReason": "it didn't contain changes. Submit others"}
        self.change_set["pages"] += 1
        if self.change_set["pages"] == 1:
            return {"Status": "CREATE_IN_PROGRESS"}
        i = int(p.get("NextToken", 0))
        names = list(after["Resources"])
        change = {
            "Action": "Modify" if names[i] in self.template.get("Resources", {}) else "Add",
            "LogicalResourceId": names[i],
            "ResourceType": after["Resources"][names[i]]["Type"],
            "Replacement": str(names[i] in self.replacing),
        }
        more = {"NextToken": str(i + 1)} if i + 1 < len(names) else {}
        return {"Status": "CREATE_COMPLETE", "Changes": [{"ResourceChange": change}], **more}

    def delete_change_set(self, **_: Any) -> Any:
        return {}

    def execute_change_set(self, **p: Any) -> Any:
        assert p["ClientRequestToken"] == self.change_set["ChangeSetName"]
        verb = "CREATE" if self.status == "REVIEW_IN_PROGRESS" else "UPDATE"
        back = "ROLLBACK" if verb == "CREATE" else "UPDATE_ROLLBACK"
        before = (dict(self.parameters), self.template)
        self.parameters, self.template = self._values(), self.change_set["template"]
        names = list(self.template["Resources"])
        self.pending = [told(f"{verb}_IN_PROGRESS")]
        self.pending += [told(f"{verb}_IN_PROGRESS", name) for name in names]
        failed = [name for name in names if name in self.failing]
        if not failed:
            self.pending += [told(f"{verb}_COMPLETE", name) for name in names]
            self.pending += [told(f"{verb}_COMPLETE")]
            return {}
        self.pending += [told(f"{verb}_FAILED", name, self.failing[name]) for name in failed]
        self.pending += [told(f"{back}_IN_PROGRESS"), told(f"{back}_COMPLETE")]
        if verb == "UPDATE":
            self.parameters, self.template = before
        return {}

    def continue_update_rollback(self, **_: Any) -> Any:
        assert self.status == "UPDATE_ROLLBACK_FAILED"
        end = "FAILED" if self.failing else "COMPLETE"
        self.pending = [told("UPDATE_ROLLBACK_IN_PROGRESS")]
        self.pending += [told("UPDATE_FAILED", name, why) for name, why in self.failing.items()]
        self.pending += [told(f"UPDATE_ROLLBACK_{end}")]
        return {}

    def delete_stack(self, **p: Any) -> Any:
        assert p["StackName"] == self.id
        if self.status == "REVIEW_IN_PROGRESS":
            self.status = "DELETE_COMPLETE"
            return {}
        end = "FAILED" if self.failing else "COMPLETE"
        self.pending = [told("DELETE_IN_PROGRESS")]
        self.pending += [told("DELETE_FAILED", name, why) for name, why in self.failing.items()]
        self.pending += [told(f"DELETE_{end}")]
        return {}

    def describe_stack_events(self, **p: Any) -> Any:
        """Two events a page, the newest first; one more has come by the next question."""
        i = int(p.get("NextToken", 0))
        newest = self.events[::-1]
        more = {"NextToken": str(i + 2)} if i + 2 < len(newest) else {}
        answer = {"StackEvents": newest[i : i + 2], **more}
        if not i and self.pending:
            self._add(self.pending.pop(0))
        return answer

    def describe_events(self, **p: Any) -> Any:
        assert p["Filters"] == {"FailedEvents": True}
        return {"OperationEvents": self.checks}

    @property
    def id(self) -> str:
        """The stack's id; the next one of its name has another."""
        return f"{ARN}{self.generation}"

    def _values(self) -> dict[str, str]:
        """The parameters as the change set has them."""
        given: Sequence[Mapping[str, Any]] = self.change_set["Parameters"]
        known = self.change_set["template"]["Parameters"]
        assert {each["ParameterKey"] for each in given} <= known.keys(), "not in the template"
        return {
            each["ParameterKey"]: self.parameters[each["ParameterKey"]]
            if each.get("UsePreviousValue")
            else each["ParameterValue"]
            for each in given
        }

    def _add(self, each: dict[str, str]) -> None:
        if not each["name"]:
            self.status = each["status"]
        self.events.append(
            {
                "EventId": f"{self.generation}-{len(self.events)}",
                "LogicalResourceId": each["name"] or STACK,
                "PhysicalResourceId": "" if each["name"] else self.id,
                "ResourceType": "AWS::Some::Type",
                "ResourceStatus": each["status"],
                "ResourceStatusReason": each["reason"],
            }
        )


def a_cloud(status: str = "UPDATE_COMPLETE", build: Build | None = None, **others: Any) -> Cloud:
    """An account with a stack of a build, in this state, and with its files in our bucket."""
    made = build or a_build()
    template = made.placed_in(OURS, STACK)
    keys = {each.key(STACK): each.content for each in made.pieces.values()}
    cloud = Cloud(
        parameters={**PARAMETERS, "Window": "50"},
        template=template,
        buckets={OURS: keys},
        policies={OURS: "{}"},
        **others,
    )
    begun = (
        "CREATE_IN_PROGRESS"
        if status.startswith(("CREATE", "ROLLBACK"))
        else ("DELETE_IN_PROGRESS" if status.startswith("DELETE") else "UPDATE_IN_PROGRESS")
    )
    cloud._add(told(begun))
    cloud._add(told(status))
    return cloud


def a_site(cloud: Cloud, said: list[str] | None = None, **place: str) -> Site:
    """A site whose account it is; its cluster may not be asked."""
    say = (said if said is not None else []).append
    nothing = cast("Any", None)
    where = Place("prod", **cast("Any", place))
    aws = Aws(REGION, lambda _: cloud)
    return Site(where, aws, Described(), nothing, nothing, HandClock(), say)
