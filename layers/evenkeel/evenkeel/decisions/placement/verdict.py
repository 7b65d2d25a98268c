"""What becomes of a new pod: left as it is, one capacity type, or to be counted.

That follows from its floor: whether the pod belongs to its workload's.
"""

from collections.abc import Mapping

import msgspec

from evenkeel.decisions.floor.source import MANY, FloorOf, floor_of, floor_of_any
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.deployment import Deployment
from evenkeel.model.floor import ALL
from evenkeel.model.ordinal import index_of
from evenkeel.model.placement import NewPod
from evenkeel.model.reasons import Reason


class Left(msgspec.Struct, frozen=True):
    """The pod is left as it is. ``reason`` is a CamelCase word, ``message`` for people."""

    reason: Reason
    message: str


class Chosen(msgspec.Struct, frozen=True):
    """The pod asks for a capacity type; ``is_required``: no node of the other one will do."""

    capacity: Capacity
    reason: Reason
    message: str
    is_required: bool = False


class Counted(msgspec.Struct, frozen=True):
    """The pod is one of the floor if fewer than ``floor`` of its siblings are; ``size`` of all."""

    floor: int
    size: int


class FloorVerdict(msgspec.Struct, frozen=True):
    """What becomes of the pod, and the floor by which that is so."""

    verdict: Left | Chosen | Counted
    floor: FloorOf


def verdict_of(
    pod: NewPod,
    controller: Controller,
    deployment: Deployment | None,
    namespace_annotations: Mapping[str, str],
    *,
    is_relaxed: bool,
    in_gang: bool,
) -> FloorVerdict:
    """Decide by the floor of the pod's workload. ``deployment`` is the ReplicaSet's, if any.

    ``in_gang``: the group that the pod names is a gang.

    - a floor that somebody asked for is required, a default one preferred. Only StatefulSets have a
      default above none, so no pod is counted for one: its ordinal says what it prefers, wherever
      the others are;
    - a relaxed floor is not held: no on-demand node had room;
    - no floor: spot; all of them: on-demand. Neither needs a count;
    - a StatefulSet's pods are told apart by their ordinals: at every size the lowest ordinals hold
      exactly the floor. An ordinal that cannot be read, or is below the first, is one of the
      floor;
    - a gang is on one capacity type: its floor is all or none (see ``floor_of``);
    - others are counted. The size is the ReplicaSet's own, not its Deployment's: in a rollout each
      ReplicaSet holds the floor of its part, and the parts' floors, rounded up, are never less
      than the floor of the whole. A Job's is its parallelism.
    """
    workload = deployment if deployment is not None else controller
    found = floor_of(workload, namespace_annotations, in_gang=in_gang)
    return FloorVerdict(_verdict(pod, controller, found, is_relaxed=is_relaxed), found)


def capacity_of_any(found: FloorOf) -> Capacity | None:
    """Where a floor that somebody asked for places pods of which no workload's size is known.

    All and none need no size. None by any other floor, or where none is written: how many there are
    to be is not known.
    """
    if not found.is_asked:
        return None
    if found.floor == ALL:
        return Capacity.ON_DEMAND
    return Capacity.SPOT if found.floor.of(MANY) == 0 else None


def verdict_of_any(pod: NewPod, namespace: Namespace, *, in_gang: bool) -> FloorVerdict:
    """Decide about a pod of which no workload's size is known: by its floor or its namespace's."""
    notes = namespace.metadata.annotations
    found = floor_of_any(pod.metadata.annotations, namespace.name, notes, in_gang=in_gang)
    told = f"the floor is {found.floor} ({found.source})"
    needs = "its floor, or its namespace's, places it if that is all or none"
    match capacity_of_any(found):
        case Capacity.ON_DEMAND:
            chosen = Chosen(Capacity.ON_DEMAND, Reason.ALL_IN_FLOOR, told, found.is_asked)
            return FloorVerdict(chosen, found)
        case Capacity.SPOT:
            return FloorVerdict(Chosen(Capacity.SPOT, Reason.NO_FLOOR, told), found)
    if pod.controller is None:
        return FloorVerdict(Left(Reason.BARE_POD, f"it has no controller: {needs}"), found)
    message = f"the size of a {pod.controller.full_kind} is not known: {needs}"
    return FloorVerdict(Left(Reason.UNKNOWN_CONTROLLER, message), found)


def _verdict(
    pod: NewPod, controller: Controller, found: FloorOf, *, is_relaxed: bool
) -> Chosen | Counted:
    floor = found.floor
    told, is_required = f"the floor is {floor} ({found.source})", found.is_asked
    if is_relaxed:
        return Chosen(
            Capacity.SPOT, Reason.FLOOR_RELAXED, f"{told}, but no on-demand node had room"
        )
    if controller.first_ordinal is not None:
        index = index_of(pod, controller)
        if index is None:
            message = f"{told}, its ordinal not known"
            return Chosen(Capacity.ON_DEMAND, Reason.UNKNOWN_ORDINAL, message, is_required)
        ordinal = controller.first_ordinal + index
        if floor.includes(index):
            message = f"{told}: ordinal {ordinal} is in"
            return Chosen(Capacity.ON_DEMAND, Reason.ORDINAL_IN_FLOOR, message, is_required)
        return Chosen(
            Capacity.SPOT, Reason.ORDINAL_ABOVE_FLOOR, f"{told}: ordinal {ordinal} is not in"
        )
    size = controller.at_a_time
    wanted = floor.of(size)
    if floor == ALL:
        return Chosen(Capacity.ON_DEMAND, Reason.ALL_IN_FLOOR, told, is_required)
    if wanted == 0:
        return Chosen(Capacity.SPOT, Reason.NO_FLOOR, told)
    return Counted(wanted, size)
