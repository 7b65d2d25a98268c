"""The simulated clock: what happens when, and what a wait lets happen."""

from datetime import UTC, datetime, timedelta

import pytest

from evenkeel_sandbox.simulator.clock import Signal, SimulatedClock

START = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@pytest.fixture
def clock() -> SimulatedClock:
    return SimulatedClock(START)


def test_callbacks_run_in_order_of_time_then_of_scheduling(clock: SimulatedClock) -> None:
    seen: list[tuple[str, datetime]] = []
    clock.call_in(2 * SECOND, lambda: seen.append(("late", clock.now())))
    clock.call_in(SECOND, lambda: seen.append(("first", clock.now())))
    clock.call_in(SECOND, lambda: seen.append(("second", clock.now())))
    clock.advance(3 * SECOND)
    assert seen == [
        ("first", START + SECOND),
        ("second", START + SECOND),
        ("late", START + 2 * SECOND),
    ]
    assert clock.now() == START + 3 * SECOND


def test_nothing_beyond_the_target_runs(clock: SimulatedClock) -> None:
    seen: list[str] = []
    clock.call_in(2 * SECOND, lambda: seen.append("x"))
    clock.advance(SECOND)
    assert seen == []


def test_a_cancelled_timer_does_not_fire(clock: SimulatedClock) -> None:
    seen: list[str] = []
    clock.call_in(SECOND, lambda: seen.append("x")).cancel()
    clock.advance(2 * SECOND)
    assert seen == []


def test_time_never_goes_back_when_a_callback_moves_it_on(clock: SimulatedClock) -> None:
    seen: list[datetime] = []
    clock.call_in(SECOND, lambda: clock.advance(5 * SECOND))
    clock.call_in(2 * SECOND, lambda: seen.append(clock.now()))
    clock.call_in(SECOND, lambda: seen.append(clock.now()))
    clock.advance(3 * SECOND)
    assert seen == [START + SECOND, START + 2 * SECOND]
    assert clock.now() == START + 6 * SECOND


def test_a_wait_ends_when_the_signal_is_set(clock: SimulatedClock) -> None:
    signal = Signal()
    clock.call_in(SECOND, signal.set)
    assert clock.wait(signal, 10 * SECOND)
    assert clock.now() == START + SECOND


def test_a_wait_ends_at_its_timeout_when_nothing_comes(clock: SimulatedClock) -> None:
    assert not clock.wait(Signal(), 10 * SECOND)
    assert clock.now() == START + 10 * SECOND


def test_processes_wait_beside_each_other(clock: SimulatedClock) -> None:
    seen: list[tuple[str, float]] = []

    def work(name: str, seconds: float) -> None:
        clock.sleep(timedelta(seconds=seconds))
        seen.append((name, (clock.now() - START).total_seconds()))

    clock.start(lambda: work("slow", 10))
    clock.start(lambda: work("quick", 1))
    clock.advance(20 * SECOND)
    assert seen == [("quick", 1.0), ("slow", 10.0)]


def test_a_process_wakes_when_its_signal_is_set(clock: SimulatedClock) -> None:
    signal = Signal()
    woken: list[tuple[bool, datetime]] = []
    clock.start(lambda: woken.append((clock.wait(signal, 60 * SECOND), clock.now())))
    clock.call_in(3 * SECOND, signal.set)
    clock.advance(10 * SECOND)
    assert woken == [(True, START + 3 * SECOND)]


def test_what_a_process_raises_reaches_the_mover_of_the_clock(clock: SimulatedClock) -> None:
    def fail() -> None:
        clock.sleep(SECOND)
        raise LookupError("lost")

    process = clock.start(fail)
    with pytest.raises(LookupError, match="lost"):
        clock.advance(2 * SECOND)
    assert not process.alive


def test_a_killed_process_does_nothing_more_when_its_time_comes(clock: SimulatedClock) -> None:
    seen: list[str] = []

    def work() -> None:
        clock.sleep(5 * SECOND)
        seen.append("never")

    process = clock.start(work)
    clock.advance(SECOND)
    process.kill()
    clock.advance(10 * SECOND)
    assert seen == []
    assert not process.alive


def test_a_process_killed_before_its_start_never_runs(clock: SimulatedClock) -> None:
    seen: list[str] = []
    clock.start(lambda: seen.append("never")).kill()
    clock.advance(SECOND)
    assert seen == []


def test_stop_ends_all_processes(clock: SimulatedClock) -> None:
    first = clock.start(lambda: clock.sleep(60 * SECOND))
    second = clock.start(lambda: clock.sleep(60 * SECOND))
    clock.advance(SECOND)
    clock.stop()
    assert not first.alive
    assert not second.alive
    assert not clock.processes


def test_a_start_without_a_time_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        SimulatedClock(START.replace(tzinfo=None))


def test_a_suspended_process_goes_on_later_with_its_parts() -> None:
    clock = SimulatedClock()
    woken: list[tuple[str, float]] = []
    began = clock.now()

    def work(name: str, seconds: int) -> None:
        clock.sleep(timedelta(seconds=seconds))
        woken.append((name, (clock.now() - began).total_seconds()))

    whole = clock.start(lambda: work("whole", 2))
    clock.start(lambda: work("part", 4), part_of=whole)
    clock.start(lambda: work("other", 3))
    clock.call_in(timedelta(seconds=1), lambda: whole.suspend(timedelta(seconds=5)))
    clock.advance(timedelta(seconds=10))

    assert woken == [("other", 3), ("whole", 6), ("part", 6)]


def test_what_a_process_started_as_its_part_is_killed_with_it() -> None:
    clock = SimulatedClock()
    woken: list[str] = []

    def work() -> None:
        clock.sleep(timedelta(seconds=2))
        woken.append("part")

    whole = clock.start(lambda: clock.sleep(timedelta(seconds=5)))
    part = clock.start(work, part_of=whole)
    clock.call_in(timedelta(seconds=1), whole.kill)
    clock.advance(timedelta(seconds=10))

    assert not part.alive
    assert woken == []
