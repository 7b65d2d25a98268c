"""The deployed rules' patterns, by a second matcher: ministack's TestEventPattern."""

import json
from typing import Any

import pytest

from tests.stack.deployed.conftest import REPLAYS, Deployed
from tests.stack.samples import KEPT_AWAY, NEAR_MISSES, SAMPLES

pytestmark = pytest.mark.stack

WARNING = SAMPLES["interruption-warning-terminate"]


def matching(stack: Deployed, event: dict[str, Any]) -> int:
    """How many of the deployed rules let an event through."""
    events = stack.ministack.client("events")
    patterns = [rule["EventPattern"] for rule in events.list_rules()["Rules"]]
    assert len(patterns) == 4
    return sum(
        events.test_event_pattern(EventPattern=pattern, Event=json.dumps(event))["Result"]
        for pattern in patterns
    )


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_notice_is_let_through_by_one_rule(sample: str, stack: Deployed) -> None:
    wanted = 0 if sample in KEPT_AWAY else 1
    assert matching(stack, SAMPLES[sample]) == wanted


@pytest.mark.parametrize("miss", [miss for miss in NEAR_MISSES.values() if "source" not in miss])
def test_no_near_miss_is(miss: dict[str, Any], stack: Deployed) -> None:
    assert matching(stack, WARNING | miss) == 0


def test_a_replay_is_let_through_only_from_the_source_that_was_allowed(stack: Deployed) -> None:
    assert matching(stack, WARNING | {"source": REPLAYS}) == 1
    assert matching(stack, WARNING | {"source": "evenkeel.other"}) == 0
