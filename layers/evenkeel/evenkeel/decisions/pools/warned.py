"""Which pools had a node that was warned."""

from collections.abc import Iterable, Iterator

from evenkeel.decisions.notice import mark
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.losses import Loss
from evenkeel.model.node import Node
from evenkeel.model.pool import pool_of


def warned(nodes: Iterable[Node], labels: CapacityLabels) -> Iterator[Loss]:
    """The pools of the spot nodes that have a warning, and when they got it."""
    for node in nodes:
        notice, pool = mark.read(node), pool_of(node, labels)
        if notice is not None and notice.kind.is_warning and pool is not None:
            yield Loss(pool, notice.since)
