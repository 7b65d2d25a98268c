"""The alarms of a stack that was given a topic: what the functions count raises them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.telemetry.lambda_function import LambdaRecorder
from evenkeel.model.metrics import Metric
from tests.stack.cloudformation import load
from tests.stack.deployed.conftest import CLUSTER_NAME, TOPIC, Deployed

pytestmark = pytest.mark.stack

ALARMS: Final = {
    each["Properties"]["MetricName"]: each["Properties"]
    for each in load()["Resources"].values()
    if each["Type"] == "AWS::CloudWatch::Alarm"
}
OURS: Final = [name for name, each in ALARMS.items() if each["Namespace"] == "Evenkeel"]


def deployed_alarms(stack: Deployed) -> Mapping[str, Mapping[str, Any]]:
    pages = stack.ministack.client("cloudwatch").get_paginator("describe_alarms").paginate()
    return {alarm["MetricName"]: alarm for page in pages for alarm in page["MetricAlarms"]}


def take_up(stack: Deployed, line: str) -> Sequence[Mapping[str, str]]:
    """Make metrics of a log line in the embedded metric format, as CloudWatch does.

    Answers the dimensions that they have.
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
    """
    told = json.loads(line)
    (directive,) = told["_aws"]["CloudWatchMetrics"]
    (names,) = directive["Dimensions"]
    dimensions = [{"Name": name, "Value": told[name]} for name in names]
    data = [
        {
            "MetricName": each["Name"],
            "Unit": each["Unit"],
            "Values": told[each["Name"]],
            "Dimensions": dimensions,
            "Timestamp": told["_aws"]["Timestamp"] / 1000,
        }
        for each in directive["Metrics"]
    ]
    cloudwatch = stack.ministack.client("cloudwatch")
    cloudwatch.put_metric_data(Namespace=directive["Namespace"], MetricData=data)
    return [each for each in dimensions if each["Name"] != "service"]


def test_every_alarm_of_the_template_is_deployed_and_tells_the_topic(stack: Deployed) -> None:
    alarms = deployed_alarms(stack)
    assert set(alarms) == set(ALARMS)
    assert all(alarm["AlarmActions"] == [TOPIC] for alarm in alarms.values())


@pytest.mark.parametrize("name", OURS)
def test_what_a_function_counts_raises_the_alarm(
    name: str, stack: Deployed, capsys: pytest.CaptureFixture[str]
) -> None:
    recorder = LambdaRecorder(SystemClock(), cluster=CLUSTER_NAME, mode="act")
    (metric,) = [each for each in Metric if each.value == name]
    threshold = ALARMS[name]["Threshold"]
    is_lack = ALARMS[name]["ComparisonOperator"] == "LessThanThreshold"
    recorder.counted(metric, threshold if is_lack else threshold + 1)
    recorder.flush()
    dimensions = take_up(stack, capsys.readouterr().out.splitlines()[-1])
    alarm = deployed_alarms(stack)[name]
    assert alarm["Dimensions"] == dimensions
    # What is missing raises the one alarm about a lack of something: it is fine by what came.
    assert alarm["StateValue"] == ("OK" if is_lack else "ALARM")
    assert (alarm["TreatMissingData"] == "breaching") is is_lack
