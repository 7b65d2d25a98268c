"""Deleting Leases that are of no use any more."""

from collections.abc import Callable, Sequence
from typing import Final

from evenkeel.flows.reads import ask
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.request import Delete, List, Selection, Write
from evenkeel.ports import Cluster, Reply

MOST: Final = 30
"""So many are deleted in one sweep: about as many requests as are sent at once."""


def sweep(
    cluster: Cluster,
    leases: Selection[Lease],
    is_old: Callable[[Lease], bool],
    carry_out: Callable[[Sequence[Write]], Sequence[Reply]],
) -> int:
    """Delete those of these Leases that are old; answers how many.

    None that was written since it was read. Raises ClusterError, and as ``carry_out`` does.
    """
    old = ask(cluster, List(leases, kept=lambda lease: lease if is_old(lease) else None)).items
    return delete_all(old, carry_out)


def delete_all(
    leases: Sequence[Lease], carry_out: Callable[[Sequence[Write]], Sequence[Reply]]
) -> int:
    """Delete these Leases, as far as nobody has written them since; answers how many.

    Raises as ``carry_out`` does.
    """
    deletes = [_delete(lease) for lease in leases[:MOST]]
    return sum(reply.error is None for reply in carry_out(deletes)) if deletes else 0


def _delete(lease: Lease) -> Delete:
    version = lease.metadata.resource_version
    return Delete(Lease, lease.name, lease.namespace, lease.uid, resource_version=version)
