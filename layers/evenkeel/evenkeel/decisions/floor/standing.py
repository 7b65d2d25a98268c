"""Where a workload stands: how many of its replicas are where, against its floor."""

from collections.abc import Callable, Iterable

import msgspec

from evenkeel.decisions.floor.source import FloorOf
from evenkeel.model.capacity import Capacity
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.floor import NONE
from evenkeel.model.pod import Pod

type Workload = Deployment | StatefulSet


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The replicas of a workload, counted by where they are.

    ``on_demand`` and ``spot`` are its active pods that have a node, ``waiting`` those that have
    none; ``released`` ones, which are being handed over, are in none of the three.
    ``survivors`` are Ready on on-demand nodes: what would be left if every spot node died now.
    ``why_waiting`` is the scheduler's word for one of those that wait.
    """

    workload: Workload
    floor: FloorOf
    is_managed: bool
    on_demand: int
    spot: int
    waiting: int
    released: int
    survivors: int
    why_waiting: str

    @property
    def replicas(self) -> int:
        """How many replicas are asked for."""
        return self.workload.spec.replicas

    @property
    def wanted(self) -> int:
        """How many of them are to be on on-demand nodes."""
        return self.floor.floor.of(self.replicas)

    @property
    def missing(self) -> int:
        """How many of a floor that somebody asked for are not on on-demand nodes."""
        return max(0, self.wanted - self.on_demand) if self.floor.is_asked else 0

    @property
    def unmet(self) -> int:
        """How many of a default floor are not on on-demand nodes. New pods prefer them."""
        return 0 if self.floor.is_asked else max(0, self.wanted - self.on_demand)

    @property
    def told_of_waiting(self) -> str:
        """How many of its pods wait for a node, and why, in the words that its pods have."""
        return told_of_waiting(self.waiting, self.why_waiting)

    @property
    def surplus(self) -> int:
        """How many more than its floor are on on-demand nodes, and are to go to spot."""
        return 0 if self.stays else max(0, self.on_demand - self.wanted)

    @property
    def stays(self) -> bool:
        """Whether its running pods stay where they are: nobody says what its floor is.

        That is so of a StatefulSet alone, for nothing runs in the place of an ordinal that moves.
        """
        return self.workload.default_floor != NONE and not self.floor.is_asked


def told_of_waiting(waiting: int, why: str) -> str:
    """How many of a workload's pods wait for a node, and what is said of one of them."""
    who = "1 of its pods waits" if waiting == 1 else f"{waiting} of its pods wait"
    return f"{who} for a node" + (f" ({why.rstrip('.')})" if why else "")


def stand(
    workload: Workload,
    floor: FloorOf,
    pods: Iterable[Pod],
    capacity: Callable[[Pod], Capacity | None],
    *,
    is_managed: bool,
) -> Standing:
    """Count a workload's pods, owned and released.

    ``capacity`` tells the capacity type of a pod's node; a pod without a known node waits.
    """
    counts = dict.fromkeys(("on_demand", "spot", "waiting", "released", "survivors"), 0)
    why = ""
    for pod in pods:
        its = capacity(pod)
        if not pod.active:
            continue
        if pod.released:
            counts["released"] += 1
        elif its is None:
            counts["waiting"] += 1
            why = why or _unschedulable(pod)
        elif its is Capacity.SPOT:
            counts["spot"] += 1
        else:
            counts["on_demand"] += 1
        counts["survivors"] += its is Capacity.ON_DEMAND and pod.ready
    return Standing(
        workload=workload,
        floor=floor,
        is_managed=is_managed,
        why_waiting=why,
        **counts,
    )


def _unschedulable(pod: Pod) -> str:
    """What is said of why a pod has no node."""
    told = pod.status.not_scheduled
    return told.message if told is not None else ""
