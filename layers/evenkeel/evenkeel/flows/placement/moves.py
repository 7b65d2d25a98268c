"""Restore's moves in the webhook: the first new pod that is made for a move takes it."""

from dataclasses import dataclass
from datetime import datetime

from evenkeel.errors import ChangedError, NotFoundError
from evenkeel.flows.reads import ask
from evenkeel.model import names
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.meta import Reference
from evenkeel.model.move import Move
from evenkeel.model.pod import Pod
from evenkeel.model.request import List, Operation, Selection, patch_as_read, pointer
from evenkeel.ports import Cluster


@dataclass(frozen=True, slots=True)
class Admitted:
    """A pod in its admission. ``pod_name`` may be empty; ``holder`` is the uid of the review."""

    controller: Reference
    pod_name: str
    holder: str


def take(cluster: Cluster, move: Move, pod: Admitted, now: datetime, *, writes: bool) -> bool:
    """Whether a new pod is made for this move. If so, no other pod is from then on.

    - A ReplicaSet's pod is while the pod that is moved is released: if the new one finds no node of
      the only capacity type that it may go to, the handover can still be rolled back.
    - A StatefulSet's pod is if it has the name of the pod that is moved, which is gone by then.

    Raises ClusterError.
    """
    holder = pod.holder
    if not move.is_open(now) or move.taken_by not in ("", holder):
        return False
    if pod.controller.kind == StatefulSet.resource.kind:
        if pod.pod_name != move.pod_name:
            return False
    elif not _waits(cluster, move, pod.controller, now):
        return False
    if move.taken_by == holder or not writes:
        return True
    path = pointer("metadata", "annotations", names.TAKEN_BY)
    (reply,) = cluster.perform([patch_as_read(move.lease, Operation("add", path, holder))])
    if reply.error is not None and not isinstance(reply.error, ChangedError | NotFoundError):
        raise reply.error
    return reply.error is None


def _waits(cluster: Cluster, move: Move, controller: Reference, now: datetime) -> bool:
    """Whether the pod that is moved is released, for this move, from this ReplicaSet."""
    released = Selection(Pod, controller.namespace, labels=names.RELEASED_FROM)
    for pod in ask(cluster, List(released, metadata_only=True)).items:
        if pod.uid != move.pod_uid or not pod.released or pod.leaving:
            continue
        release = pod.believed_release(now)
        return (
            release is not None
            and release.controller_uid == controller.uid
            and release.target is move.target
        )
    return False
