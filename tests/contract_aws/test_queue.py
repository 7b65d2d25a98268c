"""What SQS does with wake-ups."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.errors import QueueError
from evenkeel.model.notice import NodeNotice, NoticeKind, WakeUp

SECOND = timedelta(seconds=1)
WAKE_UP = WakeUp(
    reason="NodesMarked",
    notices={
        "n1": NodeNotice(
            kind=NoticeKind.INTERRUPTION,
            event_id="e1",
            deadline=datetime(2026, 11, 21, 6, 2, tzinfo=UTC),
            since=datetime(2026, 11, 21, 6, tzinfo=UTC),
        )
    },
)


def test_a_wake_up_arrives_as_it_was_sent(sqs: Any) -> None:
    sqs.queue.send(WAKE_UP)
    ((body, _),) = sqs.receive()
    assert msgspec.json.decode(body, type=WakeUp) == WAKE_UP


def test_a_delayed_wake_up_arrives_when_its_delay_has_passed(sqs: Any) -> None:
    sqs.queue.send(WAKE_UP, SECOND)
    assert sqs.receive() == []
    sqs.advance(1.1)
    assert len(sqs.receive()) == 1


def test_a_received_message_comes_back_after_the_queues_timeout(sqs: Any) -> None:
    sqs.queue.send(WAKE_UP)
    sqs.receive()
    sqs.advance(19)
    assert sqs.receive() == []
    sqs.advance(1.1)
    assert len(sqs.receive()) == 1


def test_a_postponed_message_comes_back_when_it_was_postponed_to(sqs: Any) -> None:
    sqs.queue.send(WAKE_UP)
    ((_, handle),) = sqs.receive()
    sqs.queue.postpone(handle, 5 * SECOND)
    sqs.advance(4.5)
    assert sqs.receive() == []
    sqs.advance(0.6)
    assert len(sqs.receive()) == 1


def test_a_fraction_of_a_second_is_rounded_up(sqs: Any) -> None:
    sqs.queue.send(WAKE_UP)
    ((_, handle),) = sqs.receive()
    sqs.queue.postpone(handle, 0.5 * SECOND)
    sqs.advance(0.9)
    assert sqs.receive() == []
    sqs.advance(0.2)
    assert len(sqs.receive()) == 1


def test_a_message_can_come_back_at_once(sqs: Any) -> None:
    sqs.queue.send(WAKE_UP)
    ((_, handle),) = sqs.receive()
    sqs.queue.postpone(handle, timedelta())
    sqs.advance(0.001)
    assert len(sqs.receive()) == 1


def test_a_deleted_message_does_not_come_back(sqs: Any) -> None:
    sqs.queue.send(WAKE_UP)
    ((_, handle),) = sqs.receive()
    sqs.delete(handle)
    sqs.advance(30)
    assert sqs.receive() == []


def test_at_most_ten_messages_are_received_at_once(sqs: Any) -> None:
    for _ in range(12):
        sqs.queue.send(WAKE_UP)
    assert len(sqs.receive()) == 10
    assert len(sqs.receive()) == 2


def test_a_stranger_cannot_be_postponed(sqs: Any) -> None:
    with pytest.raises(QueueError):
        sqs.queue.postpone("AQEBnobody", SECOND)


def test_a_delay_out_of_range_is_refused(sqs: Any) -> None:
    with pytest.raises(QueueError):
        sqs.queue.send(WAKE_UP, timedelta(minutes=16))


def test_a_postponement_out_of_range_is_refused(sqs: Any) -> None:
    sqs.queue.send(WAKE_UP)
    ((_, handle),) = sqs.receive()
    with pytest.raises(QueueError):
        sqs.queue.postpone(handle, timedelta(hours=13))
