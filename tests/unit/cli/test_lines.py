from datetime import timedelta

import pytest
from rich.console import Console

from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason
from evenkeel_cli import lines, words
from evenkeel_cli.lines import Line
from evenkeel_cli.pace import Pace
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.builders import NOW, seconds

NODE = Reference(kind="Node", name="ip-10-0-0-1.eu-central-1.compute.internal")
POD = Reference(kind="Pod", namespace="shop", name="web-1")


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(), "+0.0s"),
        (seconds(3.24), "+3.2s"),
        (seconds(599.9), "+599.9s"),
        (seconds(842), "+14m02s"),
    ],
)
def test_a_time_since_the_beginning_is_short(duration: timedelta, text: str) -> None:
    assert words.offset(duration) == text


@pytest.mark.parametrize(
    ("decision", "text", "style"),
    [
        (
            Decision.about(POD, Verb.EVICT, Reason.LAST_MOMENT, "it goes"),
            "   +3.0s  evict       pod shop/web-1: LastMoment: it goes",
            "green",
        ),
        (
            Decision.about(NODE, Verb.EXCLUDE, Reason.NODE_DYING, "no more"),
            "   +3.0s  exclude     node ip-10-0-0-1: NodeDying: no more",
            lines.QUIET,
        ),
        (
            Decision.about(POD, Verb.EVICT, Reason.BARE_POD, "it goes", warning=True),
            "   +3.0s  evict       pod shop/web-1: BarePod: it goes",
            lines.WARNING,
        ),
    ],
)
def test_a_decision_is_a_line(decision: Decision, text: str, style: str) -> None:
    line = lines.of_decision(decision, seconds(3))

    assert (line.flat().plain, line.style) == (text, style)


@pytest.mark.parametrize("terminal", [False, True])
def test_no_message_makes_a_line_of_its_own(*, terminal: bool) -> None:
    console = Console(width=50, force_terminal=terminal, color_system=None)
    with console.capture() as capture:
        Line(seconds(1), "evict", "pod a: b\n+2.0s\tevict").show(console)
    assert len(capture.get().splitlines()) == 1


def test_a_line_is_whole_in_a_pipe_and_wrapped_below_itself_on_a_terminal() -> None:
    line = Line(seconds(1), "event", "a text that is longer than the terminal is wide by far")
    told = {}
    for terminal in (False, True):
        console = Console(width=50, force_terminal=terminal, color_system=None)
        with console.capture() as capture:
            line.show(console)
        told[terminal] = [each.rstrip() for each in capture.get().splitlines()]

    assert told[False] == [line.flat().plain]
    assert [each[:22].strip() for each in told[True]] == ["+1.0s  event", ""]


def test_simulated_time_passes_no_faster_than_it_should() -> None:
    clock = SimulatedClock(NOW)
    pace = Pace(clock)

    shown = [pace.hold(seconds(4), 8) for _ in range(3)]

    assert shown == [True] * 3
    assert clock.now() == NOW + seconds(1.5)


def test_little_is_shown_when_there_is_no_time_to_wait() -> None:
    clock = SimulatedClock(NOW)
    pace = Pace(clock)
    shown = []
    for _ in range(50):
        clock.advance(seconds(0.1))
        shown.append(pace.hold(seconds(0.1), 100))

    assert 10 <= sum(shown) <= 20
    assert clock.now() == NOW + seconds(5)
