"""Rollouts of Argo's, as the API server sends them."""

import json
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.drain import budgets
from evenkeel.model.rollout import Rollout
from tests.kit import argo


def decoded(replicas: int, strategy: dict[str, Any]) -> Rollout:
    return msgspec.json.decode(json.dumps(argo.rollout("web", replicas, **strategy)), type=Rollout)


@pytest.mark.parametrize(
    ("strategy", "surge", "unavailable"),
    [
        ({"canary": {}}, 3, 2),
        ({"canary": {"steps": [{"setWeight": 20}, {"pause": {}}]}}, 3, 2),
        ({"canary": {"maxSurge": 1, "maxUnavailable": 0}}, 1, 0),
        ({"canary": {"maxSurge": "50%", "maxUnavailable": "50%"}}, 5, 4),
        ({"blueGreen": {"activeService": "web"}}, 9, 0),
        ({"canary": {"maxSurge": "50", "maxUnavailable": "0"}}, 5, 0),
        ({"canary": {"maxSurge": -1, "maxUnavailable": -1}}, 0, 0),
        ({"canary": {"maxSurge": "%", "maxUnavailable": "many"}}, 0, 0),
        ({"canary": {"maxSurge": "200%", "maxUnavailable": "9999999999999%"}}, 18, 9),
        ({"canary": {"maxSurge": "٣%", "maxUnavailable": 12}}, 0, 9),
    ],
)
def test_its_bounds_are_those_of_its_strategy(
    strategy: dict[str, Any], surge: int, unavailable: int
) -> None:
    rollout = decoded(9, strategy)
    assert budgets.max_surge(rollout) == surge
    assert budgets.max_unavailable(rollout) == unavailable
    assert budgets.kept_in_rollout(rollout) == 9 - unavailable


@pytest.mark.parametrize(
    ("strategy", "is_reached"),
    [
        ({"canary": {}}, False),
        ({"canary": {"stableService": "stable"}}, True),
        ({"canary": {"canaryService": "canary"}}, True),
        ({"canary": {"trafficRouting": {"istio": {"destinationRule": {"name": "web"}}}}}, True),
        ({"blueGreen": {"activeService": "web"}}, True),
    ],
)
def test_it_says_whether_traffic_goes_by_hash(
    strategy: dict[str, Any], *, is_reached: bool
) -> None:
    assert decoded(9, strategy).is_reached_by_hash is is_reached


def test_its_template_and_selector_may_be_a_deployments() -> None:
    """What its ReplicaSets share is read from them."""
    rollout = argo.rollout("web", 2)
    rollout["spec"] = {"replicas": 2, "workloadRef": {"kind": "Deployment", "name": "web"}}
    found = msgspec.json.decode(json.dumps(rollout), type=Rollout)
    assert (found.replicas, found.spec.selector.match_labels) == (2, {})
