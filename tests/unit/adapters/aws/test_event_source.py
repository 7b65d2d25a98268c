"""What invokes the handlers in the simulator behaves as Lambda, SQS and Scheduler do."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from evenkeel.errors import QueueError
from evenkeel.handlers import Handler
from evenkeel.handlers.records import read_batch
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.event_source import SimulatedEventSource, SimulatedSchedule
from evenkeel_sandbox.simulator.queues import SimulatedQueue
from tests.kit.builders import NOW

SECOND = timedelta(seconds=1)


@pytest.fixture
def clock() -> SimulatedClock:
    return SimulatedClock(NOW)


@pytest.fixture
def queue(clock: SimulatedClock) -> SimulatedQueue:
    return SimulatedQueue(clock, "q")


def fill(queue: SimulatedQueue, count: int) -> None:
    for number in range(count):
        queue.put(f"body {number}")


def answering(
    *failed: str, seen: list[list[str]] | None = None, takes: Callable[[], None] | None = None
) -> Handler:
    """A handler that reports messages with these bodies as failed."""

    def handle(event: dict[str, Any], _context: object) -> dict[str, Any]:
        records = read_batch(event)
        if seen is not None:
            seen.append([record.body for record in records])
        if takes is not None:
            takes()
        return {
            "batchItemFailures": [
                {"itemIdentifier": record.message_id} for record in records if record.body in failed
            ]
        }

    return handle


# The queue.


def test_a_stale_receipt_handle_deletes_and_postpones_nothing(
    clock: SimulatedClock, queue: SimulatedQueue
) -> None:
    queue.put("x")
    (first,) = queue.receive()
    stale = first.receipt_handle
    clock.advance(21 * SECOND)
    (second,) = queue.receive()
    assert second.receipt_handle != stale
    queue.delete(stale)
    assert len(queue.messages) == 1
    with pytest.raises(QueueError):
        queue.postpone(stale, SECOND)


def test_a_message_goes_to_the_dead_letters_after_its_last_receive(
    clock: SimulatedClock,
) -> None:
    queue = SimulatedQueue(clock, receive_limit=3)
    queue.put("x")
    for _ in range(3):
        assert len(queue.receive()) == 1
        clock.advance(20 * SECOND)
    assert queue.has_visible
    assert queue.receive() == []
    assert [message.body for message in queue.dead] == ["x"]
    assert queue.messages == []


def test_a_message_vanishes_when_its_time_is_up(clock: SimulatedClock) -> None:
    queue = SimulatedQueue(clock, retention=timedelta(minutes=5))
    queue.put("x")
    clock.advance(timedelta(minutes=5))
    assert not queue.has_visible
    assert queue.receive() == []
    assert queue.messages == []
    assert queue.dead == []


def test_the_oldest_messages_come_first(clock: SimulatedClock, queue: SimulatedQueue) -> None:
    fill(queue, 3)
    clock.advance(SECOND)
    assert [message.body for message in queue.receive(2)] == ["body 0", "body 1"]


# The event source.


def test_batches_have_at_most_ten_messages_and_five_run_at_once(
    clock: SimulatedClock, queue: SimulatedQueue
) -> None:
    seen: list[list[str]] = []
    source = SimulatedEventSource(
        clock, queue, answering(seen=seen, takes=lambda: clock.sleep(2 * SECOND))
    )
    fill(queue, 73)
    clock.advance(SECOND)
    assert source.batches == [10] * 5
    assert len(source.running) == 5
    clock.advance(2 * SECOND)
    assert source.batches == [10] * 7 + [3]
    clock.advance(3 * SECOND)
    assert source.running == []
    assert queue.messages == []
    assert sorted(body for batch in seen for body in batch) == sorted(
        f"body {number}" for number in range(73)
    )


def test_concurrency_can_be_bounded(clock: SimulatedClock, queue: SimulatedQueue) -> None:
    source = SimulatedEventSource(
        clock, queue, answering(takes=lambda: clock.sleep(SECOND)), concurrency=2
    )
    fill(queue, 40)
    clock.advance(0.5 * SECOND)
    assert len(source.running) == 2


def test_a_message_is_handled_the_moment_it_becomes_visible(
    clock: SimulatedClock, queue: SimulatedQueue
) -> None:
    times: list[datetime] = []
    SimulatedEventSource(clock, queue, answering(takes=lambda: times.append(clock.now())))
    queue.put("x", 3 * SECOND)
    clock.advance(10 * SECOND)
    assert times == [NOW + 3 * SECOND]


def test_what_failed_comes_back_after_the_timeout_and_the_rest_does_not(
    clock: SimulatedClock, queue: SimulatedQueue
) -> None:
    seen: list[list[str]] = []
    SimulatedEventSource(clock, queue, answering("body 1", seen=seen))
    fill(queue, 3)
    clock.advance(19 * SECOND)
    assert seen == [["body 0", "body 1", "body 2"]]
    clock.advance(2 * SECOND)
    assert seen[1:] == [["body 1"]]


def test_a_batch_whose_handler_raised_comes_back_as_a_whole(
    clock: SimulatedClock, queue: SimulatedQueue
) -> None:
    calls: list[int] = []

    def handle(event: dict[str, Any], _context: object) -> dict[str, Any]:
        calls.append(len(read_batch(event)))
        if len(calls) == 1:
            raise RuntimeError("broken")
        return {}

    source = SimulatedEventSource(clock, queue, handle)
    fill(queue, 4)
    clock.advance(19 * SECOND)
    assert calls == [4]
    assert [str(error) for error in source.errors] == ["broken"]
    clock.advance(2 * SECOND)
    assert calls == [4, 4]
    assert queue.messages == []


def test_a_killed_invocation_leaves_its_batch_to_the_next(
    clock: SimulatedClock, queue: SimulatedQueue
) -> None:
    seen: list[list[str]] = []
    source = SimulatedEventSource(
        clock, queue, answering(seen=seen, takes=lambda: clock.sleep(2 * SECOND))
    )
    queue.put("x")
    clock.advance(SECOND)
    (process,) = source.running
    process.kill()
    clock.advance(30 * SECOND)
    assert seen == [["x"], ["x"]]
    assert source.errors == []
    assert queue.messages == []


def test_an_invocation_that_takes_too_long_is_stopped(
    clock: SimulatedClock, queue: SimulatedQueue
) -> None:
    ended: list[datetime] = []

    def handle(_event: dict[str, Any], context: Any) -> dict[str, Any]:
        assert context.get_remaining_time_in_millis() == 5_000
        clock.sleep(10 * SECOND)
        ended.append(clock.now())
        return {}

    source = SimulatedEventSource(clock, queue, handle, timeout=5 * SECOND)
    queue.put("x")
    clock.advance(15 * SECOND)
    assert ended == []
    assert source.running == []
    assert len(queue.messages) == 1


def test_an_answer_about_strangers_counts_as_a_failure_of_all(
    clock: SimulatedClock, queue: SimulatedQueue
) -> None:
    def handle(_event: dict[str, Any], _context: object) -> dict[str, Any]:
        return {"batchItemFailures": [{"itemIdentifier": "nobody"}]}

    SimulatedEventSource(clock, queue, handle)
    fill(queue, 2)
    clock.advance(SECOND)
    assert len(queue.messages) == 2


def test_records_look_as_lambda_sends_them(clock: SimulatedClock, queue: SimulatedQueue) -> None:
    events: list[dict[str, Any]] = []

    def handle(event: dict[str, Any], _context: object) -> dict[str, Any]:
        events.append(event)
        return {}

    SimulatedEventSource(clock, queue, handle)
    queue.put("x")
    clock.advance(SECOND)
    (record,) = events[0]["Records"]
    assert record["eventSource"] == "aws:sqs"
    assert record["eventSourceARN"] == "arn:aws:sqs:eu-central-1:123456789012:q"
    assert record["awsRegion"] == "eu-central-1"
    assert record["attributes"]["ApproximateReceiveCount"] == "1"
    assert record["attributes"]["SentTimestamp"] == str(int(NOW.timestamp() * 1_000))
    assert record["md5OfBody"] == "9dd4e461268c8034f5c8564e155c67a6"


# The schedule.


def test_a_schedule_invokes_again_and_again_until_it_is_stopped(clock: SimulatedClock) -> None:
    times: list[datetime] = []
    schedule_events: list[dict[str, Any]] = []

    def handle(event: dict[str, Any], _context: object) -> dict[str, Any]:
        times.append(clock.now())
        schedule_events.append(event)
        if len(times) == 2:
            raise RuntimeError("broken")
        clock.sleep(70 * SECOND)
        return {}

    schedule = SimulatedSchedule(clock, handle, timeout=timedelta(minutes=2))
    clock.advance(timedelta(minutes=3, seconds=1))
    assert times == [NOW + timedelta(minutes=minute) for minute in (1, 2, 3)]
    assert "Records" not in schedule_events[0]
    assert [str(error) for error in schedule.errors] == ["broken"]
    schedule.stop()
    assert len(schedule.running) == 1
    clock.advance(timedelta(minutes=5))
    assert len(times) == 3
    assert schedule.running == []
