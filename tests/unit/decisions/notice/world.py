"""Notices, and one node to which decisions about them are applied."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import permutations
from typing import Any

import msgspec

from evenkeel.decisions.notice import mark
from evenkeel.decisions.notice.which_notice import decide
from evenkeel.model.decision import Decision
from evenkeel.model.hook import Hook
from evenkeel.model.node import Node
from evenkeel.model.notice import Concern, NodeNotice, Notice, NoticeKind
from evenkeel.model.request import Patch
from tests.kit.builders import NOW
from tests.unit.decisions.notice.documents import applied

SECOND = timedelta(seconds=1)


LEADS = {
    NoticeKind.INTERRUPTION: 120 * SECOND,
    NoticeKind.REBALANCE: 900 * SECOND,
    NoticeKind.STATE_CHANGE: 0 * SECOND,
}


def given(kind: NoticeKind, *, at: float = 0, event_id: str = "e1", **changes: Any) -> Notice:
    """A notice of this kind, given ``at`` seconds after NOW."""
    time = NOW + at * SECOND
    values: dict[str, Any] = {"time": time, "deadline": time + LEADS[kind]}
    return Notice(
        kind=kind,
        concerns=Concern.SPOT,
        event_id=event_id,
        instance_id="i-1234567890abcdef0",
        **(values | changes),
    )


class World:
    """One node, to which decisions are applied."""

    def __init__(self, *, unschedulable: bool = False) -> None:
        self.document: dict[str, Any] = {
            "metadata": {"name": "n1", "uid": "u1", "resourceVersion": "7"},
            "spec": {
                "unschedulable": unschedulable,
                "providerID": "aws:///eu-central-1a/i-1234567890abcdef0",
            },
        }

    @property
    def node(self) -> Node:
        return msgspec.convert(self.document, Node)

    @property
    def carried(self) -> NodeNotice:
        """The notice that the node carries, which has to be there."""
        found = mark.read(self.node)
        assert found is not None
        return found

    def receive(self, notice: Notice, *, at: float = 0, state: str = "running") -> Decision:
        now = NOW + at * SECOND
        decision = decide(self.node, notice.heard_at(now), now, state)
        self.document = applied(self.document, decision.write)
        return decision

    def write(self, patch: Patch | None) -> None:
        """Carry out what somebody decided, which has to be something."""
        assert patch is not None
        self.document = applied(self.document, patch)


def in_any_order(*notices: Notice, at: float = 0, state: str = "running") -> Iterator[World]:
    """A node for each order in which it may receive these notices."""
    for order in permutations(notices):
        world = World()
        for notice in order:
            world.receive(notice, at=at, state=state)
        yield world


def scheduled(start: float = 7_200, **changes: Any) -> Notice:
    """A change that starts so many seconds after NOW."""
    ends_at = NOW + start * SECOND
    values: dict[str, Any] = {
        "event_id": "change",
        "cause": "scheduled-change",
        "deadline": ends_at - 900 * SECOND,
        "ends_at": ends_at,
    }
    return given(NoticeKind.REBALANCE, **(values | changes))


def scaled_in(action: str = "a", **changes: Any) -> Notice:
    hook = Hook(group="workers", name="evenkeel", token=action, heartbeat=300)
    values: dict[str, Any] = {"event_id": action, "cause": "lifecycle-action", "hook": hook}
    return given(NoticeKind.INTERRUPTION, **(values | changes))
