"""What the account's size, restore's reading and a network of one's own cost."""

import re
from pathlib import Path

import msgspec
import pytest

from bench import account
from bench.account import ENDS, Month, prices
from bench.book import ROOT, Book
from bench.cases.cost import MEMORY_MB, bytes_of_line
from bench.figure import Figure
from bench.tables import UNMEASURED
from tests.unit.bench.made import CONDITIONS, measured

BUSY = Month(ENDS["busy"], 10.5, prices())
STRANGERS = measured(
    [Figure("CPU of an invocation", 10.5, "ms")], case="strangers", size="one by one"
)
PODS = measured(
    [Figure("bytes of a pod", 659, of="as asked for")], case="lists", size="a page of pods"
)


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """What these tests make up was measured."""
    found = Book(tmp_path / "results.jsonl")
    found.keep(STRANGERS)
    found.keep(PODS)
    return found


def test_the_rules_take_one_event_of_each_instance_that_ends() -> None:
    """Three requests to SQS, an invocation, a question to EC2 and three lines each."""
    gb_seconds = 3_000_000 * 0.1105 * MEMORY_MB / 1024
    assert BUSY.gb_seconds == pytest.approx(gb_seconds)
    assert BUSY.compute == pytest.approx(gb_seconds * 1.33334e-5 + 0.60)
    assert BUSY.messages == pytest.approx(3.60)
    assert BUSY.logs == pytest.approx(0.003 * (450 + 272 + 26 + bytes_of_line()) * 0.5)
    assert BUSY.describes == pytest.approx(1.14, abs=0.01)
    parts = (BUSY.compute, BUSY.messages, BUSY.logs, BUSY.metrics)
    assert BUSY.together == pytest.approx(sum(parts))


def test_an_account_in_which_nothing_ends_adds_nothing() -> None:
    assert Month(0, 10.5, prices()).together == 0


def test_the_account_is_reckoned_from_what_an_invocation_takes(book: Book) -> None:
    shown = account.account(book)
    assert f"| together | $0.0000 | $0.75 | ${BUSY.together:,.2f} |" in shown
    assert f"Reckoned from `python -m bench strangers`. C{CONDITIONS.sitting[1:]}" in shown


def test_of_what_was_not_measured_nothing_is_reckoned(tmp_path: Path) -> None:
    empty = Book(tmp_path / "none")
    assert {account.account(empty), account.reads(empty)} == {UNMEASURED}


def test_bytes_are_paid_by_the_run(book: Book) -> None:
    """150,000 pods of 659 bytes, 43,800 times a month."""
    shown = account.reads(book)
    gigabytes = 150_000 * 659 * 43_800 / 1e9
    assert f"| {gigabytes:,.0f} |" in shown
    assert f"${gigabytes * 0.045:,.2f}" in shown
    assert f"${gigabytes / 5 * 0.01:,.2f}" in shown


def test_an_endpoint_is_paid_by_the_hour_in_each_zone() -> None:
    assert re.findall(r"\$[\d.]+", account.network()) == ["$7.30", "$29.20", "$32.85"]


def test_the_ceiling_is_what_the_template_reserves() -> None:
    hour = 3600 * MEMORY_MB / 1024 * 1.33334e-5
    shown = account.ceiling()
    for name, number in (("interruption", 10), ("handover", 12), ("placement", 50), ("restore", 2)):
        assert f"| `{name}`, {number} at once | ${number * 730 * hour:,.2f} |" in shown


def test_the_page_says_what_a_slower_answer_of_ec2_adds() -> None:
    slower = ENDS["busy"] * 0.1 * MEMORY_MB / 1024 * prices().lambda_gb_second["arm64"]
    text = " ".join((ROOT / "docs" / "cost.md").read_text().split())
    assert f"Each 100 ms more are ${slower:.2f} more in the busy month" in text


def test_prices_say_when_they_were_read_and_where() -> None:
    found = msgspec.to_builtins(prices())
    assert found["read"]
    assert all(each.startswith("https://") for each in found["sources"])
