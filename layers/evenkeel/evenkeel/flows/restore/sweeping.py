"""Deleting the Leases of moves that are long over: every rollout makes another ReplicaSet."""

from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.restore.snapshot import Snapshot
from evenkeel.flows.reads import list_all
from evenkeel.flows.restore.reading import MOVES, TRACES
from evenkeel.flows.restore.writing import Writer
from evenkeel.model import names
from evenkeel.model.move import believed_move
from evenkeel.model.request import Delete, List
from evenkeel.model.surroundings import Lease
from evenkeel.ports import Cluster

SWEPT_AFTER: Final = timedelta(hours=1)
"""So long after its end a move's Lease is not read any more."""

MOST_SWEPT: Final = 30


def sweep(cluster: Cluster, writer: Writer, now: datetime) -> int:
    """Delete old Leases of moves, some at a time; answers how many.

    Not one that tells of another move by now. Raises as the writer does.
    """
    (leases,) = list_all(cluster, [List(MOVES)])
    old = [lease for lease in leases if _is_old(lease, now)][:MOST_SWEPT]
    return sum(reply.error is None for reply in writer.perform([*map(_delete, old)]))


def _delete(lease: Lease) -> Delete:
    version = lease.metadata.resource_version
    return Delete(Lease, lease.name, lease.namespace, lease.uid, resource_version=version)


def sweep_traces(cluster: Cluster, writer: Writer, snapshot: Snapshot) -> int:
    """Delete what tells of templates of workloads that are gone; ``snapshot`` is of them all.

    Answers how many. Raises as the writer does.
    """
    (leases,) = list_all(cluster, [List(TRACES)])
    there = {case.workload.uid for case in snapshot.cases}
    gone = [each for each in leases if each.metadata.labels[names.TEMPLATE_OF] not in there]
    replies = writer.perform([_delete(lease) for lease in gone[:MOST_SWEPT]])
    return sum(reply.error is None for reply in replies)


def _is_old(lease: Lease, now: datetime) -> bool:
    """Whether a move is long over, or the Lease tells of none that can be true."""
    move = believed_move(lease, now)
    return move is None or now - move.until >= SWEPT_AFTER
