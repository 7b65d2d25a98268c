"""The mark's JSON: two versions write it in turn while one replaces the other.

The marks below are as the version before writes them (docs/decisions/0026).
"""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.notice import mark
from evenkeel.model import names
from evenkeel.model.node import Node
from evenkeel.model.notice import NoticeKind
from evenkeel.model.request import Patch
from evenkeel_cli.decisions import draining
from tests.kit.builders import NOW
from tests.unit.decisions.notice.world import SECOND, World, given, scaled_in, scheduled

type Step = Callable[[World], object]

WARNED: dict[str, Any] = {
    "v": 1,
    "kind": "interruption",
    "eventId": "warning",
    "deadline": "2026-11-21T06:02:00Z",
    "since": "2026-11-21T06:00:00Z",
    "action": "terminate",
    "cordonedBefore": False,
    "cordonedAt": "2026-11-21T06:00:03Z",
    "excluded": False,
    "outOfService": False,
    "unlistedSince": None,
    "lastDeadline": None,
    "cause": "",
    "endsAt": None,
    "hook": None,
    "keepCordon": False,
}
GOING = WARNED | {
    "kind": "state-change",
    "eventId": "end",
    "deadline": "2026-11-21T06:00:20Z",
    "since": "2026-11-21T06:00:20Z",
    "lastDeadline": "2026-11-21T06:02:00Z",
}
WARNED_AGAIN = WARNED | {
    "since": "2026-11-21T06:00:30Z",
    "lastDeadline": "2026-11-21T06:02:30Z",
}
WARNED_ANEW = WARNED | {
    "eventId": "later",
    "deadline": "2026-11-21T06:05:00Z",
    "since": "2026-11-21T06:03:00Z",
    # The version before leaves it, and takes the later one of since and this for the same.
    "cordonedAt": "2026-11-21T06:03:00Z",
}
NOTED = WARNED | {
    "kind": "rebalance",
    "eventId": "hint",
    "deadline": "2026-11-21T06:15:00Z",
    "cordonedAt": None,
}
CORDONED = NOTED | {"cordonedAt": "2026-11-21T06:00:03Z"}
DRAINED = CORDONED | {
    "kind": "drain",
    "eventId": "drain",
    "deadline": "2026-11-21T06:30:00Z",
    "keepCordon": True,
}
SCHEDULED = NOTED | {
    "eventId": "change",
    "cause": "scheduled-change",
    "deadline": "2026-11-21T07:45:00Z",
    "endsAt": "2026-11-21T08:00:00Z",
}
CERTAIN = SCHEDULED | {
    "kind": "interruption",
    "deadline": "2026-11-21T08:00:00Z",
    "endsAt": None,
    "cordonedAt": "2026-11-21T06:00:03Z",
}
HOOKED = WARNED | {
    "eventId": "a",
    "cause": "lifecycle-action",
    "hook": {
        "group": "workers",
        "name": "evenkeel",
        "token": "a",
        "heartbeat": 300,
        "isOver": False,
    },
}
OVER = HOOKED | {"hook": HOOKED["hook"] | {"isOver": True}}
ADDED: dict[str, Any] = {"instanceId": "", "bootId": ""}
"""What this version adds to them."""

GOING_AND_HOOKED = GOING | {"hook": HOOKED["hook"]}


def receives(kind: NoticeKind, event_id: str, *, at: float = 0) -> Step:
    """A notice comes at most three seconds after it was given."""
    return lambda world: world.receive(given(kind, at=at, event_id=event_id), at=max(at, 3))


def writes(decide: Callable[[Node], Patch | None]) -> Step:
    """The reconciler, or the command, writes something."""
    return lambda world: world.write(decide(world.node))


def drain(node: Node) -> Patch | None:
    decision = draining.begin(node, NOW + timedelta(minutes=30), NOW + 3 * SECOND, "drain")
    assert isinstance(decision.write, Patch)
    return decision.write


STEPS: list[tuple[dict[str, Any] | None, Step, dict[str, Any]]] = [
    (None, receives(NoticeKind.INTERRUPTION, "warning"), WARNED),
    (WARNED, receives(NoticeKind.STATE_CHANGE, "end", at=20), GOING),
    (GOING, receives(NoticeKind.INTERRUPTION, "warning"), GOING),
    (WARNED, receives(NoticeKind.INTERRUPTION, "later", at=30), WARNED_AGAIN),
    (WARNED, receives(NoticeKind.INTERRUPTION, "later", at=180), WARNED_ANEW),
    (WARNED_ANEW, receives(NoticeKind.INTERRUPTION, "warning"), WARNED_ANEW),
    (WARNED, receives(NoticeKind.REBALANCE, "hint"), WARNED),
    (None, receives(NoticeKind.REBALANCE, "hint"), NOTED),
    (NOTED, receives(NoticeKind.INTERRUPTION, "warning"), WARNED),
    (NOTED, writes(lambda node: mark.drain(node, NOW + 3 * SECOND)), CORDONED),
    (CORDONED, receives(NoticeKind.INTERRUPTION, "warning"), WARNED),
    (CORDONED, writes(drain), DRAINED),
    (DRAINED, receives(NoticeKind.REBALANCE, "hint"), DRAINED),
    (None, lambda world: world.receive(scheduled()), SCHEDULED),
    (SCHEDULED, writes(lambda node: mark.make_certain(node, NOW + 3 * SECOND)), CERTAIN),
    (None, lambda world: world.receive(scaled_in(), at=3), HOOKED),
    (HOOKED, writes(mark.end_hook), OVER),
    (OVER, lambda world: world.receive(scaled_in(), at=4), OVER),
    (HOOKED, receives(NoticeKind.STATE_CHANGE, "end", at=20), GOING_AND_HOOKED),
]


def marked(note: dict[str, Any] | None) -> World:
    """A node with this annotation, and with nothing else of a mark."""
    world = World()
    if note is not None:
        world.document["metadata"]["annotations"] = {names.NOTICE: json.dumps(note)}
    return world


def note_on(world: World) -> dict[str, Any]:
    """What its annotation says."""
    note: dict[str, Any] = msgspec.json.decode(world.node.metadata.annotations[names.NOTICE])
    return note


@pytest.mark.parametrize(("before", "step", "after"), STEPS)
def test_both_versions_make_the_same_mark_of_a_mark(
    before: dict[str, Any] | None, step: Step, after: dict[str, Any]
) -> None:
    world = marked(before)
    step(world)
    assert ADDED | note_on(world) == ADDED | after


@pytest.mark.parametrize("note", [WARNED, GOING, NOTED, DRAINED, SCHEDULED, OVER])
def test_what_a_later_version_adds_is_not_read_and_gets_lost(note: dict[str, Any]) -> None:
    """So what has to last stands in the fields that this version knows."""
    known, more = marked(note), marked(note | {"notices": [{"eventId": "another"}], "until": "x"})
    assert mark.read(more.node) == mark.read(known.node) is not None
    writes(mark.exclude)(more)
    assert note_on(more) == note | ADDED | {"excluded": True}
