"""What is told of an interruption says what the decision log says, in whichever storm.

Nobody else acts meanwhile. Where strangers delete pods, scale or roll out, the log says of each pod
and count on whose part it is; what is told of has room for less.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from evenkeel.model.notification import Notification
from evenkeel_cli.history import cutting, incident
from evenkeel_cli.history.incident import Incident
from tests.property.judging import tries
from tests.property.small_storms import Deed, World, deeds, do, log_of, staged, worlds

END: Final = 620
"""By then all deadlines have passed for five minutes, and the schedule came."""


class Tale(NamedTuple):
    """Workloads, when which nodes are interrupted, and what others do."""

    world: World
    storm: Mapping[int, int]
    deeds: Sequence[Deed]


def tales() -> st.SearchStrategy[Tale]:
    """Small storms that nobody meddles with."""
    storms = st.dictionaries(st.integers(0, 2), st.integers(0, 60), min_size=1)
    return st.builds(Tale, worlds(), storms, st.just(()))


def meddled_with() -> st.SearchStrategy[Tale]:
    """Small storms in which strangers delete, scale and roll out."""
    several = st.lists(deeds(), min_size=1, max_size=3)
    return st.builds(lambda tale, its: tale._replace(deeds=its), tales(), several)


def played(tale: Tale) -> tuple[Sequence[Notification], Incident | None]:
    """What was told, and the account that history makes of the log."""
    with staged(tale.world) as scene:
        for which, after in tale.storm.items():
            scene.later(after, partial(scene.interrupt, f"s{which}"))
        for deed in tale.deeds:
            scene.later(deed.after, partial(do, scene, tale.world, deed))
        scene.run(until=END)
        return scene.notifications.sent, incident.of(cutting.last(log_of(scene)))


def by_log(found: Incident) -> Mapping[str, object]:
    """What history says."""
    low = [each for each in found.workloads if each.dipped]
    return {
        "nodes": sum(1 for node in found.nodes if node.pods),
        "pods": len(found.to_move),
        "late": sum(pod.is_late for pod in found.to_move),
        "below": {each.subject.name: each.lowest for each in low},
        "at zero": sum(each.was_at_zero for each in low),
    }


def by_notification(document: Notification) -> Mapping[str, object]:
    """What is told."""
    assert document.below == len(document.workloads)
    return {
        "nodes": document.nodes,
        "pods": document.pods,
        "late": document.late,
        "below": {each.name: each.lowest for each in document.workloads},
        "at zero": document.at_zero,
    }


@given(tales())
@tries(0.2)
def test_what_is_told_is_what_the_log_says(tale: Tale) -> None:
    told, found = played(tale)
    if found is None or not found.to_move:
        assert told == []
        return
    assert [each.phase for each in told] == ["began", "over"]
    assert by_notification(told[-1]) == by_log(found)


@given(meddled_with())
@tries(0.2)
def test_it_is_the_same_where_strangers_delete_scale_and_roll_out(tale: Tale) -> None:
    """But for pods of which no decision says that they went: those only history knows."""
    told, found = played(tale)
    over = [each for each in told if each.phase == "over"]
    if found is None or len(over) != 1:
        return
    ours, theirs = by_notification(over[0]), by_log(found)
    went = [pod.departure for pod in found.to_move if pod.went_at is not None]
    assert (ours["pods"], ours["late"]) == (len(went), sum(each.is_late for each in went))
    if len(went) == len(found.to_move):
        assert (ours["below"], ours["at zero"]) == (theirs["below"], theirs["at zero"])
