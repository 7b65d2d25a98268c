"""What storms would cost on AWS."""

import msgspec
import pytest

from bench import store
from bench.cost import prices
from bench.cost.bill import Bill
from bench.cost.month import Times, month
from bench.cost.prices import MEMORY_MB
from bench.cost.reckoning import reckon
from bench.cost.storms import Usage, bytes_of_line, price, scaled, scenarios, usage
from bench.report.cost import table
from bench.storm.figures import judge, percentiles
from bench.storm.invocations import Invocations
from bench.storm.results import Bare, Result, Round
from tests.unit.bench.made import CONDITIONS

READ = prices.read()
INVOCATIONS = {
    "interruption": Invocations(count=10, billed_ms=2_000, longest_ms=300, handled=100, failed=5),
    "handover": Invocations(count=4, billed_ms=57_000, longest_ms=15_000, handled=9, failed=3),
    "schedule": Invocations(count=1, billed_ms=1_000, longest_ms=1_000, handled=0, failed=0),
}
ROUND = Round(
    fill=25.0,
    bare=Bare(gets=0.1, patches=0.1, describe=0.1, round_trip=0.1),
    outcome=msgspec.structs.replace(
        judge([], {"web": 1}, {"n": 0.0}, 120.0, 30.0), cordons=percentiles([1.0] * 100)
    ),
    cpu_seconds=20.0,
    cpu_share=0.5,
    requests={},
    seconds=60.0,
    invocations=INVOCATIONS,
    lines=1_000,
    idle_ms=50.0,
    peak_mb=200.0,
)


def result(measured: Round) -> Result:
    return Result(
        scenario="A",
        title="",
        condition="",
        nodes=100,
        workloads=100,
        pods=3_000,
        conditions=CONDITIONS,
        worker="",
        rounds=[measured],
    )


def test_a_storm_uses_what_its_invocations_and_messages_took() -> None:
    assert usage(ROUND, 500) == Usage(
        interruptions=100,
        invocations=15,
        billed_ms=60_000,
        # sent: 100 notices, 10 wake-ups; 14 receives, 14 deletions; 8 made visible again
        sqs_requests=100 + 10 + 28 + 8,
        log_bytes=500_000,
    )


def test_a_thousand_interruptions_are_ten_such_storms() -> None:
    used = scaled(usage(ROUND, 500), 1_000)
    assert (used.interruptions, used.invocations, used.billed_ms) == (1_000, 150, 600_000)


def test_compute_is_paid_by_memory_and_time_and_the_rest_by_the_piece() -> None:
    cost = price(scaled(usage(ROUND, 500), 1_000), READ)
    gb_seconds = 600 * MEMORY_MB / 1024
    assert cost.compute["arm64"] == pytest.approx(gb_seconds * 0.0000133334)
    assert cost.compute["x86_64"] == pytest.approx(gb_seconds * 0.0000166667)
    assert cost.requests == pytest.approx(150 * 0.2e-6)
    assert cost.queues == pytest.approx(1_460 * 0.4e-6)
    assert cost.events == 0
    assert cost.logs == pytest.approx(0.005 * 0.5)
    assert cost.total["arm64"] == pytest.approx(
        cost.compute["arm64"] + cost.requests + cost.queues + cost.logs
    )


TIMES = Times(
    schedule=50.0, notice=500.0, restore={15_000: 600.0, 150_000: 6_000.0}, placement=50, gate=20
)
TEMPLATE = {
    "Resources": {
        "a": {"Type": "AWS::CloudWatch::Alarm"},
        "b": {"Type": "AWS::CloudWatch::Alarm"},
        "c": {"Type": "AWS::SQS::Queue"},
    }
}
GB_SECOND = 0.0000133334 * MEMORY_MB / 1024


def dollars(name: str) -> float:
    """The one line of the month whose text holds this."""
    found = month(TIMES, TEMPLATE, READ)
    (line,) = [x for x in (*found.idle, *found.options, *found.beside) if name in x.what]
    return line.dollars


def test_a_schedule_is_paid_by_the_call_and_by_what_a_call_takes() -> None:
    each = 0.05 * GB_SECOND + 0.2e-6 + 1e-6 + 450 / 1e9 * 0.5
    assert dollars("`handover`") == pytest.approx(43_800 * each)
    each = 0.6 * GB_SECOND + 0.2e-6 + 1e-6 + 450 / 1e9 * 0.5
    assert dollars("15,000 pods in the cluster") == pytest.approx(43_800 * each)
    assert dollars("150,000 pods instead") == pytest.approx(43_800 * 5.4 * GB_SECOND)


def test_a_probe_is_an_event_too() -> None:
    each = 0.5 * GB_SECOND + 0.2e-6 + 2e-6 + 450 / 1e9 * 0.5
    assert dollars("the probe every") == pytest.approx(8_760 * each)


def test_empty_queues_are_asked_by_five_pollers_each() -> None:
    assert dollars("polls") == pytest.approx(43_800 * 30 * 0.4e-6)


def test_a_review_comes_by_the_http_api_and_logs_a_decision() -> None:
    each = 0.05 * GB_SECOND + 0.2e-6 + 1e-6 + (450 + bytes_of_line()) / 1e9 * 0.5
    assert dollars("a million new pods") == pytest.approx(1e6 * each)


def test_what_is_kept_is_paid_by_the_month() -> None:
    assert dollars("2 alarms") == pytest.approx(0.2)
    assert dollars("Dashboard") == 3.0
    assert dollars("secret") == pytest.approx(0.4 + 2 * 43_800 * 5e-6)
    assert dollars("further metric") == pytest.approx(0.3 / 730)
    assert dollars("poll`") == pytest.approx(0.1 * 730 * 0.0816)


def test_results_that_do_not_tell_of_invocations_are_left_out() -> None:
    old = msgspec.structs.replace(ROUND, invocations={})
    found = scenarios([result(old), result(ROUND)], READ, 500)
    assert len(found) == 1
    assert found[0].longest_ms == 15_000


def test_the_tables_name_the_prices_date_and_sum_up() -> None:
    found = month(TIMES, TEMPLATE, READ)
    storms = scenarios([result(ROUND)], READ, 500)
    text = table(
        Bill(
            measured=[CONDITIONS],
            prices=READ,
            memory_mb=MEMORY_MB,
            line_bytes=500,
            scenarios=storms,
            month=found,
        )
    )
    assert "| A: 100 nodes, 60 s | 15 | 60.0 s | 146 | 0.5 MB | $" in text
    assert f"read on {READ.read}" in text
    assert f"| **together** | **{found.total:.2f}** |" in text
    assert found.total == pytest.approx(sum(line.dollars for line in found.idle))


def test_a_line_of_lambda_s_log_is_longer_than_a_poller_s() -> None:
    assert 700 < bytes_of_line() < 2_000


def test_the_kept_bill_is_what_the_last_results_and_the_price_file_make() -> None:
    """After another result or price: ``make bench-cost``."""
    assert store.read("cost", Bill) == reckon()
