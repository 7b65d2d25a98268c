"""Which way each pod would go, asked of Evenkeel's own decision before anything happens."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from evenkeel.adapters.clock import SystemClock
from evenkeel.decisions.drain import gangs
from evenkeel.decisions.drain.gangs import Gang, Together
from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.returning import RECOMMENDATION, Drain
from evenkeel.decisions.drain.route import NO_PLACE_IS_KNOWN, PlaceSought, Route, route_of
from evenkeel.flows import reads
from evenkeel.flows.drain import room_search
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.room_search import RoomRequest
from evenkeel.flows.drain.sync import reader
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.meta import Reference
from evenkeel.model.pod import Pod
from evenkeel.model.request import List, Selection
from evenkeel.model.way import Way
from evenkeel.ports import Clock, Cluster
from evenkeel_hosting.memory import InMemoryRecorder


@dataclass(frozen=True, slots=True)
class Situation:
    """A pod with its owner and what surrounds it, as they were at ``now``.

    ``lacks``: it was asked, and no other node is known to take it; empty: one is, or nobody asked.
    """

    pod: Pod
    owner: Owner
    namespace_objects: NamespaceObjects
    now: datetime
    lacks: str = ""

    @property
    def workload(self) -> Reference:
        """What a person would name: the top of its owners, or the pod itself."""
        top = self.owner.workload
        if top is not None:
            return Reference(kind=top.kind, namespace=top.namespace, name=top.name)
        reference = self.pod.controller
        if reference is not None:
            namespace = self.pod.namespace
            return Reference(kind=reference.full_kind, namespace=namespace, name=reference.name)
        return Reference(kind="Pod", namespace=self.pod.namespace, name=self.pod.name)

    @property
    def budgets(self) -> Sequence[PodDisruptionBudget]:
        """The disruption budgets that select the pod."""
        return self.namespace_objects.budgets_of(self.pod)

    def way_for(self, drain: Drain, together: Together | None = None) -> Route:
        """How it would go in this drain. ``together``: its gang is broken by what dies."""
        place = PlaceSought(lacks=self.lacks) if self.lacks else None
        around = self.namespace_objects
        return route_of(self.pod, self.owner, around, drain, self.now, place, together)

    @property
    def gang(self) -> Gang | None:
        """The gang that it is one of."""
        return gangs.gang_of(self.pod, self.owner, self.namespace_objects)


def situations(
    cluster: Cluster,
    selections: Sequence[Selection[Pod]],
    clock: Clock | None = None,
    known: View | None = None,
) -> list[Situation]:
    """Read the selected pods and what bears on how they go. Raises ClusterError.

    ``known``: who looks again and again gives the same one each time. Owners and namespaces that
    it has are not read again, and it gets those that are read.
    """
    view = View() if known is None else known
    clock = clock or SystemClock()
    pods: dict[str, Pod] = {}
    for listed in reads.list_all(cluster, [List(selection) for selection in selections]):
        pods |= {pod.uid: pod for pod in listed}
    for pod in pods.values():
        view.pods.update(pod)
    reader.read_facts(cluster, view, WELL_KNOWN, InMemoryRecorder(), clock)
    return [
        Situation(pod, view.owners.of(pod), view.surroundings.of(pod.namespace), clock.now())
        for pod in pods.values()
    ]


def with_places(
    cluster: Cluster, labels: CapacityLabels, found: Sequence[Situation]
) -> list[Situation]:
    """The same of the pods of one node, and whether others would take them. Raises ClusterError."""
    asking = [each for each in found if each.way_for(RECOMMENDATION).way is Way.BY_ORDINAL]
    if not asking:
        return list(found)
    requests = [RoomRequest.of("", each.pod, each.namespace_objects.claims) for each in asking]
    doomed = {each.pod.spec.node_name for each in asking}
    there = room_search.find(cluster, labels, requests, doomed)
    missing = {each.pod.uid for each in asking} - there.nodes.keys()
    lacks = {uid: there.lacks.get(uid, NO_PLACE_IS_KNOWN) for uid in missing}
    return [replace(each, lacks=lacks.get(each.pod.uid, "")) for each in found]
