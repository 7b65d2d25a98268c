"""Nodes that are held for those that take seats on them."""

from collections.abc import Sequence

import pytest

from evenkeel.decisions.node import held
from evenkeel.model import names
from evenkeel.model.decision import Verb
from evenkeel.model.node import NO_SCHEDULE, Taint, seat_taint
from tests.kit import builders

OTHER = Taint(key="example.com/other", effect=NO_SCHEDULE)


@pytest.mark.parametrize("taints", [[], [OTHER]], ids=["no taint", "another taint"])
def test_a_node_is_held_and_let_go(taints: Sequence[Taint]) -> None:
    node = builders.node("o1", taints=taints)
    hold = held.hold(node)
    assert (hold.verb, hold.reason, hold.subject) == (Verb.HOLD_NODE, "SeatTaken", node.reference)
    taken = builders.patched(node, hold.write)
    assert taken.spec.taints == (*taints, seat_taint(node.uid))
    assert taken.is_held
    assert not node.is_held
    assert names.SEAT in taken.metadata.labels

    let_go = held.let_go(taken)
    assert let_go.verb is Verb.LET_GO
    again = builders.patched(taken, let_go.write)
    assert again.spec.taints == tuple(taints)
    assert again.metadata.labels == node.metadata.labels


def test_a_label_without_its_taint_is_taken_off() -> None:
    node = builders.node("o1", taints=[OTHER], labels={names.SEAT: "held"})
    assert held.bears_hold(node)
    again = builders.patched(node, held.let_go(node).write)
    assert not held.bears_hold(again)
    assert again.spec.taints == (OTHER,)


def test_a_node_whose_label_somebody_took_off_is_let_go() -> None:
    node = builders.node("o1", taints=[seat_taint("o1-uid"), OTHER], uid="o1-uid")
    again = builders.patched(node, held.let_go(node).write)
    assert again.spec.taints == (OTHER,)
