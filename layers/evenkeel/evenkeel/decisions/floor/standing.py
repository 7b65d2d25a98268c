"""Where a workload stands: how many of its replicas are where, against its floor."""

from collections.abc import Iterable, Mapping

import msgspec

from evenkeel.decisions.floor.source import FloorOf
from evenkeel.model.capacity import Capacity
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.deployment import Deployment
from evenkeel.model.floor import NONE
from evenkeel.model.pod import Pod

type Movable = Deployment | StatefulSet


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The replicas of a workload, counted by where they are.

    ``on_demand`` and ``spot`` are its active pods that have a node, ``waiting`` those that have
    none; ``released`` ones, which are being handed over, are in none of the three.
    ``survivors`` are Ready on on-demand nodes: what would be left if every spot node died now.
    ``why_waiting`` is the scheduler's word for one of those that wait.

    ``wanted`` of its ``replicas`` are to be on on-demand nodes. ``missing`` are those of a floor
    that somebody asked for which are not there, and ``unmet`` those of a default one, which new
    pods prefer. ``surplus`` are on on-demand nodes and to go to spot. It ``stays`` where nobody
    says what its floor is, and none of its running pods goes: that is so of a StatefulSet, for
    nothing runs in the place of an ordinal that moves, and where nobody can tell what is said.
    """

    workload: Movable
    floor: FloorOf
    is_managed: bool
    on_demand: int
    spot: int
    waiting: int
    released: int
    survivors: int
    why_waiting: str
    replicas: int
    wanted: int
    missing: int
    unmet: int
    surplus: int
    stays: bool

    @property
    def told_of_waiting(self) -> str:
        """How many of its pods wait for a node, and why, in the words that its pods have."""
        waiting, why = self.waiting, self.why_waiting
        who = "1 of its pods waits" if waiting == 1 else f"{waiting} of its pods wait"
        return f"{who} for a node" + (f" ({why.rstrip('.')})" if why else "")


def stand(
    workload: Movable,
    floor: FloorOf,
    pods: Iterable[Pod],
    capacities: Mapping[str, Capacity],
    *,
    is_managed: bool,
) -> Standing:
    """Count a workload's pods, owned and released.

    ``capacities`` are the nodes' by their names; a pod without a known node waits.
    """
    on_demand = spot = waiting = released = survivors = 0
    why = ""
    for pod in pods:
        capacity = capacities.get(pod.spec.node_name)
        if not pod.active:
            continue
        if pod.released:
            released += 1
        elif capacity is None:
            waiting += 1
            told = pod.status.not_scheduled
            why = why or (told.message if told is not None else "")
        elif capacity is Capacity.SPOT:
            spot += 1
        else:
            on_demand += 1
        survivors += capacity is Capacity.ON_DEMAND and pod.ready
    wanted, is_asked = floor.floor.of(workload.spec.replicas), floor.is_asked
    short = max(0, wanted - on_demand)
    stays = not is_asked and (workload.default_floor != NONE or floor.is_unknown)
    return Standing(
        workload=workload,
        floor=floor,
        is_managed=is_managed,
        on_demand=on_demand,
        spot=spot,
        waiting=waiting,
        released=released,
        survivors=survivors,
        why_waiting=why,
        replicas=workload.spec.replicas,
        wanted=wanted,
        missing=short if is_asked else 0,
        unmet=0 if is_asked else short,
        surplus=0 if stays else max(0, on_demand - wanted),
        stays=stays,
    )
