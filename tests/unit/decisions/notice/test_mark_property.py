"""Whatever is on a node and whatever notices come: lifting the mark leaves what was there."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.notice import mark
from evenkeel.decisions.notice.which_notice import decide
from evenkeel.model import names
from evenkeel.model.node import Node
from evenkeel.model.notice import Concern, Notice, NoticeKind
from evenkeel.model.request import Patch
from tests.kit.builders import NOW
from tests.kit.nodes import is_marked
from tests.unit.decisions.notice.documents import applied

KEYS = st.sampled_from(["app", "a/b", "x~y", "node.kubernetes.io/zone"])
MAPS = st.dictionaries(KEYS, st.sampled_from(["", "1", "2"]), max_size=3)
TAINTS = st.lists(
    st.tuples(
        st.sampled_from(["dedicated", "node.kubernetes.io/unschedulable", names.OUT_OF_SERVICE]),
        st.sampled_from(["NoExecute", "PreferNoSchedule"]),
    ),
    unique=True,
    max_size=3,
)
NOTICES = st.lists(
    st.builds(
        lambda kind, at, lead: Notice(
            kind=kind,
            concerns=Concern.SPOT,
            event_id=f"{kind}-{at}",
            instance_id="i-1234567890abcdef0",
            time=NOW + timedelta(seconds=at),
            deadline=NOW + timedelta(seconds=at + lead),
        ),
        st.sampled_from(NoticeKind),
        st.integers(0, 300),
        st.sampled_from([0, 120, 900]),
    ),
    min_size=1,
    max_size=6,
)
STEPS: list[Callable[[Node], Patch | None]] = [
    mark.exclude,
    mark.take_out_of_service,
    lambda node: mark.drain(node, NOW),
]


def bare(document: dict[str, Any]) -> dict[str, Any]:
    """The node without what the API leaves out, and without its version."""
    return {
        part: {
            key: value
            for key, value in document[part].items()
            if value not in ({}, [], False) and key != "resourceVersion"
        }
        for part in ("metadata", "spec")
    }


@given(
    labels=MAPS,
    annotations=MAPS,
    taints=TAINTS,
    unschedulable=st.booleans(),
    notices=NOTICES,
    steps=st.lists(st.sampled_from(range(len(STEPS))), max_size=3),
)
def test_nothing_is_left_and_nothing_is_lost_when_a_mark_is_lifted(
    labels: dict[str, str],
    annotations: dict[str, str],
    taints: list[tuple[str, str]],
    *,
    unschedulable: bool,
    notices: list[Notice],
    steps: list[int],
) -> None:
    before: dict[str, Any] = {
        "metadata": {
            "name": "n1",
            "uid": "u1",
            "resourceVersion": "1",
            "labels": labels,
            "annotations": annotations,
        },
        "spec": {
            "taints": [{"key": key, "effect": effect} for key, effect in taints],
            "unschedulable": unschedulable,
        },
    }
    document = before
    for notice in notices:
        decision = decide(msgspec.convert(document, Node), notice, notice.time)
        document = applied(document, decision.write)
    for step in steps:
        document = applied(document, STEPS[step](msgspec.convert(document, Node)))

    after = applied(document, mark.unmark(msgspec.convert(document, Node)))

    assert not is_marked(msgspec.convert(after, Node))
    assert bare(after) == bare(before)
