"""Who dies unless it is replaced, and what is left of the workload then."""

from typing import Any

from evenkeel.decisions.drain.deadlines import EVICTION_OVERHEAD
from evenkeel.decisions.drain.margins import Dying
from evenkeel.decisions.handover.census import Census
from evenkeel.decisions.handover.dying import dying, replaced
from evenkeel.model.pod import Pod
from tests import builders
from tests.builders import NOW, seconds

SOON = builders.notice()
LATER = builders.notice(deadline=SOON.deadline + seconds(5))
DOOMS = {"n1": SOON, "n2": LATER, "hinted": builders.hint()}
TOLD_BY = SOON.deadline - seconds(30) - EVICTION_OVERHEAD
OF = builders.replica_set(replicas=4)


def owned(*names: str, **options: Any) -> list[Pod]:
    return [builders.pod(name, of=OF, **options) for name in names]


def released(*names: str, **options: Any) -> list[Pod]:
    return owned(*names, released=builders.release(OF), **options)


def census(*pods: Pod) -> Census:
    return builders.census(
        OF,
        owned=[pod for pod in pods if not pod.released],
        released=[pod for pod in pods if pod.released],
        dooms=DOOMS,
    )


def lefts(found: Census, *movers: Pod) -> dict[str, float]:
    names = {pod.uid: pod.name for pod in [*found.owned, *(i.pod for i in found.released)]}
    return {names[uid]: each.left for uid, each in dying(found, movers).items()}


def test_the_released_go_before_the_owned_and_each_leaves_less() -> None:
    movers = owned("a")
    pods = [*movers, *released("b"), *owned("new", "other", node="good")]
    assert lefts(census(*pods), *movers) == {"b": 0.75, "a": 0.5}


def test_who_dies_later_is_left_after_those_who_die_first() -> None:
    movers = owned("a")
    assert lefts(census(*movers, *released("b", node="n2")), *movers) == {"a": 0.25, "b": 0.0}


def test_who_needs_longer_to_end_goes_first_though_all_nodes_die_at_once() -> None:
    movers = owned("slow", grace=40)
    assert lefts(census(*movers, *released("quick", grace=5)), *movers) == {
        "slow": 0.25,
        "quick": 0.0,
    }


def test_who_has_a_replacement_does_not_count_nor_who_is_under_a_mere_hint() -> None:
    hinted = owned("hinted", node="hinted")
    found = census(*hinted, *released("b", "c"), *owned("new", "other", node="good"))
    assert lefts(found, *hinted) == {"c": 0.5}
    assert replaced(found) == {TOLD_BY: 1}


def test_as_many_are_about_to_be_replaced_as_start_off_doomed_nodes() -> None:
    new: dict[str, Any] = {"ready": False, "creation_timestamp": NOW}
    movers = owned("a")
    found = census(
        *movers,
        *released("b"),
        *owned("new", node="good", **new),
        *owned("unplaced", node="", **new),
        *owned("doomed", node="n1", **new),
    )
    assert list(dying(found, movers).values()) == [
        Dying(TOLD_BY, left=0.25, is_coming=True),
        Dying(TOLD_BY, left=0.0, is_coming=False),
    ]


def test_nothing_is_missed_of_a_workload_that_nobody_wants() -> None:
    gone = builders.census(None, released=released("b", ready=False), dooms=DOOMS)
    assert [each.left for each in dying(gone, ()).values()] == [1.0]
