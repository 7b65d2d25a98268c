"""Deleting what restore noted in Leases: every rollout makes another ReplicaSet."""

from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.restore.snapshot import Snapshot
from evenkeel.flows.restore.reading import MOVES, TRACES
from evenkeel.flows.restore.writing import Writer
from evenkeel.flows.sweeping import sweep
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.move import believed_move
from evenkeel.ports import Cluster

SWEPT_AFTER: Final = timedelta(hours=1)
"""So long after its end a move's Lease is not read any more."""


def sweep_moves(cluster: Cluster, writer: Writer, snapshot: Snapshot, now: datetime) -> int:
    """Delete Leases of moves that are long over; answers how many. Raises as the writer does.

    One of a move without room stays while its ReplicaSet is there: it says when its workload had
    its turn, and turns may be many hours apart. A run that is not about such moves deletes none.
    """
    there = {each.uid for case in snapshot.cases for each in case.replica_sets}

    def is_old(lease: Lease) -> bool:
        """Whether a move is long over, or the Lease tells of none that can be true."""
        move = believed_move(lease, now)
        if move is None:
            return True
        is_there = snapshot.rest is None or lease.metadata.labels[names.MOVE_OF] in there
        return now - move.until >= SWEPT_AFTER and not (move.without_room and is_there)

    return sweep(cluster, MOVES, is_old, writer.perform)


def sweep_traces(cluster: Cluster, writer: Writer, snapshot: Snapshot) -> int:
    """Delete what tells of templates of workloads that are gone; ``snapshot`` is of them all.

    Answers how many. Raises as the writer does.
    """
    there = {case.workload.uid for case in snapshot.cases}
    return sweep(
        cluster,
        TRACES,
        lambda lease: lease.metadata.labels[names.TEMPLATE_OF] not in there,
        writer.perform,
    )
