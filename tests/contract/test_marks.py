"""Marks and Events on nodes, as an API server takes them."""

from collections.abc import Callable
from datetime import timedelta

import msgspec
import pytest

from evenkeel.adapters.telemetry.cluster_events import ClusterEvents
from evenkeel.decisions.notice import mark
from evenkeel.errors import InvalidError
from evenkeel.model import names
from evenkeel.model.cluster_objects import Event
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.node import Node, Taint
from evenkeel.model.notice import NodeNotice, NoticeKind
from evenkeel.model.reasons import Reason
from evenkeel.model.request import List, Operation, Patch, Selection
from evenkeel_hosting.memory import InMemoryRecorder
from tests.contract.ground import Ground
from tests.kit.builders import NOW
from tests.kit.nodes import is_marked

NOTICE = NodeNotice(
    kind=NoticeKind.INTERRUPTION,
    event_id="e1",
    deadline=NOW + timedelta(seconds=120),
    since=NOW,
    cordoned_at=NOW,
)
DEDICATED = Taint(key="dedicated", value="batch", effect="PreferNoSchedule")


def change(ground: Ground, name: str, decide: Callable[[Node], Patch | None]) -> Node:
    """Read, decide, write; again while kubelets and controllers write in between."""
    for _ in range(20):
        patch = decide(ground.get(Node, name))
        assert patch is not None
        try:
            written: Node = ground.ask(patch)
        except InvalidError:
            continue
        return written
    pytest.fail("the node never stood still")


def put_dedicated(node: Node) -> Patch:
    """Another's taint, put first."""
    taints = [DEDICATED, *node.spec.taints]
    return Patch(
        kind=Node,
        name=node.name,
        body=(
            Operation("test", "/metadata/resourceVersion", node.metadata.resource_version),
            Operation("add", "/spec/taints", [msgspec.to_builtins(taint) for taint in taints]),
        ),
    )


def test_a_mark_goes_on_and_comes_off_again(ground: Ground) -> None:
    name = ground.add_node("spot")
    before = change(ground, name, put_dedicated)

    marked = change(ground, name, lambda node: mark.set_mark(node, NOTICE))
    assert marked.spec.unschedulable
    assert mark.read(marked) == NOTICE
    assert marked.metadata.labels[names.DOOMED] == "interruption"
    assert marked.has_taint(names.DOOMED)
    assert mark.set_mark(marked, NOTICE) is None

    change(ground, name, mark.exclude)
    change(ground, name, mark.take_out_of_service)
    after = change(ground, name, mark.unmark)

    assert not after.spec.unschedulable
    assert after.metadata.labels == before.metadata.labels
    assert names.NOTICE not in after.metadata.annotations
    left = {taint.key for taint in after.spec.taints}
    assert DEDICATED in after.spec.taints
    # The node controller takes its own taint off a moment later.
    assert left <= {"dedicated", "node.kubernetes.io/unschedulable"}


def test_a_mark_is_refused_when_the_node_changed_meanwhile(ground: Ground) -> None:
    name = ground.add_node("spot")
    stale = ground.get(Node, name)
    change(ground, name, put_dedicated)
    write = mark.set_mark(stale, NOTICE)
    assert write is not None
    assert isinstance(ground.refused(write), InvalidError)
    assert not is_marked(ground.get(Node, name))


def test_a_recommendation_is_tainted_later_and_a_persons_cordon_stays(ground: Ground) -> None:
    name = ground.add_node("spot")
    hint = msgspec.structs.replace(NOTICE, kind=NoticeKind.REBALANCE, cordoned_at=None)
    noted = change(ground, name, lambda node: mark.set_mark(node, hint))
    assert not noted.has_taint(names.DOOMED)
    drained = change(ground, name, lambda node: mark.drain(node, NOW))
    assert drained.has_taint(names.DOOMED)
    assert not drained.spec.unschedulable
    ground.cordon_by_hand(name, on=True)
    after = change(ground, name, mark.unmark)
    assert not after.has_taint(names.DOOMED)
    assert after.spec.unschedulable


def test_the_api_server_keeps_who_cordoned_a_node(ground: Ground) -> None:
    name = ground.add_node("spot")
    marked = change(ground, name, lambda node: mark.set_mark(node, NOTICE))
    assert marked.cordoned_by == {names.FIELD_MANAGER}

    ground.cordon_by_hand(name, on=True)
    assert ground.get(Node, name).cordoned_by == {names.FIELD_MANAGER}, "it is cordoned already"

    ground.cordon_by_hand(name, on=False)
    assert ground.get(Node, name).cordoned_by == set()
    ground.cordon_by_hand(name, on=True)
    assert ground.get(Node, name).cordoned_by == {"kubectl"}

    after = change(ground, name, mark.unmark)
    assert after.spec.unschedulable
    assert not is_marked(after)


def test_decisions_become_events_that_the_api_server_takes(ground: Ground) -> None:
    name = ground.add_node("spot")
    node = ground.get(Node, name)
    log = InMemoryRecorder()
    recorder = ClusterEvents(ground.cluster, ground.clock, log, observes=False)
    recorder.decided(
        Decision(
            verb=Verb.MARK,
            subject=node.reference,
            node=name,
            reason=Reason.SPOT_INTERRUPTION,
            message="EC2 takes it back",
            warning=True,
        )
    )

    recorder.flush()

    assert log.notes == []
    selection = Selection(
        Event, "default", fields=f"involvedObject.kind=Node,involvedObject.name={name}"
    )
    events: list[Event] = [
        event for event in ground.ask(List(selection)).items if event.reason == "SpotInterruption"
    ]
    (event,) = events
    assert event.involved_object.uid == node.uid
    assert event.type == "Warning"
    assert event.count == 1
    assert event.message == "EC2 takes it back"
    assert event.source.component == "evenkeel"
