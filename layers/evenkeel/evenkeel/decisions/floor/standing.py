"""Where a workload stands: how many of its replicas are where, against its floor."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from evenkeel.decisions.floor.source import FloorOf
from evenkeel.decisions.gate.waiting import Waiting, waiting
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.template import is_by_template
from evenkeel.model.workload import Deployment, StatefulSet

type Workload = Deployment | StatefulSet


class Remark(msgspec.Struct, frozen=True):
    """What is off, in a word or two, and what to do about it.

    ``warning``: replicas are at risk because of it.
    """

    reason: Reason
    brief: str
    message: str
    warning: bool = False


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The replicas of a workload, counted by where they are.

    ``on_demand`` and ``spot`` are its active pods that have a node, ``waiting`` those that have
    none; ``released`` ones, which are being handed over, are in none of the three. ``evictions`` of
    its pods wait at the gate.
    ``survivors`` are Ready on on-demand nodes: what would be left if every spot node died now.
    ``why_waiting`` is the scheduler's word for one of those that wait.
    """

    workload: Workload
    floor: FloorOf
    is_managed: bool
    on_demand: int = 0
    spot: int = 0
    waiting: int = 0
    released: int = 0
    survivors: int = 0
    why_waiting: str = ""
    evictions: Sequence[Waiting] = ()

    @property
    def replicas(self) -> int:
        """How many replicas are asked for."""
        return self.workload.spec.replicas

    @property
    def wanted(self) -> int:
        """How many of them have to be on on-demand nodes."""
        return self.floor.floor.of(self.replicas)

    @property
    def missing(self) -> int:
        """How many of the floor are not on on-demand nodes."""
        return max(0, self.wanted - self.on_demand)

    @property
    def surplus(self) -> int:
        """How many more than its floor are on on-demand nodes."""
        return max(0, self.on_demand - self.wanted)

    @property
    def remarks(self) -> Sequence[Remark]:
        """What is off, worst first; nothing where all is as its owner wants it."""
        found = []
        if self.missing:
            found.append(self._missing())
        elif self.survivors < self.wanted:
            down = self.wanted - self.survivors
            message = f"{down} of its floor of {self.wanted} are not Ready: see their events"
            found.append(Remark(Reason.FLOOR_NOT_READY, f"{down} not Ready", message, warning=True))
        if self.floor.problem:
            brief = "floor unreadable"
            found.append(Remark(Reason.FLOOR_UNREADABLE, brief, self.floor.problem, warning=True))
        if self.released:
            message = f"{self.released} pods are being handed over: they leave when replaced"
            found.append(Remark(Reason.MOVING, f"{self.released} moving", message))
        if self.evictions:
            number = len(self.evictions)
            brief = "1 eviction waits" if number == 1 else f"{number} evictions wait"
            messages = "; ".join(each.message for each in self.evictions)
            found.append(Remark(Reason.EVICTIONS_WAIT, brief, messages))
        if self.surplus and self.is_managed and not is_by_template(self.workload):
            message = (
                f"{self.surplus} more than its floor of {self.wanted} are on on-demand nodes:"
                " restore moves them to spot, one at a time"
            )
            found.append(Remark(Reason.ABOVE_FLOOR, f"{self.surplus} above its floor", message))
        return found

    def _missing(self) -> Remark:
        brief = f"{self.missing} below its floor"
        start = f"{self.missing} of its floor of {self.wanted} are not on on-demand nodes"
        if not self.is_managed:
            reason, remedy = (
                Reason.NOT_MANAGED,
                (
                    ", because its pods are not placed: label the namespace"
                    f" {names.MANAGED}=true, then restart its rollout"
                ),
            )
        elif self.waiting:
            why = f" ({self.why_waiting})" if self.why_waiting else ""
            reason = Reason.NO_ROOM
            remedy = f"; {self.waiting} wait for a node{why}: add on-demand capacity"
        elif is_by_template(self.workload):
            reason, remedy = Reason.BELOW_FLOOR, ": its template places its pods"
        else:
            reason, remedy = Reason.BELOW_FLOOR, ": restore moves pods there, one at a time"
        return Remark(reason, brief, f"{start}{remedy}", warning=True)


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
    evictions = []
    for pod in pods:
        its = capacity(pod)
        if not pod.active:
            continue
        eviction = waiting(pod)
        if eviction is not None:
            evictions.append(eviction)
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
        evictions=evictions,
        **counts,
    )


def _unschedulable(pod: Pod) -> str:
    """What the scheduler says of a pod that it finds no node for."""
    return next(
        (
            condition.message
            for condition in pod.status.conditions
            if condition.type == "PodScheduled" and condition.status == "False"
        ),
        "",
    )
