"""Deleting what restore noted in Leases: every rollout makes another ReplicaSet."""

from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.restore.snapshot import Snapshot
from evenkeel.flows.restore.writing import Writer
from evenkeel.flows.sweeping import delete_all
from evenkeel.model import names
from evenkeel.model.move import believed_move

SWEPT_AFTER: Final = timedelta(hours=1)
"""So long after its end a move's Lease is not read any more."""


def sweep_moves(writer: Writer, snapshot: Snapshot, now: datetime) -> int:
    """Delete Leases of moves that are long over, or that tell of none that can be true.

    Answers how many. Raises as the writer does.

    One of a move without room stays while its ReplicaSet is there: it says when its workload had
    its turn, and turns may be many hours apart. A run that is not about such moves deletes none.
    """
    there = {each.uid for candidate in snapshot.candidates for each in candidate.replica_sets}
    old = []
    for lease in snapshot.move_leases:
        move = believed_move(lease, now)
        is_there = snapshot.rest is None or lease.metadata.labels[names.MOVE_OF] in there
        if move is None or (
            now - move.until >= SWEPT_AFTER and not (move.without_room and is_there)
        ):
            old.append(lease)
    return delete_all(old, writer.perform)


def sweep_traces(writer: Writer, snapshot: Snapshot) -> int:
    """Delete what tells of templates of workloads that are gone; ``snapshot`` is of them all.

    Answers how many. Raises as the writer does.
    """
    there = {candidate.workload.uid for candidate in snapshot.candidates}
    leases = snapshot.template_leases
    gone = [each for each in leases if each.metadata.labels[names.TEMPLATE_OF] not in there]
    return delete_all(gone, writer.perform)
