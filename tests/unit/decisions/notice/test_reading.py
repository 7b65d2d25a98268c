"""Events become notices, harmless news, unknown kinds, or errors that name a field."""

import contextlib
import json
import re
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.notice import kinds
from evenkeel.decisions.notice.event import (
    Event,
    Fields,
    Harmless,
    Probe,
    Reading,
    Understood,
    Unknown,
)
from evenkeel.decisions.notice.kind import EventKind
from evenkeel.decisions.notice.reading import read, read_json
from evenkeel.errors import MalformedNoticeError
from evenkeel.model.hook import Hook
from evenkeel.model.notice import InstanceAction, NoticeKind

EVENTS = Path(__file__).parents[4] / "events"
SAMPLES = [file.stem for file in sorted(EVENTS.glob("*.json"))]
NOTICES = Path(__file__).parents[4] / "docs" / "notices.md"
GIVEN = datetime(2026, 11, 21, 6, tzinfo=UTC)


def sample(name: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text())
    return event


@pytest.mark.parametrize(
    ("name", "kind", "action", "lead"),
    [
        ("interruption-warning-terminate", NoticeKind.INTERRUPTION, "terminate", 120),
        ("interruption-warning-stop", NoticeKind.INTERRUPTION, "stop", 120),
        ("interruption-warning-hibernate", NoticeKind.INTERRUPTION, "hibernate", 0),
        ("rebalance-recommendation", NoticeKind.REBALANCE, "terminate", 900),
        ("capacity-reservation-interruption", NoticeKind.INTERRUPTION, "terminate", 120),
        ("state-change-stopping", NoticeKind.STATE_CHANGE, "stop", 0),
        ("state-change-stopped", NoticeKind.STATE_CHANGE, "stop", 0),
        ("state-change-shutting-down", NoticeKind.STATE_CHANGE, "terminate", 0),
        ("state-change-terminated", NoticeKind.STATE_CHANGE, "terminate", 0),
    ],
)
def test_each_kind_has_its_own_deadline_and_action(
    name: str, kind: NoticeKind, action: str, lead: int
) -> None:
    event = sample(name)

    reading = read(event)

    assert isinstance(reading, Understood)
    assert reading.warning == ""
    notice = reading.notice
    assert notice.kind is kind
    assert notice.action is InstanceAction(action)
    assert notice.event_id == event["id"]
    assert notice.instance_id == event["detail"]["instance-id"]
    assert notice.time == GIVEN
    assert notice.deadline == GIVEN + timedelta(seconds=lead)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_event_is_of_a_known_kind(name: str) -> None:
    assert isinstance(read(sample(name)), Understood | Harmless)


def probe() -> dict[str, Any]:
    kind = {"source": "evenkeel.probe/evenkeel", "detail-type": "Evenkeel Probe", "detail": {}}
    return sample("state-change-running") | kind


@pytest.mark.parametrize("stack", ["evenkeel", "evenkeel-prod"])
def test_a_stacks_probe_is_one(stack: str) -> None:
    event = probe() | {"source": f"evenkeel.probe/{stack}"}
    assert read(event) == Probe(event_id=event["id"])


@pytest.mark.parametrize(
    "changed",
    [
        {"source": "aws.ec2"},
        {"source": "evenkeel.replay"},
        {"detail-type": "EC2 Spot Instance Interruption Warning"},
    ],
)
def test_what_only_resembles_a_probe_is_unknown(changed: dict[str, str]) -> None:
    event = probe() | changed
    assert isinstance(read(event, replay_source="evenkeel.replay"), Unknown)


def test_an_unknown_action_counts_as_terminate_with_a_warning() -> None:
    event = sample("interruption-warning-stop")
    event["detail"]["instance-action"] = "teleport"

    reading = read(event)

    assert isinstance(reading, Understood)
    assert reading.notice.action is InstanceAction.TERMINATE
    assert reading.notice.deadline == GIVEN + timedelta(seconds=120)
    assert "'teleport'" in reading.warning


def test_a_starting_instance_is_harmless() -> None:
    event = sample("state-change-running")
    for state in ("running", "pending"):
        event["detail"]["state"] = state
        reading = read(event)
        assert isinstance(reading, Harmless)
        assert state in reading.message


def test_a_known_kind_that_takes_no_node_is_harmless() -> None:
    event = sample("state-change-running")
    event |= {
        "source": "aws.autoscaling",
        "detail-type": "EC2 Instance Launch Successful",
        "detail": {"EC2InstanceId": "i-1234567890abcdef0"},
    }
    assert isinstance(read(event), Harmless)


@pytest.mark.parametrize("state", ["Shutting-down", "SHUTTING-DOWN"])
def test_a_state_may_be_written_in_capitals(state: str) -> None:
    event = sample("state-change-shutting-down")
    plain = read(event)
    event["detail"]["state"] = state
    assert read(event) == plain


def received(message: object) -> Reading:
    """What a message of the queue means."""
    return read_json(json.dumps(message), **SET)


def from_auto_scaling(**says: str) -> dict[str, Any]:
    """What Auto Scaling sends to a queue by itself, as its users have published it."""
    return {
        "AccountId": "123456789012",
        "RequestId": "12345678-1234-1234-1234-123456789014",
        "AutoScalingGroupName": "workers",
        "Service": "AWS Auto Scaling",
        "Time": "2026-11-21T06:00:00.000Z",
        **says,
    }


def test_a_hooks_notification_of_auto_scaling_itself_is_read_like_the_event() -> None:
    event = sample("lifecycle-action-terminate")
    detail = event["detail"]
    assert received(from_auto_scaling(**detail)) == read(event, **SET)
    other = received(from_auto_scaling(**detail | {"LifecycleHookName": "theirs"}))
    assert isinstance(other, Harmless)


@pytest.mark.parametrize(
    ("says", "kind"),
    [
        ({"Event": "autoscaling:TEST_NOTIFICATION"}, Harmless),
        ({"LifecycleTransition": "autoscaling:EC2_INSTANCE_LAUNCHING"}, Harmless),
        ({"Event": "autoscaling:EC2_INSTANCE_TERMINATE"}, Unknown),
    ],
)
def test_what_else_auto_scaling_sends_needs_not_come_again(
    says: dict[str, str], kind: type[object]
) -> None:
    reading = received(from_auto_scaling(**says))
    assert isinstance(reading, kind)
    assert getattr(reading, "detail_type", "") in says.values()


@pytest.mark.parametrize("name", SAMPLES)
def test_an_event_that_sns_passed_on_is_read_like_the_event(name: str) -> None:
    event = sample(name)
    assert received(passed_on(json.dumps(event))) == read(event, **SET)


def test_a_hooks_notification_that_sns_passed_on_is_read() -> None:
    detail = sample("lifecycle-action-terminate")["detail"]
    passed = passed_on(json.dumps(from_auto_scaling(**detail)))
    assert received(passed) == received(from_auto_scaling(**detail))


@pytest.mark.parametrize(
    ("message", "field"),
    [
        (7, "Message"),
        ("You have chosen to subscribe to the topic", "Message"),
        ("[]", "Message"),
        ("{}", "Message.id"),
        (json.dumps({"TopicArn": "arn:aws:sns:x:1:t", "Message": "{}"}), "Message.id"),
    ],
)
def test_the_error_names_the_field_when_what_sns_passed_on_is_malformed(
    message: object, field: str
) -> None:
    with pytest.raises(MalformedNoticeError) as caught:
        received(passed_on(message))
    assert caught.value.field == field


def passed_on(message: object) -> dict[str, object]:
    return {
        "Type": "Notification",
        "MessageId": "dc1e94d9-56c5-5e96-808d-cc7f68faa162",
        "TopicArn": "arn:aws:sns:eu-central-1:123456789012:notices",
        "Message": message,
        "Timestamp": "2026-11-21T06:00:00.100Z",
        "SignatureVersion": "1",
    }


def test_a_kind_without_a_parser_is_unknown() -> None:
    event = sample("state-change-running") | {"detail-type": "EC2 Instance Sighs", "detail": {}}
    reading = read(event)
    assert reading == Unknown(
        event_id=event["id"], source="aws.ec2", detail_type="EC2 Instance Sighs"
    )


def test_a_schedules_event_says_whom_it_is_for() -> None:
    event = sample("lambda/schedule")
    for text in (json.dumps(event), json.dumps({"TopicArn": "t", "Message": json.dumps(event)})):
        with pytest.raises(MalformedNoticeError, match="for the functions handover and restore"):
            read_json(text)
    with pytest.raises(MalformedNoticeError, match="detail-type: is 'Scheduled Event'"):
        read(event)


@pytest.mark.parametrize("kind", kinds.KINDS, ids=lambda kind: kind.name)
def test_there_is_a_sample_of_each_kind(kind: EventKind) -> None:
    found = {(event["source"], event["detail-type"]) for event in map(sample, SAMPLES)}
    assert (kind.source, kind.detail_type) in found, "events/ has no sample of it"


def test_the_table_of_kinds_has_each_and_no_other() -> None:
    listed = re.findall(r"^\|[^|]+\| `([\w-]+)` \|", NOTICES.read_text(), re.MULTILINE)
    differ = {*listed} ^ {str(kind.name) for kind in kinds.KINDS}
    assert not differ, "docs/notices.md and notice/kinds.py have not the same kinds"


def test_a_kind_is_known_by_each_of_its_names() -> None:
    for names in (
        [kind.name for kind in kinds.KINDS],
        [kind.detail_type for kind in kinds.KINDS],
    ):
        assert len(set(names)) == len(kinds.KINDS)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_replayed_event_is_read_like_a_real_one_when_its_source_is_allowed(name: str) -> None:
    event = sample(name)
    real = read(event, **SET)
    assert isinstance(real, Understood | Harmless)
    event["source"] = "evenkeel.replay"
    assert read(event, **SET) == real


@pytest.mark.parametrize("allowed", ["", "other.replay"])
def test_a_replayed_event_is_unknown_when_its_source_is_not_allowed(allowed: str) -> None:
    event = sample("interruption-warning-terminate") | {"source": "evenkeel.replay"}
    assert isinstance(read(event, replay_source=allowed), Unknown)


def test_the_arn_is_not_read() -> None:
    event = sample("interruption-warning-terminate")
    plain = read(event)
    event["resources"] = 17
    assert read(event) == plain
    del event["resources"]
    assert read(event) == plain


def test_a_time_of_another_zone_becomes_utc() -> None:
    event = sample("interruption-warning-terminate") | {"time": "2026-11-21T08:00:00+02:00"}
    reading = read(event)
    assert isinstance(reading, Understood)
    assert reading.notice.time == GIVEN
    assert reading.notice.time.tzinfo is UTC


@pytest.mark.parametrize("instance_id", ["i-1234567890abcdef0", "i-1a2b3c4d"])
def test_both_lengths_of_instance_id_are_taken(instance_id: str) -> None:
    event = sample("rebalance-recommendation")
    event["detail"]["instance-id"] = instance_id
    reading = read(event)
    assert isinstance(reading, Understood)
    assert reading.notice.instance_id == instance_id


def test_a_text_is_as_long_as_it_may_be() -> None:
    reading = read(sample("capacity-reservation-interruption") | {"id": "x" * 256})
    assert isinstance(reading, Understood)
    assert len(reading.notice.event_id) == 256


DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize("kind", kinds.KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("says", [NoticeKind.INTERRUPTION, NoticeKind.REBALANCE])
def test_a_deadline_is_within_a_day_of_the_event_unless_the_instance_ends_later(
    kind: EventKind, says: NoticeKind
) -> None:
    event = Event.read(Fields(sample("capacity-reservation-interruption")))
    says_until = partial(kind.notice, event, says, "i-1234567890abcdef0")

    assert says_until(GIVEN + DAY).deadline == GIVEN + DAY
    later = GIVEN + DAY + SECOND
    assert says_until(later, ends_at=later).deadline == later
    with pytest.raises(MalformedNoticeError, match=r"^detail: .*, but names 2026-11-22T06:00:01Z$"):
        says_until(later)


def test_a_reservation_that_is_said_to_end_in_years_is_malformed() -> None:
    event = sample("capacity-reservation-interruption")
    event["detail"]["instance-termination-time"] = "2199-12-31T23:59:59Z"
    with pytest.raises(MalformedNoticeError):
        read(event)


SET = {"lifecycle_hook": "evenkeel", "replay_source": "evenkeel.replay"}
MISSING = object()

MALFORMED: dict[str, list[tuple[str, object, str]]] = {
    "interruption-warning-terminate": [
        ("id", MISSING, "is missing"),
        ("id", "", "is empty"),
        ("id", "x" * 257, "has 257 characters, and 256 at most"),
        ("source", None, "should be a string, but is null"),
        ("detail-type", 7, "should be a string, but is a number"),
        ("detail-type", True, "should be a string, but is a boolean"),
        ("time", MISSING, "is missing"),
        ("time", "yesterday", "should be a time such as"),
        ("time", "2026-11-21T06:00:00", "should name its time zone"),
        ("time", "9999-12-31T23:59:59Z", "should be a time such as"),
        ("time", "0001-01-01T00:00:00+14:00", "should be a time such as"),
        ("time", 1_795_000_000, "should be a string, but is a number"),
        ("detail", MISSING, "is missing"),
        ("detail", [], "should be an object, but is an array"),
        ("detail", "{}", "should be an object, but is a string"),
        ("detail.instance-id", MISSING, "is missing"),
        ("detail.instance-id", {}, "should be a string, but is an object"),
        ("detail.instance-id", "i-123", "should be an instance id such as"),
        ("detail.instance-id", "I-1234567890ABCDEF0", "should be an instance id such as"),
        ("detail.instance-id", "i-1234567890abcdef0\n", "should be an instance id such as"),
        ("detail.instance-action", MISSING, "is missing"),
        ("detail.instance-action", "  ", "is empty"),
        ("detail.instance-action", 1.5, "should be a string, but is a number"),
    ],
    "capacity-reservation-interruption": [
        ("detail.instance-termination-time", MISSING, "is missing"),
        ("detail.instance-termination-time", "", "is empty"),
        ("detail.instance-termination-time", "soon", "should be a time such as"),
        ("detail.instance-termination-time", "2026-11-21T06:02:00", "should name its time zone"),
        ("detail.instance-termination-time", "9999-12-31T23:59:59Z", "should be a time such as"),
        ("detail.instance-termination-time", {"at": 1}, "should be a string, but is an object"),
    ],
    "state-change-stopped": [("detail.state", "asleep", "should be one of pending, running")],
    "scheduled-change-retirement": [
        ("detail.startTime", "Sat, 21 Nov 2026 18:00:00", "should be a time such as Sat"),
        ("detail.startTime", "Sat, 21 Nov 9999 18:00:00 GMT", "should be a time such as Sat"),
        ("detail.startTime", "Sat, 21 Nov 1999 18:00:00 GMT", "should be a time such as Sat"),
        ("detail.startTime", "Sat, 31 Feb 2026 18:00:00 GMT", "should be a time such as Sat"),
        ("detail.startTime", "Sat, 21 Nov 2026 18:00:00 +999999999999", "should be a time such as"),
        ("detail.startTime", "2026-11-21T18:00:00Z", "should be a time such as Sat"),
        ("detail.startTime", ",", "should be a time such as Sat"),
        ("detail.startTime", 7, "should be a string, but is a number"),
        ("detail.endTime", "tomorrow", "should be a time such as Sat"),
        ("detail.eventArn", "x" * 257, "has 257 characters, and 256 at most"),
        ("detail.eventTypeCode", None, "should be a string, but is null"),
        ("detail.statusCode", [], "should be a string, but is an array"),
        ("detail.affectedEntities", {}, "should be an array, but is an object"),
        ("detail.affectedEntities", "i-1234567890abcdef8", "should be an array, but is a string"),
    ],
    "lifecycle-action-terminate": [
        ("detail.EC2InstanceId", MISSING, "is missing"),
        ("detail.EC2InstanceId", "i-123", "should be an instance id such as"),
        ("detail.AutoScalingGroupName", "", "is empty"),
        ("detail.AutoScalingGroupName", "x" * 257, "has 257 characters"),
        ("detail.LifecycleHookName", None, "should be a string, but is null"),
        ("detail.LifecycleActionToken", MISSING, "is missing"),
        ("detail.LifecycleActionToken", "x" * 36, "should be a UUID"),
        (
            "detail.LifecycleTransition",
            "autoscaling:EC2_INSTANCE_LAUNCHING",
            "should be autoscaling:EC2",
        ),
    ],
}
"""By sample: a field, what it is changed to, and how the problem that is told begins."""


@pytest.mark.parametrize("kind", kinds.KINDS, ids=lambda kind: kind.name)
def test_each_time_of_a_kind_has_a_row_in_which_it_is_no_time(kind: EventKind) -> None:
    rows = {
        (sample(name)["detail-type"], field)
        for name, found in MALFORMED.items()
        for field, _, problem in found
        if problem.startswith("should be a time")
    }
    lacking = {(kind.detail_type, f"detail.{field}") for field in kind.times} - rows
    assert not lacking, "MALFORMED lacks a row"


@pytest.mark.parametrize(
    ("name", "field", "value", "problem"),
    [(name, *row) for name, rows in MALFORMED.items() for row in rows],
)
def test_the_error_names_the_field_when_an_event_is_malformed(
    name: str, field: str, value: object, problem: str
) -> None:
    event = sample(name)
    *parents, last = field.split(".")
    place = event
    for parent in parents:
        place = place[parent]
    if value is MISSING:
        del place[last]
    else:
        place[last] = value

    with pytest.raises(MalformedNoticeError) as caught:
        read(event, **SET)

    assert caught.value.field == field
    assert caught.value.problem.startswith(problem)


def test_a_reservations_end_is_when_the_event_says_also_where_that_has_passed() -> None:
    event = sample("capacity-reservation-interruption")
    event["detail"]["instance-termination-time"] = "2026-11-21T05:59:00Z"
    reading = read(event)
    assert isinstance(reading, Understood)
    assert reading.notice.deadline == GIVEN - timedelta(minutes=1)
    assert (reading.notice.name, reading.notice.kind) == (
        "capacity-reservation",
        NoticeKind.INTERRUPTION,
    )


@pytest.mark.parametrize("infix", ["", "Reservation "])
def test_the_end_of_a_capacity_block_is_announced_instance_by_instance(infix: str) -> None:
    event = sample("capacity-reservation-interruption") | {
        "detail-type": f"Capacity Block {infix}Expiration Warning",
        "detail": {"capacity-reservation-id": "cr-1234567890abcdef0", "end-date": "2026-11-21"},
    }
    assert isinstance(read(event), Harmless)


STARTS = datetime(2026, 11, 21, 18, tzinfo=UTC)


def scheduled(**changes: object) -> dict[str, Any]:
    event = sample("scheduled-change-retirement")
    event["detail"] |= changes
    return event


def test_a_scheduled_change_is_a_hint_for_each_of_its_instances_until_it_is_near() -> None:
    event = scheduled()
    reading = read(event)
    assert isinstance(reading, Understood)
    assert [notice.instance_id for notice in reading.notices] == [
        "i-1234567890abcdef8",
        "i-1234567890abcdef9",
    ]
    assert reading.notice == reading.notices[0] != reading.notices[-1]
    for notice in reading.notices:
        assert (notice.kind, notice.name) == (NoticeKind.REBALANCE, "scheduled-change")
        assert notice.event_id == event["detail"]["eventArn"]
        assert (notice.time, notice.ends_at) == (GIVEN, STARTS)
        assert notice.deadline == STARTS - timedelta(minutes=15)
        assert notice.action is InstanceAction.TERMINATE
        assert not notice.withdrawn
        assert notice.heard_at(notice.deadline - timedelta(seconds=1)) == notice
        near = notice.heard_at(notice.deadline)
        assert (near.kind, near.deadline, near.ends_at) == (NoticeKind.INTERRUPTION, STARTS, None)


ENDS = STARTS + timedelta(hours=2)


@pytest.mark.parametrize(
    ("end", "known"),
    [
        ({}, None),
        ({"endTime": "Sat, 21 Nov 2026 20:00:00 GMT"}, ENDS),
        ({"endTime": "Sat, 21 Nov 2026 18:00:00 GMT"}, None),
        ({"endTime": "Sat, 21 Nov 2026 17:00:00 GMT"}, None),
    ],
    ids=["it does not say", "two hours later", "at its start", "before its start"],
)
def test_a_scheduled_change_lasts_until_its_end_if_it_says_when(
    end: dict[str, str], known: datetime | None
) -> None:
    reading = read(scheduled(**end))
    assert isinstance(reading, Understood)
    assert reading.notice.last_deadline == known
    assert reading.notice.lasts_until == (known or STARTS - timedelta(minutes=15))


@pytest.mark.parametrize(
    ("before_end", "deadline"),
    [
        (timedelta(hours=2), STARTS + timedelta(seconds=120)),
        (timedelta(hours=1), ENDS - timedelta(minutes=58)),
        (timedelta(minutes=1), ENDS),
        (timedelta(minutes=-1), ENDS),
    ],
)
def test_a_change_that_has_begun_and_not_ended_is_a_warning_now(
    before_end: timedelta, deadline: datetime
) -> None:
    """EC2 may carry it out any moment: the pods get what a spot instance's get."""
    reading = read(scheduled(endTime="Sat, 21 Nov 2026 20:00:00 GMT"))
    assert isinstance(reading, Understood)
    notice = reading.notice.heard_at(ENDS - before_end)
    assert notice.kind is NoticeKind.INTERRUPTION
    assert (notice.deadline, notice.lasts_until, notice.ends_at) == (deadline, ENDS, None)


@pytest.mark.parametrize(
    ("code", "action"),
    [
        ("AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED", "terminate"),
        ("AWS_EC2_INSTANCE_RETIREMENT_EXPEDITED", "terminate"),
        ("AWS_EC2_INSTANCE_TERMINATION_SCHEDULED", "terminate"),
        ("AWS_EC2_PERSISTENT_INSTANCE_RETIREMENT_SCHEDULED", "stop"),
        ("AWS_EC2_INSTANCE_STOP_SCHEDULED", "stop"),
        ("AWS_EC2_INSTANCE_REBOOT_MAINTENANCE_SCHEDULED", "stop"),
        ("AWS_EC2_INSTANCE_NETWORK_MAINTENANCE_SCHEDULED", "stop"),
        ("AWS_EC2_DEDICATED_HOST_POWER_MAINTENANCE_SCHEDULED", "stop"),
        ("AWS_EC2_SYSTEM_REBOOT_MAINTENANCE_SCHEDULED", "stop"),
    ],
)
def test_the_code_of_a_change_says_whether_the_instance_comes_back(code: str, action: str) -> None:
    reading = read(scheduled(eventTypeCode=code))
    assert isinstance(reading, Understood)
    assert reading.notice.action is InstanceAction(action)


@pytest.mark.parametrize(
    "changes",
    [
        {"service": "RDS"},
        {"eventTypeCategory": "issue"},
        {"eventTypeCode": "AWS_EC2_PLANNED_LIFECYCLE_EVENT"},
        {"eventTypeCode": "AWS_LAMBDA_MAINTENANCE_SCHEDULED"},
        {"affectedEntities": []},
        {"affectedEntities": [{"entityValue": "vol-1234567890abcdef0"}]},
        {"affectedEntities": [{"entityValue": "arn:aws:ec2:x:1:dedicated-host/h-1"}]},
        {"affectedEntities": [{"entityValue": "i-1234567890abcdef0 "}]},
    ],
)
def test_news_of_health_that_end_no_instance_are_harmless(changes: dict[str, object]) -> None:
    assert isinstance(read(scheduled(**changes)), Harmless)


def test_a_change_of_dedicated_hosts_names_the_first() -> None:
    code = "AWS_EC2_DEDICATED_HOST_RETIREMENT_SCHEDULED"
    hosts = [{"entityValue": each} for each in ("h-0a1b2c3d", "h-1b2c3d4e")]
    reading = read(scheduled(eventTypeCode=code, affectedEntities=hosts))
    assert isinstance(reading, Harmless)
    assert reading.message == f"{code} names no instance, but h-0a1b2c3d"


def test_a_change_that_is_closed_is_taken_back_and_so_is_one_that_is_resolved() -> None:
    closed = read(scheduled(statusCode="closed"))
    assert isinstance(closed, Understood)
    assert [notice.withdrawn for notice in closed.notices] == [True, True]
    event = scheduled()
    event["detail"]["affectedEntities"][1]["status"] = "RESOLVED"
    resolved = read(event)
    assert isinstance(resolved, Understood)
    assert [notice.withdrawn for notice in resolved.notices] == [False, True]


@pytest.mark.parametrize("missing", ["statusCode", "lastUpdatedTime", "page", "affectedAccount"])
def test_a_scheduled_change_needs_no_more_than_is_read(missing: str) -> None:
    event = scheduled()
    del event["detail"][missing]
    assert read(event) == read(scheduled())


def test_an_instance_that_is_named_twice_has_one_notice() -> None:
    entities = [{"entityValue": "i-1234567890abcdef8"}] * 3
    reading = read(scheduled(affectedEntities=entities))
    assert isinstance(reading, Understood)
    assert len(reading.notices) == 1


def test_the_error_names_the_entity_that_makes_no_sense() -> None:
    entities = [{"entityValue": "i-1234567890abcdef8"}, {"entityValue": 5}]
    with pytest.raises(MalformedNoticeError) as caught:
        read(scheduled(affectedEntities=entities))
    assert caught.value.field == "detail.affectedEntities[1].entityValue"


@given(text=st.text(max_size=60))
def test_no_text_is_a_time_that_breaks_the_reader(text: str) -> None:
    with contextlib.suppress(MalformedNoticeError):
        read(scheduled(startTime=text))


def test_a_termination_that_waits_names_its_group_hook_and_token() -> None:
    reading = read(sample("lifecycle-action-terminate"), **SET)
    assert isinstance(reading, Understood)
    notice = reading.notice
    assert (notice.kind, notice.name) == (NoticeKind.INTERRUPTION, "lifecycle-action")
    assert notice.instance_id == "i-1234567890abcdefa"
    assert notice.deadline == GIVEN + timedelta(hours=1)
    token = "87654321-4321-4321-4321-210987654321"
    assert notice.hook == Hook(group="workers", name="evenkeel", token=token)


@pytest.mark.parametrize("heeded", ["", "other", "Evenkeel"])
def test_a_hook_that_is_not_heeded_is_harmless(heeded: str) -> None:
    reading = read(sample("lifecycle-action-terminate"), lifecycle_hook=heeded)
    assert isinstance(reading, Harmless)
    assert "evenkeel" in reading.message


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("", "is no JSON"),
        ('{"id": "1", ', "is no JSON"),
        ("not at all", "is no JSON"),
        (b"\xff\xfe", "is no JSON"),
        ('{"id": "\ud800"}', "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("[]", "should be an object, but is an array"),
        ("null", "should be an object, but is null"),
    ],
)
def test_the_error_names_the_event_when_a_body_is_none(body: str | bytes, problem: str) -> None:
    with pytest.raises(MalformedNoticeError) as caught:
        read_json(body)
    assert caught.value.field == "event"
    assert caught.value.problem.startswith(problem)
