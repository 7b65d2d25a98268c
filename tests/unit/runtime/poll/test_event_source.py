"""Batches from a queue to a handler, and what becomes of them."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from queue import Empty, SimpleQueue
from threading import Event
from typing import Any

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel.errors import QueueError
from evenkeel.handlers import time_left
from evenkeel.settings import HANDOVER_TIMEOUT
from evenkeel_runtime.poll.event_source import EventSource, Schedule
from evenkeel_runtime.poll.sources import RecordDocument

SOON = timedelta(seconds=10)


class Batches:
    """A queue of ready-made batches; what was done with their records."""

    name = "notices"

    def __init__(self, *batches: Sequence[str]) -> None:
        self._batches: SimpleQueue[Sequence[str] | QueueError] = SimpleQueue()
        for batch in batches:
            self._batches.put(batch)
        self.deleted: list[str] = []
        self.given_back: list[str] = []
        self.emptied = Event()

    def put(self, batch: Sequence[str] | QueueError) -> None:
        self._batches.put(batch)

    def receive(self) -> Sequence[RecordDocument]:
        try:
            batch = self._batches.get(timeout=0.01)
        except Empty:
            self.emptied.set()
            return []
        if isinstance(batch, QueueError):
            raise batch
        return [{"messageId": each, "receiptHandle": each, "body": "{}"} for each in batch]

    def delete(self, records: Collection[RecordDocument]) -> None:
        self.deleted += [record["messageId"] for record in records]

    def give_back(self, records: Collection[RecordDocument]) -> None:
        self.given_back += [record["messageId"] for record in records]


def failing(*message_ids: str) -> dict[str, Any]:
    return {"batchItemFailures": [{"itemIdentifier": each} for each in message_ids]}


def poll(batches: Batches, handler: Any, notes: list[str] | None = None) -> None:
    """Poll until nothing is left."""
    source = EventSource(batches, [handler], (notes if notes is not None else []).append)
    source.start()
    assert batches.emptied.wait(10)
    source.stop()
    assert source.join(SOON)


def test_what_a_handler_does_not_report_as_failed_is_deleted() -> None:
    batches = Batches(["a", "b", "c"], ["d"])
    poll(batches, lambda event, _: failing("b") if len(event["Records"]) == 3 else failing())
    assert batches.deleted == ["a", "c", "d"]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(failing("stranger"), id="about a stranger"),
        pytest.param({"batchItemFailures": [{"itemIdentifer": "a"}]}, id="misspelt"),
    ],
)
def test_an_answer_that_makes_no_sense_deletes_nothing_and_polling_goes_on(
    answer: dict[str, Any],
) -> None:
    batches = Batches(["a", "b"], ["c"])
    poll(batches, lambda event, _: answer if len(event["Records"]) == 2 else failing())
    assert batches.deleted == ["c"]


def test_a_handler_that_raises_loses_nothing_and_is_told_in_one_line() -> None:
    batches, notes = Batches(["a"], ["b"]), list[str]()

    def handler(event: dict[str, Any], _: object) -> dict[str, Any]:
        if event["Records"][0]["messageId"] == "a":
            raise ValueError("no such thing")
        return failing()

    poll(batches, handler, notes)
    assert batches.deleted == ["b"]
    assert notes == ["notices: ValueError: no such thing"]


def test_a_queue_that_does_not_answer_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenkeel_runtime.poll.event_source.AFTER_A_FAILURE", timedelta())
    batches, notes = Batches(), list[str]()
    batches.put(QueueError("ReceiveMessage failed: reset"))
    batches.put(["a"])
    poll(batches, lambda *_: failing(), notes)
    assert batches.deleted == ["a"]
    assert notes == ["notices: ReceiveMessage failed: reset"]


def test_as_many_batches_as_handlers_are_handled_at_once() -> None:
    both, arrived = Event(), SimpleQueue[str]()

    def handler(event: dict[str, Any], _: object) -> dict[str, Any]:
        arrived.put(event["Records"][0]["messageId"])
        assert both.wait(10)
        return failing()

    batches = Batches(["a"], ["b"], ["c"])
    source = EventSource(batches, [handler, handler], lambda _: None)
    source.start()
    assert {arrived.get(timeout=10), arrived.get(timeout=10)} == {"a", "b"}
    assert arrived.empty()
    both.set()
    assert batches.emptied.wait(10)
    source.stop()
    assert source.join(SOON)
    assert sorted(batches.deleted) == ["a", "b", "c"]


def test_the_batch_under_way_is_finished_and_what_comes_after_the_end_is_given_back() -> None:
    begun, go_on = Event(), Event()

    def handler(_event: dict[str, Any], _: object) -> dict[str, Any]:
        begun.set()
        assert go_on.wait(10)
        return failing()

    class Late(Batches):
        def receive(self) -> Sequence[RecordDocument]:
            records = super().receive()
            if records and records[0]["messageId"] == "late":
                source.stop()
            return records

    batches = Late(["a"], ["late"])
    source = EventSource(batches, [handler], lambda _: None)
    source.start()
    assert begun.wait(10)
    go_on.set()
    assert source.join(SOON)
    assert batches.deleted == ["a"]
    assert batches.given_back == ["late"]


def test_what_is_under_way_hears_that_no_time_is_left_when_it_is_to_end() -> None:
    begun = Event()

    def handler(_event: dict[str, Any], context: object) -> dict[str, Any]:
        left = time_left(context)
        assert left is not None
        assert left() == HANDOVER_TIMEOUT
        begun.set()
        while left():
            SystemClock().sleep(timedelta(milliseconds=5))
        return failing("a")

    batches = Batches(["a"])
    source = EventSource(batches, [handler], lambda _: None)
    schedule = Schedule("handover", handler, SystemClock(), lambda _: None)
    for part in (source, schedule):
        begun.clear()
        part.start()
        assert begun.wait(10)
        assert not part.join(timedelta(milliseconds=20))
        part.stop()
        assert part.join(SOON)
    assert batches.deleted == []


def test_the_schedule_comes_at_once_and_then_again_and_survives_an_error() -> None:
    calls, notes = SimpleQueue[dict[str, Any]](), SimpleQueue[str]()

    def handler(event: dict[str, Any], _: object) -> dict[str, Any]:
        calls.put(event)
        raise ValueError("no")

    often = timedelta(milliseconds=5)
    schedule = Schedule("handover", handler, SystemClock(), notes.put, every=often)
    schedule.start()
    assert calls.get(timeout=10)["source"] == "aws.scheduler"
    calls.get(timeout=10)
    schedule.stop()
    assert schedule.join(SOON)
    assert notes.get(timeout=10) == "schedule of handover: ValueError: no"
