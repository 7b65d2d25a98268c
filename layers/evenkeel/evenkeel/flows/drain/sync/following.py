"""Keeping the view up to date: watches, new nodes, and budgets that hold something back."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from evenkeel.errors import ClusterError, NotFoundError
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.sync import reading
from evenkeel.flows.drain.sync.reads import Reads
from evenkeel.flows.drain.sync.unwatched import Unwatched
from evenkeel.flows.drain.sync.watches import Watches
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.metrics import Metric
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Change, Get, List, Listing, Relisted, Request, Selection
from evenkeel.model.surroundings import PodDisruptionBudget
from evenkeel.model.workload import ReplicaSet
from evenkeel.ports import Recorder, Reply, Session

LOOK_AFTER = timedelta(seconds=1)
"""How often to look for what has to be watched or read by now."""

READ_BUDGETS_AFTER = timedelta(seconds=1)
"""How old a budget's counts may get while a voluntary move hangs on them."""


class Follower:
    """Follows what happens to the objects concerned, and says of whom there is news."""

    def __init__(
        self, session: Session, view: View, labels: CapacityLabels, recorder: Recorder
    ) -> None:
        """The session is the invocation's; the view is gathered. ``labels`` tell what is spot."""
        self._view = view
        self._labels = labels
        self._recorder = recorder
        self._watches = Watches(session, view, self._relisted)
        self._unwatched = Unwatched(session, view, self._watches)
        self._budget_reads = Reads[str](session, self._see_budgets)  # of namespaces
        self._lost_reads = Reads[str](session, self._see_lost)  # of nodes that left the marked ones
        self._node_reads = Reads[str](session, self._see_node)
        self._budgets_read_at: dict[str, datetime] = {}
        self._look_at: datetime | None = None
        self.shows = self._watches.show
        self.lags = self._watches.lag
        self.is_fresh = self._watches.are_fresh

    def follow(self, now: datetime) -> None:
        """Watch the marks, the workloads concerned, and the other released pods."""
        self._watches.watch(selections.MARKED_NODES, now)
        self._watches.follow(now)

    def wrote(self, pod: Pod, sent_at: datetime, now: datetime) -> None:
        """A write to a pod was accepted, which was sent then."""
        if stream := self._watches.stream_of(pod):
            stream.wrote(pod.revision, sent_at, now)

    def evicted(self, uid: str, sent_at: datetime) -> None:
        """An eviction or a delete of a pod is sent."""
        pod = self._view.pods.get(uid)
        if pod is not None and (stream := self._watches.stream_of(pod)):
            stream.evicted(uid, sent_at)

    def withdrawn(self, uid: str) -> None:
        """It was refused, or nobody knows what came of it."""
        pod = self._view.pods.get(uid)
        if pod is not None and (stream := self._watches.stream_of(pod)):
            stream.withdrawn(uid)

    def refused(self, request: Request, error: ClusterError) -> None:
        """A watch is refused: what it would show is listed now and then."""
        self._recorder.counted(Metric.WATCHES_REFUSED)
        self._recorder.noted(f"{request} is not watched: {error}", error=type(error).__name__)
        if isinstance(request, List):
            self._watches.refused(request.selection)

    @property
    def busy(self) -> bool:
        """Whether a question about a node has no answer yet."""
        return bool(self._lost_reads or self._node_reads or self._view.unknown_nodes)

    @property
    def is_blind(self) -> bool:
        """Whether a watch has not shown yet what there is."""
        return self._watches.are_blind

    def knows_all_of(self, pod: Pod, now: datetime) -> bool:
        """Whether all pods of a pod's workload, owned and released, have been seen.

        Until then a count would be of those alone that happen to run on doomed nodes.
        """
        controller = self._view.controllers.get(pod.origin_key)
        if controller is None:
            return False
        is_read = self._view.is_just_read(controller.key, now)
        return is_read or self._watches.show(selections.labels_of(controller))

    def read_again(self, now: datetime) -> None:
        """Ask what became of what no watch shows, or not in time, now and then."""
        if self._look_at is not None and now < self._look_at:
            return
        self._look_at = now + LOOK_AFTER
        self._watches.follow(now)
        self._watches.list_again(now)
        self._unwatched.read_again(now)

    def ask_for_nodes(self) -> None:
        """Read the nodes that plans depend on, a few at a time."""
        reads = self._node_reads
        unknown = self._view.unknown_nodes.keys() - reads.subjects
        for name in sorted(unknown)[: reads.room(8)]:
            reads.send(name, Get(Node, name))

    def keep_budgets(self, namespaces: Collection[str], now: datetime) -> None:
        """Read the budgets of these namespaces again when what is known of them is old.

        Whoever waited longest first, and no more at a time than a quarter of what the session
        carries out at once: what has to be written must not wait behind what is read.
        """
        reading = self._budget_reads.subjects
        known = self._budgets_read_at
        old = [
            namespace
            for namespace in namespaces
            if namespace not in reading
            and (namespace not in known or now - known[namespace] >= READ_BUDGETS_AFTER)
        ]
        old.sort(key=lambda namespace: (namespace in known, known.get(namespace, now), namespace))
        for namespace in old[: self._budget_reads.room(8)]:
            self._budgets_read_at[namespace] = now
            request = List(Selection(PodDisruptionBudget, namespace))
            self._budget_reads.send(namespace, request)

    def _see_lost(self, name: str, reply: Reply) -> None:
        """Take what became of a node that was marked."""
        if isinstance(reply.error, NotFoundError):
            self._view.queue.add(self._view.lose_node(name))

    def _see_node(self, name: str, reply: Reply) -> None:
        wanted_by = self._view.unknown_nodes.pop(name, set())
        if isinstance(reply.result, Node):
            self._view.capacities[name] = self._labels.of(reply.result)
            self._view.cordons[name] = reply.result.is_kept_empty
            self._view.queue.add(wanted_by)

    def _see_budgets(self, namespace: str, reply: Reply) -> None:
        if not isinstance(reply.result, Listing):
            return
        budgets = [b for b in reply.result.items if isinstance(b, PodDisruptionBudget)]
        if list(self._view.surroundings_of(namespace).budgets) != budgets:
            reading.put_budgets(self._view, namespace, budgets)
            pods = self._view.pods
            self._view.queue.add(pods.controllers_of(p for p in pods if p.namespace == namespace))

    def absorb(self, arrival: Relisted[Any] | Change[Any]) -> None:
        """Take note of what a watch shows."""
        self._watches.saw(arrival)
        match arrival:
            case Relisted():
                self._relisted(arrival)
            case Change(object=Pod() as pod, deleted=deleted):
                pods = self._view.pods
                news = pods.miss(pod.uid, pod.revision) if deleted else pods.see(pod)
                self._view.queue.add(news)
            case Change(object=Node() as node, deleted=True):
                self._view.miss_node(node.name)
                self._ask_about([node.name])
            case Change(object=Node() as node):
                self._view.see_node(node)
            case Change(object=ReplicaSet() as replica_set, deleted=True):
                self._view.controllers.pop(replica_set.key, None)
                self._view.queue.add([replica_set.key])
            case Change(object=ReplicaSet() as replica_set):
                self._view.queue.add(self._view.see_controller(replica_set))
            case _:
                pass

    def _relisted(self, arrival: Relisted[Any]) -> None:
        selection, items = arrival.selection, arrival.listing.items
        if selection.kind is Node:
            before = set(self._view.nodes)
            self._view.relist_nodes(items)
            self._ask_about(before - set(self._view.nodes))
        elif selection.kind is Pod:
            selects = partial(self._watches.selects, selection)
            revision = arrival.listing.revision
            news = self._view.pods.relist(items, revision, selects, whole=selection)
            self._view.queue.add(news, urgent=True)  # all its pods are known now
        else:
            for item in items:
                self._view.queue.add(self._view.see_controller(item), urgent=True)

    def _ask_about(self, names: Iterable[str]) -> None:
        """Nodes left the marked ones: those with released pods are given back, or gone."""
        bearing = {pod.spec.node_name for pod in self._view.pods.active if pod.released}
        for name in sorted(bearing.intersection(names)):
            self._lost_reads.send(name, Get(Node, name))
