"""Whose CPU time is counted on simulated time: a handler's, and not that of what it acts on."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Self

import pytest

from bench.cases.growth import inside
from bench.lab.inside import Outside, Stopwatch, counted
from evenkeel_sandbox.storms.shapes import Share


class Cpu:
    """A CPU whose time passes only while work is done."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def work(self, seconds: float) -> None:
        self.seconds += seconds


class Port:
    """Something outside that works itself, calls back, and opens a session."""

    size = 7

    def __init__(self, cpu: Cpu) -> None:
        self._cpu = cpu

    def ask(self, then: Callable[[], None] | None = None) -> str:
        self._cpu.work(10)
        if then is not None:
            then()
        return "answer"

    def session(self) -> "Port":
        self.ask()
        return self

    def __enter__(self) -> Self:
        self._cpu.work(100)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._cpu.work(100)


@pytest.fixture
def cpu(monkeypatch: pytest.MonkeyPatch) -> Cpu:
    found = Cpu()
    monkeypatch.setattr(time, "process_time", lambda: found.seconds)
    return found


def test_only_what_a_handler_does_itself_is_counted(cpu: Cpu) -> None:
    watch = Stopwatch()
    port = Outside(Port(cpu), watch)

    def handle() -> str:
        cpu.work(1)
        answer: str = port.ask()
        with port.session() as session:
            session.ask(lambda: cpu.work(4))
            cpu.work(2)
        return answer

    assert counted(handle, watch)() == "answer"
    cpu.work(1000)
    assert watch.seconds == 1 + 4 + 2
    assert port.size == 7


def test_other_users_of_a_port_are_not_counted(cpu: Cpu) -> None:
    watch = Stopwatch()
    port = Outside(Port(cpu), watch)
    port.ask()
    cpu.work(1)
    assert watch.seconds == 0


def test_a_second_handler_is_counted_while_the_first_waits(cpu: Cpu) -> None:
    watch = Stopwatch()
    second = counted(lambda: cpu.work(3), watch)

    class Waiting(Port):
        def ask(self, then: Callable[[], None] | None = None) -> str:
            second()
            return super().ask(then)

    def first() -> None:
        cpu.work(1)
        Outside(Waiting(cpu), watch).ask()
        cpu.work(1)

    counted(first, watch)()
    assert watch.seconds == 1 + 3 + 1


def test_time_stops_where_a_port_raises(cpu: Cpu) -> None:
    watch = Stopwatch()

    class Broken(Port):
        def ask(self, then: Callable[[], None] | None = None) -> str:
            super().ask(then)
            raise ConnectionError

    def handle() -> None:
        with pytest.raises(ConnectionError):
            Outside(Broken(cpu), watch).ask()
        cpu.work(1)

    counted(handle, watch)()
    assert watch.seconds == 1


def test_a_small_storm_is_counted() -> None:
    watch, pods = inside(4, 40, Share(1.0, timedelta()))
    assert pods == 40
    assert watch.longest > 0


def test_who_shares_one_is_counted_alone() -> None:
    watch, _ = inside(4, 40, Share(1.0, timedelta()), pods_each=20)
    assert 0 < watch.longest < 0.9 * watch.seconds


def test_each_invocation_is_counted_though_others_run_meanwhile(cpu: Cpu) -> None:
    watch, running = Stopwatch(), ["first"]
    watch.invocation = lambda: running[-1]

    class Waits:
        def wait(self) -> None:
            running.append("second")
            counted(lambda: cpu.work(2), watch)()
            running.pop()

    port = Outside(Waits(), watch)

    def handle() -> None:
        cpu.work(3)
        port.wait()
        cpu.work(4)

    counted(handle, watch)()
    assert (watch.seconds, watch.longest) == (9, 7)
