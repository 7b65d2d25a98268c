"""Keeping the view up to date: watches, and reads of what they do not show."""

from collections.abc import Collection
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from evenkeel.errors import ClusterError, NotFoundError
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.sync import first_reads
from evenkeel.flows.drain.sync.owners import AFTER_A_FAILURE, Owners
from evenkeel.flows.drain.sync.reads import Reads
from evenkeel.flows.drain.sync.unwatched import Unwatched
from evenkeel.flows.drain.sync.watches import Watches
from evenkeel.flows.reads import is_unanswered
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.metrics import Metric
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Change, Get, List, Listing, Relisted, Request, Selection
from evenkeel.model.workload import ReplicaSet
from evenkeel.ports import Clock, Recorder, Reply, Session

LOOK_AFTER = timedelta(seconds=1)
"""How often to look for what has to be watched or read by now."""

READ_BUDGETS_AFTER = timedelta(seconds=1)
"""How old a budget's counts may get while a voluntary move hangs on them."""


class Informer:
    """Watches the objects concerned, and tells the view what happens to them."""

    def __init__(
        self,
        session: Session,
        view: View,
        owners: Owners,
        labels: CapacityLabels,
        recorder: Recorder,
        clock: Clock,
    ) -> None:
        """The session is the invocation's; the view is gathered. ``labels`` tell what is spot."""
        self._view = view
        self._owners = owners
        self._labels = labels
        self._recorder = recorder
        self._clock = clock
        self._watches = Watches(session, view, self._relisted)
        self._unwatched = Unwatched(session, view)
        self._budget_reads = Reads[str](session, self._see_budgets)  # of namespaces
        self._node_reads = Reads[str](session, self._see_node)
        self._ask_for_nodes_at = clock.now()
        self._budgets_read_at: dict[str, datetime] = {}
        self._look_at: datetime | None = None

    def follow(self, now: datetime) -> None:
        """Watch the marks, the workloads concerned, and the other released pods."""
        self._watches.watch(selections.MARKED_NODES, now)
        self._watches.follow(now)

    def refused(self, request: Request, error: ClusterError) -> None:
        """A watch is refused: its selection is listed every ten seconds."""
        self._recorder.counted(Metric.WATCHES_REFUSED)
        self._recorder.noted(f"{request} is not watched: {error}", error=type(error).__name__)
        if isinstance(request, List):
            self._watches.refused(request.selection)

    def keep(self, held_namespaces: Collection[str], now: datetime) -> None:
        """Ask for what has to be known, or known anew; watch what is new.

        ``held_namespaces``: where voluntary moves hang on budgets.
        """
        if self._owners.catch_up(now):
            self.follow(now)
        self._keep_budgets(held_namespaces, now)
        self._ask_for_nodes(now)
        if self._look_at is None or now >= self._look_at:
            self._look_at = now + LOOK_AFTER
            self._watches.follow(now)
            self._watches.list_again(now)
            self._unwatched.read_again(now)

    @property
    def is_asking(self) -> bool:
        """Whether something was asked that plans depend on, and has no answer yet."""
        return self._owners.busy or bool(self._node_reads or self._view.unknown_nodes)

    @property
    def is_blind(self) -> bool:
        """Whether a watch has not shown yet what there is."""
        return self._watches.are_blind

    def _ask_for_nodes(self, now: datetime) -> None:
        """Read the nodes that plans depend on, a few at a time; none right after a failure."""
        if now < self._ask_for_nodes_at:
            return
        for name in self._node_reads.some(sorted(self._view.unknown_nodes), 8):
            self._node_reads.send(name, Get(Node, name))

    def _keep_budgets(self, namespaces: Collection[str], now: datetime) -> None:
        """Read the budgets of these namespaces again when what is known of them is old.

        The one that was not read for longest comes first.
        """
        known = self._budgets_read_at
        old = [
            namespace
            for namespace in namespaces
            if namespace not in known or now - known[namespace] >= READ_BUDGETS_AFTER
        ]
        old.sort(key=lambda namespace: (namespace in known, known.get(namespace, now), namespace))
        for namespace in self._budget_reads.some(old, 8):
            known[namespace] = now
            request = List(Selection(PodDisruptionBudget, namespace))
            self._budget_reads.send(namespace, request)

    def _see_node(self, name: str, reply: Reply) -> None:
        """Take what became of a node; one that is not there is gone for good.

        Where the API server did not answer, the node is asked for again.
        """
        if reply.error is not None and is_unanswered(reply.error):
            self._ask_for_nodes_at = self._clock.now() + AFTER_A_FAILURE
            return
        wanted_by = self._view.unknown_nodes.pop(name, set())
        if isinstance(reply.result, Node):
            self._view.capacities[name] = self._labels.of(reply.result)
            self._view.kept_empty[name] = reply.result.is_kept_empty
            self._view.queue.add(wanted_by)
        elif isinstance(reply.error, NotFoundError):
            self._view.lose_node(name)

    def _see_budgets(self, namespace: str, reply: Reply) -> None:
        if not isinstance(reply.result, Listing):
            return
        budgets = [b for b in reply.result.items if isinstance(b, PodDisruptionBudget)]
        if list(self._view.objects_in(namespace).budgets) != budgets:
            first_reads.put_budgets(self._view, namespace, budgets)
            pods = self._view.pods
            self._view.queue.add(pods.controllers_of(p for p in pods if p.namespace == namespace))

    def on_event(self, arrival: Relisted[Any] | Change[Any]) -> None:
        """Take note of what a watch shows."""
        self._watches.saw(arrival)
        match arrival:
            case Relisted():
                self._relisted(arrival)
            case Change(object=Pod() as pod, deleted=True):
                self._view.pods.miss(pod.uid, pod.revision)
            case Change(object=Pod() as pod):
                self._view.pods.see(pod)
            case Change(object=Node() as node, deleted=True):
                self._view.miss_node(node.name)
            case Change(object=Node() as node):
                self._view.see_node(node)
            case Change(object=ReplicaSet() as replica_set, deleted=True):
                self._view.miss_controller(replica_set.key)
            case Change(object=ReplicaSet() as replica_set):
                self._view.see_controller(replica_set)
            case _:
                pass

    def _relisted(self, arrival: Relisted[Any]) -> None:
        selection, items = arrival.selection, arrival.listing.items
        if selection.kind is Node:
            self._view.relist_nodes(items)
        elif selection.kind is Pod:
            selects = partial(self._watches.selects, selection)
            revision = arrival.listing.revision
            pods = self._view.pods  # all those of its workloads are known now
            pods.relist(items, revision, selects, whole=selection, urgent=True)
        else:
            for item in items:
                self._view.see_controller(item, urgent=True)
