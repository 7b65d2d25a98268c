"""How steps are gone through: looked at in order, done one by one, and stopped at a failure."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from io import StringIO

import pytest
from rich.console import Console

from evenkeel_cli.errors import UnmetError
from evenkeel_cli.install import steps
from evenkeel_cli.install.patience import TimeIsUpError
from evenkeel_cli.output import Output


@dataclass
class Kept:
    """A step whose state is a list of what is still to be done."""

    title: str
    todo: list[str]
    events: list[str] = field(default_factory=list)
    failure: Exception | None = None

    def look(self) -> Sequence[str]:
        self.events.append(f"look at {self.title}")
        return list(self.todo)

    def do(self) -> None:
        self.events.append(f"do {self.title}")
        if self.failure is not None:
            raise self.failure
        self.todo.clear()


@pytest.fixture
def events() -> list[str]:
    return []


@pytest.fixture
def output() -> Output:
    return Output("table", Console(width=80, file=StringIO()))


def test_without_apply_nothing_is_done(events: list[str], output: Output) -> None:
    of = [Kept("a", ["one", "two"], events), Kept("b", [], events)]
    assert steps.go(of, output, apply=False).is_any
    assert events == ["look at a", "look at b"]


def test_each_step_is_done_before_the_next_is_looked_at(events: list[str], output: Output) -> None:
    of = [Kept("a", ["one"], events), Kept("b", [], events), Kept("c", ["two"], events)]
    found = steps.go(of, output, apply=True)
    assert [(each.step, each.ok, each.done) for each in found.items] == [
        ("a", False, True),
        ("b", True, False),
        ("c", False, True),
    ]
    assert events == ["look at a", "do a", "look at b", "look at c", "do c"]
    assert not steps.go(of, output, apply=True).is_any


def test_a_failure_stops_there_and_says_that_it_can_go_on(
    events: list[str], output: Output
) -> None:
    failing = Kept("b", ["two"], events, UnmetError("no room: make some"))
    of = [Kept("a", ["one"], events), failing, Kept("c", ["three"], events)]
    with pytest.raises(UnmetError, match="b: no room: make some; what was done before stays"):
        steps.go(of, output, apply=True)
    assert events[-1] == "do b"
    failing.failure = None
    events.clear()
    steps.go(of, output, apply=True)
    assert [event for event in events if event.startswith("do")] == ["do b", "do c"]


def test_nothing_is_to_be_mended_where_the_time_is_up(events: list[str], output: Output) -> None:
    slow = Kept("a", ["one"], events, TimeIsUpError("not done after 5m: go on"))
    with pytest.raises(TimeIsUpError, match=r"^not done after 5m: go on$"):
        steps.go([slow], output, apply=True)
