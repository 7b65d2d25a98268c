"""Which pools had a node that was warned."""

from collections.abc import Iterable, Iterator
from datetime import datetime

from evenkeel.decisions.notice import mark
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.losses import Loss
from evenkeel.model.node import Node
from evenkeel.model.pool import pool_of


def warned(nodes: Iterable[Node], labels: CapacityLabels, now: datetime) -> Iterator[Loss]:
    """The pools of the spot nodes that got a warning lately, and when.

    A node may have been marked for longer: it was stopped or hibernated, or its mark is made up.
    """
    for node in nodes:
        notice, pool = mark.read(node), pool_of(node, labels)
        if notice is not None and notice.kind.is_warning and pool is not None:
            loss = Loss(pool, notice.since)
            if loss.counts(now):
                yield loss
