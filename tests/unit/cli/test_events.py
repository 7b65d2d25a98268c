import json
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.model.notice import NoticeKind
from evenkeel_cli import events
from evenkeel_cli.event_files import Flaw, Record
from evenkeel_sandbox.events import REPLAY_SOURCE, Arriving, Place, at_time, for_instance, freshened
from tests.kit.builders import NOW, seconds

PLACE = Place("f.json", 3, 41)
INSTANCE = "i-1234567890abcdef0"


def event(kind: str = "EC2 Spot Instance Interruption Warning", **detail: Any) -> dict[str, Any]:
    action = {"instance-action": "terminate"} if "Interruption" in kind else {}
    return {
        "version": "0",
        "id": "e1",
        "detail-type": kind,
        "source": "aws.ec2",
        "time": "2026-11-21T06:00:00Z",
        "detail": {"instance-id": INSTANCE} | action | detail,
    }


STATE = "EC2 Instance State-change Notification"
REBALANCE = "EC2 Instance Rebalance Recommendation"


def understood(value: dict[str, Any]) -> Arriving:
    (found,), flaws = events.understand([Record(PLACE, value)])
    assert flaws == []
    return found


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (event(), "node-a is interrupted: terminate in 120 s"),
        (event(**{"instance-action": "hibernate"}), "node-a is interrupted: hibernate now"),
        (event(REBALANCE), "node-a is at risk (rebalance recommendation)"),
        (event(STATE, state="stopping"), "node-a is going: stopping now"),
        (event(STATE, state="running"), f"instance {INSTANCE} is running: no node is lost; ack"),
        (event("EC2 Something New"), "aws.ec2 'EC2 Something New' is not known to Evenkeel; ack"),
    ],
)
def test_an_event_is_told_in_a_few_words(value: dict[str, Any], told: str) -> None:
    assert events.describe(understood(value), "node-a.internal").startswith(told)


def test_the_instance_is_named_when_its_node_is_not_known() -> None:
    assert events.describe(understood(event()), "").startswith(INSTANCE)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("text", "event: should be an object"),
        (["a"], "event: should be an object"),
        (None, "event: should be an object"),
        ({}, "id: is missing"),
        (event() | {"time": "yesterday"}, "time: should be a time such as"),
        (event() | {"time": "2026-11-21T06:00:00"}, "time: should name its time zone"),
        (event() | {"time": 7}, "time: should be a string, but is a number"),
        (event() | {"detail": []}, "detail: should be an object, but is an array"),
        (event(**{"instance-id": "i-1"}), "detail.instance-id: should be an instance id"),
        (
            event() | {"detail": {"instance-id": None}},
            "detail.instance-id: should be a string, but is null",
        ),
        (
            event(**{"instance-action": "explode"}),
            "detail.instance-action: should be terminate, stop or hibernate, but is 'explode'",
        ),
        (event(STATE, state="dancing"), "detail.state: should be one of"),
        (event(STATE), "detail.state: is missing"),
    ],
)
def test_a_flaw_names_file_record_and_field(value: Any, problem: str) -> None:
    good, (flaw,) = events.understand([Record(PLACE, value)])

    assert good == []
    assert flaw.message.startswith(f"f.json, record 3 (line 41): {problem}")


def test_good_records_are_kept_when_others_are_bad() -> None:
    flaw = Flaw("f.json, record 1 (line 1): is no JSON")

    good, flaws = events.understand([flaw, Record(PLACE, event()), Record(PLACE, {})])

    assert [each.event for each in good] == [event()]
    assert len(flaws) == 2


def batch(*bodies: object) -> dict[str, Any]:
    """What Lambda hands to a function out of a queue."""
    return {"Records": [{"eventSource": "aws:sqs", "body": body} for body in bodies]}


def test_the_messages_of_a_batch_are_events() -> None:
    good, flaws = events.understand([Record(PLACE, batch(json.dumps(event()), json.dumps({})))])

    assert [(each.place, each.event) for each in good] == [(PLACE, event())]
    assert [flaw.message for flaw in flaws] == [
        "f.json, record 3 (line 41): Records[1].body.id: is missing"
    ]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (batch("no JSON"), "Records[0].body: should be an event of EventBridge, as JSON"),
        (batch(7), "Records[0].body: should be an event of EventBridge, as JSON"),
        (batch("[" * 100_000), "Records[0].body: should be an event of EventBridge, as JSON"),
        ({"Records": ["text"]}, "Records[0].body: should be an event of EventBridge, as JSON"),
        (batch(), "Records: holds no message"),
        ({"Records": 7}, "id: is missing"),
        (
            batch(json.dumps(event(**{"instance-action": "explode"}))),
            "Records[0].body.detail.instance-action: should be terminate",
        ),
        (
            {"detail-type": "Scheduled Event"},
            "detail-type: is 'Scheduled Event', which names no instance: it is for the functions",
        ),
    ],
)
def test_a_flaw_names_the_message_of_a_batch(value: Any, problem: str) -> None:
    good, (flaw,) = events.understand([Record(PLACE, value)])

    assert good == []
    assert flaw.message.startswith(f"f.json, record 3 (line 41): {problem}")


def test_an_event_of_the_replay_source_counts_as_one_of_ec2() -> None:
    arriving = understood(event() | {"source": REPLAY_SOURCE})

    assert arriving.notice is not None
    assert arriving.notice.kind is NoticeKind.INTERRUPTION


@pytest.mark.parametrize(
    ("age", "given_at"),
    [
        pytest.param(timedelta(days=300), NOW, id="a sample"),
        pytest.param(timedelta(days=-300), NOW, id="of the future"),
        pytest.param(seconds(31), NOW, id="half a minute old"),
        pytest.param(seconds(29), NOW - seconds(29), id="just given"),
    ],
)
def test_an_event_is_brought_up_to_date_only_when_it_is_stale(
    age: timedelta, given_at: Any
) -> None:
    arriving = understood(at_time(event(), NOW - age))

    fresh = freshened(arriving, NOW)

    assert fresh.given_at == given_at
    assert fresh.notice is not None
    assert fresh.notice.deadline == given_at + seconds(120)


def test_an_event_can_be_made_about_another_instance() -> None:
    other = for_instance(understood(event()), "i-0000000000000000f", "e2")

    assert other.notice is not None
    assert (other.notice.instance_id, other.notice.event_id) == ("i-0000000000000000f", "e2")
