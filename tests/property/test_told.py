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
from tests.property.small_storms import World, log_of, staged, worlds

END: Final = 620
"""By then all deadlines have passed for five minutes, and the schedule came."""


class Tale(NamedTuple):
    """Workloads, and when which nodes are interrupted."""

    world: World
    storm: Mapping[int, int]


def tales() -> st.SearchStrategy[Tale]:
    """Small storms that nobody meddles with."""
    storms = st.dictionaries(st.integers(0, 2), st.integers(0, 60), min_size=1)
    return st.builds(Tale, worlds(), storms)


def played(tale: Tale) -> tuple[Sequence[Notification], Incident | None]:
    """What was told, and the account that history makes of the log."""
    with staged(tale.world) as scene:
        for which, after in tale.storm.items():
            scene.later(after, partial(scene.interrupt, f"s{which}"))
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
