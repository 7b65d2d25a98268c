"""The templates of deploy/notifications take each event on once, in the shape that is wanted."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evenkeel.model.notification import SOURCE, Phase
from tests.kit import builders
from tests.kit.control_plane import ROOT
from tests.stack.cloudformation import load

TEMPLATES = sorted((ROOT / "deploy" / "notifications").glob("*.yaml"))


def resources(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """The properties of a template's resources."""
    found: Mapping[str, Mapping[str, Any]] = load(path)["Resources"]
    return {name: each["Properties"] for name, each in found.items()}


def rules(path: Path) -> list[Mapping[str, Any]]:
    """Its rules."""
    return [each for each in resources(path).values() if "EventPattern" in each]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_each_event_of_the_cluster_is_taken_once(path: Path) -> None:
    taken = list[str]()
    for rule in rules(path):
        pattern = rule["EventPattern"]
        assert pattern["source"] == [SOURCE]
        assert pattern["detail"] == {"cluster": [{"Ref": "ClusterName"}]}
        taken += pattern["detail-type"]
    assert taken == [phase.detail_type for phase in Phase]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_the_role_may_invoke_the_one_destination(path: Path) -> None:
    (policy,) = resources(path)["Role"]["Policies"]
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert statement["Action"] == "events:InvokeApiDestination"
    assert statement["Resource"] == {"Fn::GetAtt": ["Destination", "Arn"]}


@pytest.mark.parametrize(("phase", "action"), [(Phase.BEGAN, "trigger"), (Phase.OVER, "resolve")])
def test_pagerduty_opens_and_closes_one_incident(phase: Phase, action: str) -> None:
    """https://developer.pagerduty.com/docs/send-alert-event"""
    (path,) = (each for each in TEMPLATES if each.stem == "pagerduty")
    (rule,) = (r for r in rules(path) if r["EventPattern"]["detail-type"] == [phase.detail_type])
    document = msgspec.to_builtins(builders.notification(phase))
    transformer = rule["Targets"][0]["InputTransformer"]
    text: str = transformer["InputTemplate"]["Fn::Sub"].replace("${RoutingKey}", "R" * 32)
    for name, where in transformer["InputPathsMap"].items():
        text = text.replace(f"<{name}>", document[where.removeprefix("$.detail.")])
    assert json.loads(text) == {
        "routing_key": "R" * 32,
        "event_action": action,
        "dedup_key": builders.notification().id,
        "payload": {"summary": document["text"], "source": "prod", "severity": "warning"},
    }
