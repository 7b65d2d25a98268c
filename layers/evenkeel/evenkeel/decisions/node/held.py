"""Nodes that are held: the room of a seat is for the next pod in its place, and for no other.

A node is held from when a pod goes whose seat it has until the pod's next one is bound, which
alone tolerates it. Without that any pod that waits takes the room while the old pod stops.
"""

from evenkeel.decisions.notice import mark
from evenkeel.model import names
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.node import Node, seat_taint
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Operation, patch_as_read, pointer

_LABELS = ("metadata", "labels")


def hold(node: Node) -> Decision:
    """Keep all others off a node. Its label is for who looks for nodes that are held."""
    return Decision.about(
        node,
        Verb.HOLD_NODE,
        Reason.SEAT_TAKEN,
        "the room of a seat on it is kept for the next pod in its place",
        write=patch_as_read(
            node,
            *mark.put_taints(node.spec.taints, [seat_taint(node.uid)]),
            *mark.put_entries(_LABELS, node.metadata.labels, {names.SEAT: "held"}),
        ),
    )


def bears_hold(node: Node) -> bool:
    """Whether it is held, or bears a part of that: somebody took the other off."""
    return node.is_held or names.SEAT in node.metadata.labels


def let_go(node: Node) -> Decision:
    """Let others come to a node again."""
    label = Operation("remove", pointer(*_LABELS, names.SEAT))
    return Decision.about(
        node,
        Verb.LET_GO,
        Reason.SEAT_TAKEN,
        "no pod waits for the room of a seat on it any more",
        write=patch_as_read(
            node,
            *mark.take_taints(node.spec.taints, lambda each: each == seat_taint(node.uid)),
            *([label] if names.SEAT in node.metadata.labels else []),
        ),
    )
