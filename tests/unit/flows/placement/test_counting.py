"""Counting a floor that nobody answers about: how long that is tried."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from evenkeel.decisions.placement.verdict import Counted
from evenkeel.errors import UnavailableError
from evenkeel.flows.placement.counting import FIRST_PAUSE, LONGEST_PAUSE, FloorCounter
from evenkeel.model.capacity import Capacity
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Request
from evenkeel.ports import Reply, Session
from tests.kit import builders
from tests.kit.api_server import HandClock

WEB = builders.replica_set()


class Silence:
    """A cluster that answers nothing."""

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        return [Reply(each, error=UnavailableError("silence")) for each in requests]

    def session(self) -> Session:
        raise AssertionError


@pytest.mark.parametrize("milliseconds", [10, 50, 200, 1000])
def test_no_look_begins_after_the_time_is_up_and_the_pod_goes_to_on_demand(
    milliseconds: int,
) -> None:
    clock = HandClock()
    give_up = clock.now() + timedelta(milliseconds=milliseconds)
    choice = FloorCounter(Silence(), clock).count(
        Counted(1, 3), WEB, {}, "review", give_up=give_up, writes=True
    )
    assert clock.now() < give_up
    chosen = choice.chosen
    assert (chosen.capacity, chosen.reason) == (Capacity.ON_DEMAND, Reason.NOT_COUNTED)
    assert chosen.is_required
    assert "silence" in chosen.message
    assert choice.slot is None


def test_pauses_double_up_to_a_longest_one() -> None:
    clock = HandClock()
    FloorCounter(Silence(), clock).count(
        Counted(1, 3), WEB, {}, "review", give_up=clock.now() + timedelta(seconds=1), writes=True
    )
    first, longest = FIRST_PAUSE.total_seconds(), LONGEST_PAUSE.total_seconds()
    assert clock.naps[:4] == pytest.approx([first, 2 * first, 4 * first, 8 * first])
    assert set(clock.naps[3:]) == {longest}
