"""Evictions that are put off: how long each stays away, and what is remembered of it."""

from datetime import timedelta

import pytest

from evenkeel.decisions.gate.eviction import Eviction
from evenkeel.flows.gate.concurrency import EVERY, FORGOTTEN, LONGEST, SHORTEST, Concurrency
from tests.kit.api_server import HandClock
from tests.kit.builders import seconds


def eviction(name: str = "p", *, namespace: str = "a", dry_run: bool = False) -> Eviction:
    return Eviction(namespace=namespace, name=name, uid="", dry_run=dry_run)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def concurrency(clock: HandClock) -> Concurrency:
    return Concurrency(clock)


def test_it_is_told_how_long_it_has_waited_since_it_was_asked_for_first(
    concurrency: Concurrency, clock: HandClock
) -> None:
    assert concurrency.waited(eviction()) == timedelta()
    concurrency.defer(eviction())
    clock.sleep(seconds(7))
    assert concurrency.waited(eviction()) == seconds(7)
    assert concurrency.waited(eviction("other")) == timedelta()


def test_one_that_passed_is_forgotten_and_no_other(concurrency: Concurrency) -> None:
    for name in ("p", "q"):
        concurrency.defer(eviction(name))
    concurrency.passed(eviction("never-put-off"))
    concurrency.passed(eviction("p", dry_run=True))
    assert len(concurrency) == 2
    concurrency.passed(eviction("p"))
    assert len(concurrency) == 1
    concurrency.passed(eviction("q"))
    assert len(concurrency) == 0


def test_those_of_a_namespace_come_back_one_after_the_other(concurrency: Concurrency) -> None:
    told = [concurrency.defer(eviction(f"p{n}"), in_turn=True) for n in range(200)]
    assert told == sorted(told)
    assert told[0] == SHORTEST
    assert SHORTEST < told[-1] <= LONGEST
    assert concurrency.defer(eviction("p", namespace="b"), in_turn=True) == SHORTEST


def test_the_line_of_a_namespace_ends_with_its_last_eviction(concurrency: Concurrency) -> None:
    several = [eviction(f"p{n}") for n in range(200)]
    last = [concurrency.defer(each, in_turn=True) for each in several * 2][-1]
    for each in several:
        concurrency.passed(each)
    assert last > concurrency.defer(eviction("new"), in_turn=True) == SHORTEST


def test_the_line_of_a_namespace_goes_on_while_one_of_it_waits(concurrency: Concurrency) -> None:
    *several, last = [eviction(f"p{n}") for n in range(200)]
    for each in (*several, last):
        concurrency.defer(each, in_turn=True)
    for each in several:
        concurrency.passed(each)
    assert concurrency.defer(eviction("new"), in_turn=True) > SHORTEST


def test_dry_runs_lengthen_no_line(concurrency: Concurrency) -> None:
    concurrency.defer(eviction("first"), in_turn=True)
    for number in range(200):
        concurrency.defer(eviction(f"p{number}", dry_run=True), in_turn=True)
    assert concurrency.defer(eviction("second"), in_turn=True) == SHORTEST


def test_one_that_comes_before_its_time_keeps_that(
    concurrency: Concurrency, clock: HandClock
) -> None:
    assert concurrency.defer(eviction(), seconds(10), in_turn=True) == seconds(10)
    clock.sleep(seconds(4))
    assert concurrency.defer(eviction(), seconds(10), in_turn=True) == seconds(6)
    clock.sleep(seconds(6))
    assert concurrency.defer(eviction(), seconds(10), in_turn=True) == seconds(10)


def test_one_for_which_no_others_are_released_comes_back_as_it_is_told(
    concurrency: Concurrency, clock: HandClock
) -> None:
    assert concurrency.defer(eviction(), seconds(3), in_turn=False) == seconds(3)
    clock.sleep(seconds(1))
    assert concurrency.defer(eviction(), seconds(3), in_turn=False) == seconds(3)
    assert not concurrency.is_in_turn(eviction())


def test_a_dry_run_leaves_nothing_behind(concurrency: Concurrency, clock: HandClock) -> None:
    concurrency.defer(eviction(dry_run=True), in_turn=True)
    assert len(concurrency) == 0
    concurrency.defer(eviction(), in_turn=False)
    concurrency.defer(eviction(dry_run=True), in_turn=True)
    assert not concurrency.is_in_turn(eviction())
    clock.sleep(seconds(2))
    assert concurrency.waited(eviction()) == seconds(2)


def test_only_the_same_refusal_twice_in_a_row_is_one_again(concurrency: Concurrency) -> None:
    refusals = ["no", "no", "not now", "no", "no"]
    again = [concurrency.is_refused_again(eviction(), how) for how in refusals]
    assert again == [False, True, False, False, True]
    assert not concurrency.is_refused_again(eviction("other"), "no")


def test_how_long_something_is_unread_is_counted_until_it_is_decided(
    concurrency: Concurrency, clock: HandClock
) -> None:
    assert concurrency.unread(eviction()) == timedelta()
    clock.sleep(seconds(5))
    assert concurrency.unread(eviction()) == seconds(5)
    concurrency.defer(eviction())
    assert concurrency.unread(eviction()) == seconds(5)
    concurrency.defer(eviction(), in_turn=True)
    assert concurrency.unread(eviction()) == timedelta()


def test_one_that_nobody_asks_for_again_is_forgotten(
    concurrency: Concurrency, clock: HandClock
) -> None:
    concurrency.defer(eviction(), seconds(3), in_turn=False)
    clock.sleep(seconds(3) + FORGOTTEN - EVERY)
    concurrency.defer(eviction("other"))
    assert len(concurrency) == 2
    clock.sleep(EVERY)
    concurrency.defer(eviction("other"))
    assert len(concurrency) == 1


def test_a_slot_is_there_where_nobody_else_is(concurrency: Concurrency) -> None:
    with concurrency.slot(eviction()) as has_slot:
        assert has_slot
