"""The API server's time, as answers tell it: it lies between two bounds."""

from datetime import timedelta

from evenkeel.flows.drain.lease.wire import ServerTime
from tests.kit.api_server import HandClock
from tests.kit.builders import seconds


def test_until_an_answer_has_told_it_it_is_the_wall_clocks() -> None:
    clock = HandClock()
    there = ServerTime(clock)
    there.heard(clock.boot(), None)
    assert there.earliest == there.latest == clock.now()
    assert there.ahead == timedelta()


def test_an_answer_was_given_between_its_request_and_its_arrival() -> None:
    """A Date is in whole seconds, cut off."""
    clock = HandClock()
    there = ServerTime(clock)
    date, sent = clock.now() + seconds(100), clock.boot()
    clock.sleep(seconds(2))
    there.heard(sent, date)
    clock.sleep(seconds(5))
    assert there.earliest == date + seconds(5)
    assert there.latest == date + seconds(1) + seconds(7)


def test_a_clock_that_is_ahead_is_so_by_what_is_certain() -> None:
    clock = HandClock()
    there = ServerTime(clock)
    there.heard(clock.boot(), clock.now() - seconds(30))
    assert there.ahead == seconds(29)
    there.heard(clock.boot(), clock.now() + seconds(30))
    assert there.ahead == -seconds(30)
