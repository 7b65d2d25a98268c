"""A pod goes the earlier, the more others have to go too."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.drain import margins
from evenkeel.decisions.drain.margins import (
    ALL_PER_SECOND,
    EVICTIONS_PER_SECOND,
    SHARES,
    Dying,
    Leaving,
    count_margins,
)
from tests import builders
from tests.builders import NOW, seconds

SOON = NOW + seconds(120)


@pytest.fixture
def no_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(margins, "RESERVE", 0.0)


@pytest.mark.parametrize(("pods", "expected"), [(0, 0), (150, 1), (3000, 20)])
def test_the_margin_of_the_replaced_is_what_all_who_have_to_be_told_by_then_need(
    pods: int, expected: int
) -> None:
    assert count_margins([Leaving({SOON: pods})]) == {SOON: builders.margin(replaced=expected)}


@pytest.mark.usefixtures("no_reserve")
@pytest.mark.parametrize(
    ("gap", "expected"),
    [(60, 4), (2, 4), (1.5, 4.5), (0, 6)],
    ids=["long after", "just after", "overlapping", "at once"],
)
def test_the_earlier_go_so_early_that_the_later_can_go_in_time(gap: float, expected: float) -> None:
    """The later ones need 2 s, and never wait for others: these are gone by then."""
    later = SOON + seconds(gap)
    found = count_margins([Leaving(dying=[*[Dying(later)] * 120, *[Dying(SOON)] * 240])])
    assert found[SOON].replaced == found[SOON].first == seconds(expected)
    assert found[later].replaced == found[later].first == seconds(2 if gap else 6)


@pytest.mark.usefixtures("no_reserve")
def test_those_that_have_their_replacement_are_reckoned_with_in_the_same_way() -> None:
    found = count_margins([Leaving({SOON: 300, SOON + seconds(1): 450})])
    assert [margin.replaced for _, margin in sorted(found.items())] == [seconds(4), seconds(3)]
    assert [margin.first for margin in found.values()] == [seconds(0)] * 2


def test_the_reserve_is_that_of_all_who_go_whenever_that_is() -> None:
    pods = [Dying(SOON + seconds(2 * number)) for number in range(10) for _ in range(60)]
    found = count_margins([Leaving(dying=pods)])
    assert {margin.first for margin in found.values()} == {seconds(2)}, "one for them, one beside"


@pytest.mark.usefixtures("no_reserve")
def test_a_pod_goes_first_after_which_most_of_its_workload_is_left() -> None:
    """Of the 5 s that all need: each begins so early that it and those after it still can go."""
    lefts = {0.0: 60, 0.25: 60, 0.5: 60, 1.0: 120}
    pods = [Dying(SOON, left) for left, number in lefts.items() for _ in range(number)]
    margin = count_margins([Leaving(dying=pods[number::7]) for number in range(7)])[SOON]
    assert margin.of(0.0) == margin.of(0.06) == seconds(1)
    assert margin.of(0.25) == margin.of(0.49) == seconds(2)
    assert margin.of(0.5) == margin.of(0.99) == seconds(3)
    assert margin.of(1.0) == margin.of(60.0) == margin.first == seconds(5)
    assert margin.replaced == seconds(5)


@pytest.mark.usefixtures("no_reserve")
def test_whose_replacement_starts_counts_as_if_it_had_it() -> None:
    """Else a cluster that only starts pods slowly would lose those that need not go."""
    margin = count_margins([Leaving(dying=[Dying(SOON, left=0.5, is_coming=True)] * 300)])[SOON]
    assert (margin.of(0.49), margin.of(0.5)) == (seconds(0), seconds(2))


@pytest.mark.parametrize(("pods", "reserve"), [(0, 0), (60, 0.1), (600, 1), (1200, 2), (6000, 2)])
def test_a_tenth_more_time_is_kept_for_an_api_server_that_pauses(pods: int, reserve: float) -> None:
    """And so for the last of them too, which is where it would be missing."""
    workload = Leaving({SOON: 0}, [Dying(SOON, left=behind / pods) for behind in range(pods)])
    margin = count_margins([workload])[SOON]
    needed = seconds(pods / EVICTIONS_PER_SECOND)
    assert margin.first - needed == pytest.approx(seconds(reserve), abs=seconds(0.001))
    assert margin.replaced == margin.first
    assert seconds(reserve) <= margin.of(0.0) <= needed / SHARES + seconds(reserve + 0.1)


@pytest.mark.usefixtures("no_reserve")
@pytest.mark.parametrize(("answer", "more"), [(0, 0), (1, 0), (3, 2), (5, 4), (60, 4)])
def test_what_answers_take_longer_than_a_second_goes_onto_every_margin(
    answer: float, more: float
) -> None:
    leaving = [Leaving({SOON: 450}, [Dying(SOON, left=0.5)] * 60)]
    usual, slow = count_margins(leaving)[SOON], count_margins(leaving, seconds(answer))[SOON]
    assert slow.replaced == usual.replaced + seconds(more)
    assert slow.unreplaced == [each + seconds(more) for each in usual.unreplaced]


TIMES = st.sampled_from([SOON, SOON + seconds(7)])
LEAVING = st.builds(
    Leaving,
    st.dictionaries(TIMES, st.integers(0, 100)),
    st.lists(st.builds(Dying, TIMES, st.floats(0, 2), st.booleans()), max_size=30),
)


@given(st.lists(LEAVING, max_size=8))
def test_all_can_go_in_time_if_each_begins_when_its_margin_says(leaving: list[Leaving]) -> None:
    """One after the other, who has to be told first goes first: none is told later than that."""
    slow, all_done = NOW, NOW
    for by, margin in sorted(count_margins(leaving).items()):
        assert list(margin.unreplaced) == sorted(margin.unreplaced)
        assert margin.replaced >= margin.first
        dying = [pod for each in leaving for pod in each.dying if pod.by == by]
        own = sum(not pod.is_coming for pod in dying) / EVICTIONS_PER_SECOND
        slow = max(slow, by - margin.first) + seconds(own)
        assert slow <= by + timedelta.resolution
        number = len(dying) + sum(each.replaced.get(by, 0) for each in leaving)
        all_done = max(all_done, by - margin.replaced) + seconds(number / ALL_PER_SECOND)
        assert all_done <= by + timedelta.resolution
