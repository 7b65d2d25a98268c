"""Deleting Leases that are of no use any more."""

from collections.abc import Callable, Sequence
from typing import Final

from evenkeel.model.cluster_objects import Lease
from evenkeel.model.request import Delete, Write
from evenkeel.ports import Reply

MOST: Final = 30
"""So many are deleted in one sweep: about as many requests as are sent at once."""


def delete_all(
    leases: Sequence[Lease], carry_out: Callable[[Sequence[Write]], Sequence[Reply]]
) -> int:
    """Delete these Leases, as far as nobody has written them since; answers how many.

    Raises as ``carry_out`` does.
    """
    deletes = [
        Delete(
            Lease,
            each.name,
            each.namespace,
            each.uid,
            resource_version=each.metadata.resource_version,
        )
        for each in leases[:MOST]
    ]
    return sum(reply.error is None for reply in carry_out(deletes)) if deletes else 0
