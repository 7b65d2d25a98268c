"""Alarms, dashboard and queries name what the functions really write."""

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from evenkeel.adapters.telemetry.decision_log import DecisionRecord
from evenkeel.model.meta import Reference
from evenkeel.model.metrics import MILLISECONDS, Metric
from tests.kit.control_plane import ROOT
from tests.stack.cloudformation import deployed, load

PAGE = ROOT / "docs" / "install.md"
RESOURCES: Mapping[str, Mapping[str, Any]] = load()["Resources"]
ALARMS = {k: v for k, v in RESOURCES.items() if v["Type"] == "AWS::CloudWatch::Alarm"}
QUERIES = {k: v for k, v in RESOURCES.items() if v["Type"] == "AWS::Logs::QueryDefinition"}
OURS = {metric.value for metric in Metric}
TIMES = {metric.value for metric in Metric if metric.unit == MILLISECONDS}
OF_AWS = {
    "AWS/Lambda": {"Duration", "Errors", "Invocations", "Throttles"},
    "AWS/SQS": {"ApproximateAgeOfOldestMessage", "ApproximateNumberOfMessagesVisible"},
}
OF_THE_CLUSTER = [{"Name": "cluster", "Value": {"Ref": "ClusterName"}}]


@pytest.mark.parametrize("name", ALARMS)
def test_an_alarm_is_about_a_metric_that_is_written_and_says_what_to_do(name: str) -> None:
    alarm = ALARMS[name]
    said = alarm["Properties"]
    if said["Namespace"] == "Evenkeel":
        assert said["MetricName"] in OURS
        assert said["Dimensions"] == OF_THE_CLUSTER
        assert ("ExtendedStatistic" in said) is (said["MetricName"] in TIMES)
    else:
        assert said["MetricName"] in OF_AWS[said["Namespace"]]
        (dimension,) = said["Dimensions"]
        (target,) = dimension["Value"].values()
        assert (target if isinstance(target, str) else target[0]) in RESOURCES
    assert said["AlarmActions"] == said["OKActions"] == [{"Ref": "AlarmTopic"}]
    assert said["AlarmDescription"].endswith(".")
    is_of_the_webhook = "Placement" in name or "Gate" in name
    assert alarm["Condition"] == ("HasWebhookAlarms" if is_of_the_webhook else "HasAlarms")


def test_the_dashboard_shows_what_is_written() -> None:
    dashboard = RESOURCES["Overview"]
    assert dashboard["Condition"] == "HasDashboard"
    text = dashboard["Properties"]["DashboardBody"]["Fn::Sub"]
    body = json.loads(text)
    shown = [line for widget in body["widgets"] for line in widget["properties"]["metrics"]]
    assert len(shown) > 20
    for namespace, metric, dimension, value, *_ in shown:
        assert metric in OF_AWS.get(namespace, OURS)
        if namespace == "Evenkeel":
            assert (dimension, value) == ("cluster", "${ClusterName}")
    referred = set(re.findall(r"\$\{(\w+)[.}]", text)) - {"ClusterName", "AWS"}
    assert referred <= set(RESOURCES)


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_asks_for_fields_of_the_decision_log(name: str) -> None:
    query = QUERIES[name]["Properties"]["QueryString"]
    fields = set(re.findall(r"decision\.([\w.]+)", query))
    assert fields
    record = {field.encode_name for field in msgspec.structs.fields(DecisionRecord)}
    reference = {field.encode_name for field in msgspec.structs.fields(Reference)}
    for name_, _, rest in (field.partition(".") for field in fields):
        assert name_ in record
        assert not rest or (name_ in ("subject", "workload") and rest in reference)


TOPIC = "arn:aws:sns:eu-central-1:123456789012:pager"


def test_a_stack_without_a_topic_has_no_alarms() -> None:
    assert deployed().names("AWS::CloudWatch::Alarm") == []


@pytest.mark.parametrize("token", ["", "0" * 64])
def test_with_a_topic_every_alarm_of_what_is_deployed_is_there(token: str) -> None:
    stack = deployed(AlarmTopic=TOPIC, WebhookToken=token, Webhook="false")
    made = set(stack.names("AWS::CloudWatch::Alarm"))
    of_the_webhook = {n for n, each in ALARMS.items() if each["Condition"] == "HasWebhookAlarms"}
    assert made == (set(ALARMS) if token else set(ALARMS) - of_the_webhook)
    assert all(stack.of(name)["AlarmActions"] == [TOPIC] for name in made)


def test_the_dashboard_and_the_queries_are_there_only_when_asked_for() -> None:
    kinds = ("AWS::CloudWatch::Dashboard", "AWS::Logs::QueryDefinition")
    assert [deployed().names(kind) for kind in kinds] == [[], []]
    stack = deployed(Dashboard="true")
    assert [len(stack.names(kind)) for kind in kinds] == [1, len(QUERIES)]


@pytest.mark.parametrize("tracing", ["PassThrough", "Active"])
def test_a_role_may_write_traces_only_where_they_are_asked_for(tracing: str) -> None:
    stack = deployed(Tracing=tracing, WebhookToken="0" * 64)
    assert stack.globals["Function"]["Tracing"] == tracing
    roles = [f"{name}Role" for name in ("Interruption", "Handover", "Restore", "Placement")]
    for role in roles:
        allowed = {action for action, _ in stack.statements(role)}
        assert ("xray:PutTraceSegments" in allowed) is (tracing == "Active")


KEY = "arn:aws:kms:eu-central-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"
ENCRYPTED = {
    "AWS::SQS::Queue": "KmsMasterKeyId",
    "AWS::Logs::LogGroup": "KmsKeyId",
    "AWS::SecretsManager::Secret": "KmsKeyId",
}


def test_the_key_policy_of_the_page_lets_services_in_for_one_account_alone() -> None:
    section = PAGE.read_text().split("### A key of your own\n")[1].split("\n### ")[0]
    statements = json.loads(re.findall(r"```json\n(.*?)```", section, re.DOTALL)[0])
    assert [each["Principal"] for each in statements] == [
        {"Service": "events.amazonaws.com"},
        {"Service": "logs.REGION.amazonaws.com"},
    ]
    for statement in statements:
        ((values,),) = (clauses.values() for clauses in statement["Condition"].values())
        assert "ACCOUNT" in values


def test_all_that_is_kept_is_encrypted_with_the_key_of_the_account() -> None:
    stack, bare = deployed(KeyArn=KEY, Webhook="true"), deployed(Webhook="true")
    for kind, name in ENCRYPTED.items():
        assert {stack.of(each)[name] for each in stack.names(kind)} == {KEY}, kind
        assert all(name not in bare.of(each) for each in bare.names(kind))
    queues = stack.names("AWS::SQS::Queue")
    assert all("SqsManagedSseEnabled" not in stack.of(each) for each in queues)
    assert all(bare.of(each)["SqsManagedSseEnabled"] is True for each in queues)
    assert stack.globals["Function"]["KmsKeyArn"] == KEY
    assert "KmsKeyArn" not in bare.globals["Function"]


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        ("Interruption", {"kms:Decrypt", "kms:GenerateDataKey"}),
        ("Handover", {"kms:Decrypt", "kms:GenerateDataKey"}),
        ("Restore", {"kms:Decrypt", "kms:GenerateDataKey"}),
        ("Placement", {"kms:Decrypt"}),
    ],
)
def test_a_role_may_use_the_key_as_far_as_it_has_to(function: str, wanted: set[str]) -> None:
    of_key = {
        (action, resource)
        for action, resource in deployed(KeyArn=KEY, Webhook="true").statements(f"{function}Role")
        if action.startswith("kms:")
    }
    assert of_key == {(action, KEY) for action in wanted}
    bare = deployed(Webhook="true").statements(f"{function}Role")
    assert not any(action.startswith("kms:") for action, _ in bare)
