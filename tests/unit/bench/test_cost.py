"""What storms and months cost on AWS."""

import msgspec
import pytest

from bench.book import ROOT, Book
from bench.cases.cost import MEMORY_MB, Prices, bytes_of_line, interruptions
from bench.cases.cost import measure as reckon
from bench.figure import Figure
from bench.lab.lab import Lab
from tests.unit.bench.made import measured

PRICES = msgspec.json.decode((ROOT / "bench" / "prices.json").read_bytes(), type=Prices)
GB_SECOND = 0.0000133334 * MEMORY_MB / 1024
COUNTS = {
    "interruption: invocations": 10,
    "interruption: billed ms": 2_000,
    "interruption: handled": 100,
    "interruption: failed": 5,
    "handover: invocations": 4,
    "handover: billed ms": 57_000,
    "handover: failed": 3,
    "schedule: invocations": 1,
    "schedule: billed ms": 1_000,
    "nodes cordoned": 100,
    "log lines": 1_000,
    "idle schedule ms": 50.0,
}
STORM = measured([Figure(*each) for each in COUNTS.items()], case="storm", size="A")
REVIEW = [Figure("a review, mean", 50.0, "ms", of="`evenkeel serve`")]


@pytest.fixture
def dollars(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> dict[str, float]:
    """The bill of what these tests make up, by its lines."""
    book = Book(tmp_path / "results.jsonl")  # type: ignore[operator]
    for size, seconds in (("500 nodes", 0.6), ("5,000 nodes", 6.0)):
        plan = [Figure("CPU beyond that for an empty cluster", seconds, "s")]
        book.keep(measured(plan, case="plan", size=size))
    book.keep(STORM)
    book.keep(measured(REVIEW, case="webhook", size="paced"))
    book.keep(measured(REVIEW))
    monkeypatch.setattr("bench.cases.cost.Book", lambda: book)
    found = reckon(Lab(say=lambda _: None), "us-east-1")
    return {each.name: each.value for each in found if isinstance(each.value, float)}


def test_a_storm_is_paid_by_time_requests_messages_and_lines() -> None:
    # sent: 100 notices, 10 wake-ups; 14 receives, 14 deletions; 8 made visible again
    sqs = 100 + 10 + 28 + 8
    once = 60 * GB_SECOND + 15 * 0.2e-6 + sqs * 0.4e-6 + 1_000 * bytes_of_line() / 1e9 * 0.5
    assert interruptions(PRICES, STORM, "arm64") == pytest.approx(10 * once)
    assert interruptions(PRICES, STORM, "x86_64") > 10 * once


def test_a_schedule_is_paid_by_the_call_and_by_what_a_call_takes(
    dollars: dict[str, float],
) -> None:
    lines = 450 / 1e9 * 0.5
    each = 0.05 * GB_SECOND + 0.2e-6 + 1e-6 + lines
    assert dollars["of it `handover` each minute"] == pytest.approx(43_800 * each)
    each = 0.6 * GB_SECOND + 0.2e-6 + 1e-6 + lines
    assert dollars["of it `restore` each minute, 15,000 pods"] == pytest.approx(43_800 * each)
    more = 43_800 * 5.4 * GB_SECOND
    assert dollars["added for `restore` of 150,000 pods"] == pytest.approx(more)


def test_a_probe_is_an_event_too_and_empty_queues_are_asked_by_five_pollers_each(
    dollars: dict[str, float],
) -> None:
    each = 0.2 * GB_SECOND + 0.2e-6 + 2e-6 + 450 / 1e9 * 0.5
    assert dollars["of it the probe every five minutes"] == pytest.approx(8_760 * each)
    assert dollars["of it polls of the two empty queues"] == pytest.approx(43_800 * 30 * 0.4e-6)


def test_a_review_comes_by_the_http_api_and_logs_a_decision(dollars: dict[str, float]) -> None:
    each = 0.05 * GB_SECOND + 0.2e-6 + 1e-6 + (450 + bytes_of_line()) / 1e9 * 0.5
    assert dollars["a million new pods"] == pytest.approx(1e6 * each)


def test_the_month_is_the_sum_of_its_lines(dollars: dict[str, float]) -> None:
    lines = sum(value for name, value in dollars.items() if name.startswith("of it "))
    assert dollars["a month in which nothing happens"] == pytest.approx(lines)
    assert dollars["a further metric, for each hour in which it is written"] == pytest.approx(
        0.3 / 730
    )


def test_what_has_to_be_measured_before_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.cases.cost.Book", lambda: Book(ROOT / "none"))
    with pytest.raises(ValueError, match="python -m bench storm 'A'"):
        reckon(Lab(say=lambda _: None), "us-east-1")


def test_a_line_of_lambda_s_log_is_longer_than_a_poller_s() -> None:
    assert 700 < bytes_of_line() < 2_000
