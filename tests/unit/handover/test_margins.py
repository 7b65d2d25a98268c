"""The margins: how much earlier pods have to go because others go too."""

import pytest

from evenkeel.decisions.drain import margins
from evenkeel.decisions.drain.margins import EVICTIONS_PER_SECOND, Dying, Leaving
from evenkeel.flows.handover.margins import MarginKeeper
from evenkeel.flows.handover.progress import Answers
from tests import builders
from tests.builders import NOW, seconds

SOON = NOW + seconds(60)


@pytest.fixture(autouse=True)
def no_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(margins, "RESERVE", 0.0)


def dying(number: int, left: float = 1.0) -> list[Dying]:
    return [Dying(SOON, left)] * number


def keeper(*, settled: bool = True, answers: Answers | None = None) -> MarginKeeper:
    made = MarginKeeper(answers or Answers())
    made.see("default/web", Leaving({SOON: 65}, dying(35)))
    made.see("default/api", Leaving({SOON: 25}, dying(25)))
    if settled:
        made.settle(NOW)
    return made


def pods_before(keeper: MarginKeeper, left: float, after: float = 0) -> int:
    """How many pods go after one that leaves so much of its workload, or are it."""
    return round(
        keeper.margins(NOW + seconds(after))[SOON].of(left).total_seconds() * EVICTIONS_PER_SECOND
    )


def test_the_pods_of_all_controllers_count() -> None:
    (margin,) = keeper().margins(NOW).values()
    assert margin.replaced == margin.first == seconds(1)


def test_there_are_none_before_all_was_seen() -> None:
    made = keeper(settled=False)
    assert made.margins(NOW) == {}
    assert not made.hurried(NOW)
    made.settle(NOW)
    assert made.margins(NOW) == keeper().margins(NOW)


def test_pods_are_counted_anew_every_second() -> None:
    made = keeper()
    before = made.margins(NOW)
    made.forget("default/api")
    made.forget("default/none")
    made.see("default/web", Leaving({SOON: 75}))
    assert made.margins(NOW + seconds(0.9)) == before
    assert made.margins(NOW + seconds(1)) == {SOON: builders.margin(replaced=0.5)}


def test_what_has_outlived_its_deadline_is_in_nobodys_way() -> None:
    assert keeper().margins(SOON + seconds(60)) != {}
    assert keeper().margins(SOON + seconds(61)) == {}


def test_whose_margin_grows_much_is_told_once() -> None:
    made = keeper()
    assert not made.hurried(NOW)
    for second, (web, told) in enumerate([(25, False), (30, False), (31, True), (55, False)], 1):
        made.see("default/web", Leaving(dying=dying(web, left=0.5)))
        hurried = {"default/web", "default/api"} if told else set[str]()
        assert set(made.hurried(NOW + seconds(second))) == hurried, web
        assert not made.hurried(NOW + seconds(second + 0.5))


def test_a_margin_grows_also_where_only_those_with_little_left_are_later() -> None:
    made = keeper()
    made.see("default/web", Leaving(dying=dying(100, left=0.5)))
    made.hurried(NOW + seconds(1))
    assert pods_before(made, 0.4, after=1) == 0
    made.see("default/web", Leaving(dying=dying(100, left=0.3)))
    assert made.hurried(NOW + seconds(2))
    assert pods_before(made, 0.4, after=2) == 100
    assert pods_before(made, 1.0, after=2) == 125


def test_who_was_planned_for_before_others_came_that_go_by_the_same_time_is_told() -> None:
    """Their plans know of no margin; whoever goes long before them is not concerned."""
    made = keeper()
    later = SOON + seconds(60)
    for key in ("default/new", "default/newer"):
        made.see(key, Leaving(dying=[Dying(later)] * 20))
    made.see("default/done", Leaving({later: 1}))
    assert set(made.hurried(NOW + seconds(1))) == {"default/new", "default/newer", "default/done"}
    assert not made.hurried(NOW + seconds(2))


def test_all_go_the_earlier_the_longer_evictions_take_and_are_told_so() -> None:
    """One second is in every deadline anyway; a single slow answer is no news."""
    answers = Answers()
    made = keeper(answers=answers)
    for took in [0.2] * 90 + [9.0] * 4:
        answers.saw(seconds(took), NOW)
    assert made.margins(NOW + seconds(1))[SOON].first == seconds(1)
    for _ in range(10):
        answers.saw(seconds(2.4), NOW + seconds(1))
    slow = made.margins(NOW + seconds(2))[SOON]
    assert (slow.first, slow.replaced) == (seconds(3), seconds(3))
    assert set(made.hurried(NOW + seconds(2))) == {"default/web", "default/api"}
    assert made.margins(NOW + seconds(32))[SOON].first == seconds(1)
