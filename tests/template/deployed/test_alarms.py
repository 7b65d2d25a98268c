"""The alarms of a stack that was given a topic."""

import pytest

from tests.template.cloudformation import load
from tests.template.deployed.conftest import TOPIC, Deployed

pytestmark = pytest.mark.stack


def test_every_alarm_of_the_template_is_deployed_and_tells_the_topic(stack: Deployed) -> None:
    resources = load()["Resources"].values()
    wanted = {
        each["Properties"]["MetricName"]
        for each in resources
        if each["Type"] == "AWS::CloudWatch::Alarm"
    }
    pages = stack.ministack.client("cloudwatch").get_paginator("describe_alarms").paginate()
    alarms = [alarm for page in pages for alarm in page["MetricAlarms"]]
    assert {alarm["MetricName"] for alarm in alarms} == wanted
    assert all(alarm["AlarmActions"] == [TOPIC] for alarm in alarms)
