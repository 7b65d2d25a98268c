"""A clock that stays where it is when the machine's is set."""

from datetime import timedelta

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel_runtime.steady_clock import FOLLOWED_AFTER, SteadyClock
from tests.kit.clocks import SetClock, SkewedClock

HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)


@pytest.fixture
def true() -> SetClock:
    return SetClock()


@pytest.fixture
def machine(true: SetClock) -> SkewedClock:
    """A machine whose clock is right until it is set."""
    return SkewedClock(true, timedelta())


def test_it_tells_the_machine_s_time(true: SetClock, machine: SkewedClock) -> None:
    clock = SteadyClock(machine)
    for _ in range(3):
        clock.sleep(SECOND)
        assert clock.now() == true.at


@pytest.mark.parametrize("step", [-HOUR, HOUR, -2 * SECOND], ids=str)
def test_it_goes_on_when_the_machine_s_clock_is_set_and_follows_in_the_end(
    true: SetClock, machine: SkewedClock, step: timedelta
) -> None:
    clock = SteadyClock(machine)
    machine.by = step
    assert clock.now() == true.at
    true.at += FOLLOWED_AFTER - SECOND
    assert clock.now() == true.at
    true.at += SECOND
    assert clock.now() == true.at + step


def test_a_step_that_is_taken_back_is_forgotten(true: SetClock, machine: SkewedClock) -> None:
    clock = SteadyClock(machine)
    for step in (-HOUR, timedelta(), -HOUR):
        machine.by = step
        true.at += FOLLOWED_AFTER - SECOND
        assert clock.now() == true.at


def test_without_a_machine_it_is_the_one_that_this_runs_on() -> None:
    assert abs(SteadyClock().now() - SystemClock().now()) < SECOND
