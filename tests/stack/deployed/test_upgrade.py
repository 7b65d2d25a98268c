"""A stack of the version before becomes one of today's, and loses nothing.

``before/template.yaml`` is that version's template, as it was released: the next release copies its
own there.
"""

from collections.abc import Mapping
from typing import Any, cast

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel_cli.aws.asking import Aws
from evenkeel_cli.aws.eks import Described
from evenkeel_cli.install import build
from evenkeel_cli.install.build import Build
from evenkeel_cli.install.change_set import KEPT
from evenkeel_cli.install.site import Place, Site
from evenkeel_cli.install.stacks import Deleted, Deployed, Swept
from tests.stack.cloudformation import load
from tests.stack.deployed.conftest import BEFORE
from tests.stack.deployed.installer import Installer
from tests.stack.deployed.ministack import REGION, Ministack

pytestmark = pytest.mark.stack

STACK = "evenkeel-upgraded"
PARAMETERS = {
    "ClusterName": "upgraded",
    "ClusterEndpoint": "https://127.0.0.1:1",
    "ClusterCertificateAuthority": "YQ==",
    "AccessEntries": "false",
    "Webhook": "true",
    "LifecycleHook": "evenkeel",
    "AlarmTopic": "arn:aws:sns:eu-central-1:000000000000:pager",
    "Mode": "act",
}
LAYER = "AWS::Lambda::LayerVersion"
"""Each version of the code is another one."""


def test_no_resource_is_made_anew_by_the_upgrade(
    translated_before: dict[str, Any], translated: dict[str, Any]
) -> None:
    """By what CloudFormation's schemas say that a resource keeps for its life."""
    stay = translated_before.keys() & translated.keys()
    for name in stay:
        before, after = translated_before[name], translated[name]
        assert (before["type"], before["kept"]) == (after["type"], after["kept"]), name
    gone = {translated_before[name]["type"] for name in translated_before.keys() - stay}
    assert not gone & set(KEPT)


def test_no_route_is_taken_away_that_the_stage_s_settings_name(
    translated_before: dict[str, Any], translated: dict[str, Any]
) -> None:
    """API Gateway refuses the upgrade then.

    https://github.com/aws/serverless-application-model/issues/1939
    """
    assert not named_routes(translated)
    paths = translated["PlacementApi"]["properties"]["Body"]["paths"]
    assert paths
    assert named_routes(translated_before) <= {f"POST {path}" for path in paths}


def named_routes(resources: Mapping[str, Any]) -> set[str]:
    """The routes that the settings of stages name."""
    stages = [e["properties"] for e in resources.values() if e["type"].endswith("V2::Stage")]
    assert stages
    return {route for stage in stages for route in stage.get("RouteSettings", {})}


def test_a_stack_of_the_version_before_keeps_what_it_has(
    ministack: Ministack, installer: Installer
) -> None:
    made = build.made()
    before = Build(load(BEFORE), made.pieces)
    nothing = cast("Any", None)
    place, aws = Place("upgraded", STACK), Aws(REGION, installer.client)
    site = Site(place, aws, Described(), nothing, nothing, SystemClock(), lambda _: None)
    Deployed(site, before, PARAMETERS).do()
    old = resources(ministack)
    secret = {"SecretId": old["WebhookSecret"]}
    token = ministack.client("secretsmanager").get_secret_value(**secret)["SecretString"]
    sqs, letters = ministack.client("sqs"), old["NoticeDeadLetters"]
    sqs.send_message(QueueUrl=letters, MessageBody="read me")

    Deployed(site, made, {}).do()

    new = resources(ministack)
    assert len(old.keys() & new.keys()) > 50
    lost = {name: old[name] for name in old.keys() & new.keys() if new[name] != old[name]}
    assert not lost
    again = ministack.client("secretsmanager").get_secret_value(**secret)["SecretString"]
    assert again == token
    (message,) = sqs.receive_message(QueueUrl=letters)["Messages"]
    assert message["Body"] == "read me"
    schedules = ministack.client("scheduler")
    for name in ("HandoverFunctionEveryMinute", "RestoreFunctionSchedule"):
        target = schedules.get_schedule(Name=new[name])["Target"]
        assert target["RoleArn"].endswith(f":role/{new['ScheduleRole']}")
    for step in (Deleted(site), Swept(site)):
        step.do()


def resources(ministack: Ministack) -> Mapping[str, str]:
    """What CloudFormation called each resource of the stack, but for the layer."""
    pages = ministack.client("cloudformation").get_paginator("list_stack_resources")
    return {
        each["LogicalResourceId"]: each["PhysicalResourceId"]
        for page in pages.paginate(StackName=STACK)
        for each in page["StackResourceSummaries"]
        if each["ResourceType"] != LAYER
    }
