"""Whether a pod is one of a counted floor. Any number of processes may count at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.placement.floor_count import (
    FloorCount,
    Free,
    Full,
    Unconfirmed,
    count_floor,
)
from evenkeel.decisions.placement.verdict import Chosen, Counted
from evenkeel.errors import ClusterError
from evenkeel.flows.placement import claims
from evenkeel.flows.reads import answer, of_kind
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.placement import Placed, claims_of
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import List, Selection
from evenkeel.ports import Clock, Cluster

FIRST_PAUSE: Final = timedelta(milliseconds=20)
LONGEST_PAUSE: Final = timedelta(milliseconds=160)
"""Between two lists while claims are unconfirmed; it doubles."""

CLAIM_EXPIRY: Final = timedelta(seconds=1.5)
"""How long a claim waits for its pod, which the API server stores right after its review."""

NOT_FINISHED: Final = "status.phase!=Failed,status.phase!=Succeeded"


@dataclass(frozen=True, slots=True)
class Choice:
    """What counting came to. ``slot`` is None where no claim was taken."""

    chosen: Chosen
    slot: int | None = None


class FloorCounter:
    """Counts floors by live pods, and claims places until their pods are there."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self._cluster = cluster
        self._clock = clock

    def count(
        self,
        wanted: Counted,
        controller: Controller,
        labels: dict[str, str] | None,
        holder: str,
        *,
        give_up: datetime,
        writes: bool,
    ) -> Choice:
        """Count the controller's floor, and claim a place of it where one is free.

        ``labels`` are the new pod's, ``holder`` is the name of its claim. If the floor is not
        counted before ``give_up``, the pod goes to on-demand: restore moves those above the floor
        back. ``writes`` False claims nothing and does not wait.
        """
        floor = f"the floor is {wanted.floor} of {wanted.size}"
        pause = FIRST_PAUSE
        problem = ""
        again = False
        while True:
            try:
                mine, result = self._look(wanted, controller, labels, holder, again=again)
                if mine is not None:
                    return _in_floor(f"{floor}: slot {mine} is its own", mine)
                if isinstance(result, Full):
                    message = f"{floor} and held by {result.taken}"
                    return Choice(Chosen(Capacity.SPOT, Reason.FLOOR_HELD, message))
                if not writes:
                    return _in_floor(f"{floor} and not held")
                if isinstance(result, Free):
                    now = self._clock.now()
                    slot = claims.take(self._cluster, controller.reference, result, holder, now)
                    if slot is not None:
                        return _in_floor(f"{floor}: slot {slot} was free", slot)
                problem = "others claimed the places that are left, and no pod confirms it"
            except ClusterError as error:
                problem = str(error)
                result = Unconfirmed(0)
            again = True
            if self._clock.now() + pause >= give_up:
                message = f"{floor}; it was not counted in time: {problem}"
                chosen = Chosen(Capacity.ON_DEMAND, Reason.NOT_COUNTED, message, is_required=True)
                return Choice(chosen)
            if isinstance(result, Unconfirmed):
                self._clock.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)

    def _look(
        self,
        wanted: Counted,
        controller: Controller,
        labels: dict[str, str] | None,
        holder: str,
        *,
        again: bool,
    ) -> tuple[int | None, FloorCount]:
        """The slot that ``holder`` has already, if any, and how the floor stands.

        The first list of claims may be a moment old: a review that sees too few of them offers
        slots that it then cannot claim, and sends no pod to spot for it. A fresh list takes up to
        0.1 s while many pods are made (KEP-2340, see docs/decisions/0006), so the list of pods may
        be a moment old, too, while a ReplicaSet only grows.
        """
        pods_asked = List(
            _siblings(controller.namespace, labels or {}),
            metadata_only=True,
            fresh=again or not controller.is_growing,
        )
        claims_asked = List(claims.selection(controller.uid), fresh=again)
        pods, leases = (
            answer(reply) for reply in self._cluster.perform([pods_asked, claims_asked])
        )
        mine = _of(pods, controller.key)
        if not pods_asked.fresh and any(pod.leaving for pod in mine):
            (reply,) = self._cluster.perform([replace(pods_asked, fresh=True)])
            mine = _of(answer(reply), controller.key)
        found = claims_of(of_kind(Lease, leases), controller.uid)
        slot = next((claim.slot for claim in found if claim.holder == holder), None)
        placed = [Placed.of(pod) for pod in mine if not pod.leaving and not pod.released]
        return slot, count_floor(wanted.floor, placed, found, self._clock.now(), CLAIM_EXPIRY)


def _in_floor(message: str, slot: int | None = None) -> Choice:
    return Choice(Chosen(Capacity.ON_DEMAND, Reason.IN_FLOOR, message, is_required=True), slot)


def _siblings(namespace: str, labels: dict[str, str]) -> Selection[Pod]:
    """The pods that may hold the floor: placed on on-demand, of the same template."""
    selected = [f"{names.CAPACITY}={Capacity.ON_DEMAND}"]
    selected += [f"{key}={labels[key]}" for key in names.HASHES if key in labels]
    return Selection(Pod, namespace, labels=",".join(selected), fields=NOT_FINISHED)


def _of(pods: object, controller_key: str) -> Sequence[Pod]:
    """The listed pods of a controller."""
    return [pod for pod in of_kind(Pod, pods) if pod.controller_key == controller_key]
