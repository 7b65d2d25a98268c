"""How many pods may be released and without replacements at a time."""

import pytest

from evenkeel.decisions.drain.census import LONGEST_TO_MAKE
from evenkeel.flows.gate.window import OLDEST_LIST, Window
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.builders import NOW


@pytest.mark.parametrize(
    ("size", "taken", "elsewhere", "there"),
    [
        pytest.param(20, 19, True, True, id="it has room"),
        pytest.param(20, 20, True, False, id="it is full"),
        pytest.param(5, 5, True, False, id="a tenth of a small one is a pod"),
    ],
)
def test_a_full_window_has_room_for_a_tenth_of_it_in_each_other_namespace(
    size: int, taken: int, *, elsewhere: bool, there: bool
) -> None:
    clock = SimulatedClock(NOW)
    window = Window(SimulatedCluster(clock), clock, size)
    for number in range(taken):
        window.took("there", f"pod-{number}")
    assert window.has_room("there") is there
    assert window.has_room("elsewhere") is elsewhere
    for number in range(max(1, size // 10)):
        window.took("elsewhere", f"pod-{number}")
    assert window.has_room("elsewhere") is (taken + max(1, size // 10) < size)
    clock.advance(OLDEST_LIST)
    assert window.has_room("there")


def test_a_process_may_release_a_window_s_worth_within_a_minute_whatever_others_released() -> None:
    clock = SimulatedClock(NOW)
    window = Window(SimulatedCluster(clock), clock, 5)
    for number in range(4):
        window.took("there", f"pod-{number}")
    assert window.may_exceed()
    window.took("there", "pod-4")
    assert not window.may_exceed()
    clock.advance(LONGEST_TO_MAKE)
    assert window.may_exceed()
