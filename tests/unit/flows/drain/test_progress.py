"""How long answers took of late, and how fast they came."""

from evenkeel.flows.drain.dispatch.forced_evictions import Answers
from tests.kit.builders import NOW, seconds


def answers(*at: float) -> Answers:
    """Answers that came at these seconds."""
    found = Answers()
    for each in at:
        found.saw(seconds(0.1), NOW + seconds(each), is_write=True)
    return found


def test_a_rate_is_what_came_over_two_seconds_when_most_came() -> None:
    steady = answers(*[number / 50 for number in range(250)], *range(6, 20))
    assert 50 <= steady.usual(NOW + seconds(20)).per_second <= 51


def test_what_a_pause_held_back_is_no_rate() -> None:
    burst = answers(*[10.0] * 64)
    assert burst.usual(NOW + seconds(11)).per_second == 32


def test_what_came_half_a_minute_ago_shows_nothing() -> None:
    assert answers(*[0.0] * 64).usual(NOW + seconds(31)).per_second == 0
