"""What is told of an interruption says what the decision log says, in whichever storm.

Nobody else acts meanwhile. Where strangers delete pods, scale or roll out, the log says of each pod
and count on whose part it is; what is told of has room for less.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from evenkeel.adapters.telemetry import decision_log
from evenkeel.model import names
from evenkeel.model.notification import Notification
from evenkeel_cli.history import incident
from evenkeel_cli.history.incident import Incident, Record
from tests.kit.manifests import RECREATE, deployment, stateful_set
from tests.kit.scene import CALM, Scene
from tests.property.judging import tries

END: Final = 620
"""By then all deadlines have passed for five minutes, and the schedule came."""

NEVER: Final = {"notes": {names.HANDOVER: "never"}}
MAKERS: Final[Mapping[str, Callable[[str, int], dict[str, Any]]]] = {
    "surge": deployment,
    "recreate": lambda name, size: deployment(name, size, **RECREATE),
    "never": lambda name, size: deployment(name, size, **NEVER),
    "ordinals": stateful_set,
}


class Tale(NamedTuple):
    """Workloads (their kind and size), and when which nodes are interrupted.

    ``cold``: each invocation knows nothing of the one before. ``starts``: seconds that pods take.
    ``room``: cores of the node that is left.
    """

    workloads: Sequence[tuple[str, int]]
    storm: Mapping[int, int]
    cold: bool
    starts: float
    room: int


def tales() -> st.SearchStrategy[Tale]:
    """Small clusters of three spot nodes and one of on-demand, which may be too small."""
    sizes = st.tuples(st.sampled_from(sorted(MAKERS)), st.integers(1, 4))
    return st.builds(
        Tale,
        st.lists(sizes, min_size=1, max_size=3),
        st.dictionaries(st.integers(0, 2), st.integers(0, 60), min_size=1),
        st.booleans(),
        st.sampled_from([2.0, 20.0, 50.0]),
        st.sampled_from([1, 4]),
    )


def played(tale: Tale) -> tuple[Sequence[Notification], Incident | None]:
    """What was told, and the account that history makes of the log."""
    options = replace(CALM, start_seconds=(tale.starts, tale.starts))
    scene = Scene(options=options, environments_kept=not tale.cold)
    try:
        made = [MAKERS[kind](f"w{n}", size) for n, (kind, size) in enumerate(tale.workloads)]
        room = {"s": "4", "o": str(tale.room)}
        scene.given(*made, on="s0 s1 s2", spare="o1", room=room, settle=120)
        for which, after in tale.storm.items():
            scene.later(after, partial(scene.interrupt, f"s{which}"))
        scene.run(until=END)
        recorder = scene.recorder
        decided = zip(recorder.decisions, recorder.times, strict=True)
        records: Sequence[Record] = [
            *(decision_log.record(each, scene.at(at), "prod", "act") for each, at in decided),
            *(decision_log.count_record(each, "prod") for each in recorder.pod_counts),
        ]
        return scene.notifications.sent, incident.of(incident.last(records))
    finally:
        scene.close()


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
