"""The margins: how much earlier pods have to go because others go too."""

from evenkeel.decisions.drain.deadlines import Going, Margin
from evenkeel.flows.handover.margins import MarginKeeper
from tests.builders import NOW, seconds

SOON = NOW + seconds(60)


def keeper(*, settled: bool = True) -> MarginKeeper:
    made = MarginKeeper()
    made.see("default/web", {SOON: Going(everybody=100, unreplaced=50)})
    made.see("default/api", {SOON: Going(everybody=50, unreplaced=25)})
    if settled:
        made.settle()
    return made


def test_the_pods_of_all_controllers_count() -> None:
    assert keeper().margins(NOW) == {SOON: Margin(seconds(1), seconds(1))}


def test_there_are_none_before_all_was_seen() -> None:
    made = keeper(settled=False)
    assert made.margins(NOW) == {}
    made.settle()
    assert made.margins(NOW) == keeper().margins(NOW)


def test_pods_are_counted_anew_every_second() -> None:
    made = keeper()
    made.margins(NOW)
    made.forget("default/api")
    made.forget("default/none")
    made.see("default/web", {SOON: Going(everybody=75, unreplaced=0)})
    assert made.margins(NOW + seconds(0.9)) == {SOON: Margin(seconds(1), seconds(1))}
    assert made.margins(NOW + seconds(1)) == {SOON: Margin(seconds(0.5), seconds(0))}


def test_what_has_outlived_its_deadline_is_in_nobodys_way() -> None:
    assert keeper().margins(SOON + seconds(60)) != {}
    assert keeper().margins(SOON + seconds(61)) == {}
