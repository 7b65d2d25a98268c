"""The margins: how much earlier pods have to go because others go too."""

from evenkeel.decisions.drain.deadlines import Going, Leaving, Margin
from evenkeel.flows.handover.margins import MarginKeeper
from tests.builders import NOW, seconds

SOON = NOW + seconds(60)


def keeper(*, settled: bool = True) -> MarginKeeper:
    made = MarginKeeper()
    made.see("default/web", Leaving({SOON: Going(125, 50)}, left=0.5))
    made.see("default/api", Leaving({SOON: Going(25, 25)}, left=0.9))
    if settled:
        made.settle()
    return made


def margin_of(keeper: MarginKeeper, key: str, after: float = 0) -> float:
    """Of a pod without a replacement, in pods that go after it or with it."""
    margin = keeper.margins(f"default/{key}", NOW + seconds(after)).get(SOON, Margin())
    return round(margin.unreplaced.total_seconds() * 75)


def test_the_pods_of_all_controllers_count() -> None:
    assert margin_of(keeper(), "web") == 50
    assert margin_of(keeper(), "api") == 75
    assert keeper().longest(NOW) == {SOON: Margin(seconds(1), seconds(1))}


def test_there_are_none_before_all_was_seen() -> None:
    made = keeper(settled=False)
    assert made.margins("default/web", NOW) == {}
    assert made.longest(NOW) == {}
    assert made.overtaken(NOW) == set()
    made.settle()
    assert made.longest(NOW) == keeper().longest(NOW)


def test_pods_are_counted_anew_every_second() -> None:
    made = keeper()
    made.longest(NOW)
    made.forget("default/web")
    made.forget("default/none")
    made.see("default/api", Leaving({SOON: Going(15, 15)}))
    assert margin_of(made, "api", after=0.9) == 75
    assert margin_of(made, "api", after=1) == 15


def test_who_was_not_counted_yet_goes_as_early_as_anybody() -> None:
    made = keeper()
    made.longest(NOW)
    made.see("default/new", Leaving({SOON: Going(1, 1)}, left=0.1))
    assert margin_of(made, "new") == 75
    assert margin_of(made, "new", after=1) == 1


def test_what_has_outlived_its_deadline_is_in_nobodys_way() -> None:
    assert keeper().longest(SOON + seconds(60)) != {}
    assert keeper().longest(SOON + seconds(61)) == {}


def test_who_has_to_go_much_earlier_than_planned_is_told_once() -> None:
    made = keeper()
    assert made.overtaken(NOW) == set()
    assert margin_of(made, "web") == 50
    assert margin_of(made, "api") == 75

    made.see("default/web", Leaving({SOON: Going(30, 30)}, left=1.0))
    assert made.overtaken(NOW + seconds(0.9)) == set()
    assert made.overtaken(NOW + seconds(1)) == set()  # 5 pods more are less than half a second

    made.see("default/api", Leaving({SOON: Going(75, 75)}, left=0.2))
    assert made.overtaken(NOW + seconds(2)) == {"default/web"}
    assert made.overtaken(NOW + seconds(2.5)) == set()
    assert margin_of(made, "web", after=2.5) == 105
    assert made.overtaken(NOW + seconds(4)) == set()
