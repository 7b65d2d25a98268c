"""The margins: how much earlier pods have to go because others go too."""

from datetime import timedelta

from evenkeel.flows.handover.margins import NO_TIME, Margin, Margins
from evenkeel.flows.handover.view import View
from evenkeel.model.pod import Pod
from tests import builders
from tests.builders import NOW, seconds

SOON = builders.notice(deadline=NOW + seconds(60))
LATE = builders.notice(deadline=NOW + seconds(120))
HINT = builders.hint()

DOOMS = {"soon": SOON, "late": LATE, "hinted": HINT}


def margins_of(*groups: list[Pod]) -> Margins:
    view = View(DOOMS)
    for pods in groups:
        for pod in pods:
            view.pods.see(pod)
    return Margins(view)


def on(node: str, number: int) -> list[Pod]:
    return builders.pods(number, prefix=node, node=node)


def test_a_margin_counts_whoever_goes_by_the_same_deadline_or_an_earlier_one() -> None:
    soon, late = on("soon", 75), on("late", 150)
    margins = margins_of(soon, late, on("hinted", 30), on("good", 30))
    assert margins.of(soon, NOW) == Margin(seconds(1), seconds(1))
    assert margins.of(late, NOW) == Margin(seconds(3), seconds(3))
    assert margins.of([*soon, *late], NOW) == Margin(seconds(3), seconds(3))


def test_a_mere_hint_and_a_good_node_need_no_margin() -> None:
    hinted, good = on("hinted", 30), on("good", 30)
    margins = margins_of(on("soon", 75), hinted, good)
    assert margins.of([*hinted, *good], NOW) == NO_TIME
    assert margins.of([], NOW) == NO_TIME


def test_who_has_a_replacement_is_not_in_the_way_of_those_who_wait_for_one() -> None:
    pods = on("soon", 150)
    margins = margins_of(pods)
    margins.see_leaving("default/web", frozenset(pod.uid for pod in pods[:75]))
    assert margins.of(pods, NOW) == Margin(everybody=seconds(2), unreplaced=seconds(1))


def test_pods_are_counted_anew_every_second() -> None:
    pods = on("soon", 150)
    margins = margins_of(pods)
    assert margins.of(pods, NOW).unreplaced == seconds(2)
    margins.see_leaving("default/web", frozenset(pod.uid for pod in pods))
    assert margins.of(pods, NOW + timedelta(milliseconds=900)).unreplaced == seconds(2)
    assert margins.of(pods, NOW + seconds(1)).unreplaced == timedelta()
