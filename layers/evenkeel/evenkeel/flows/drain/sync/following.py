"""Keeping the view up to date: watches, new nodes, and budgets that hold something back."""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta

from evenkeel.errors import NotFoundError
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.streams import Streams
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.sync import reading
from evenkeel.flows.drain.sync.new_nodes import NewNodes
from evenkeel.flows.drain.sync.reads import Reads
from evenkeel.flows.drain.sync.unwatched import Unwatched
from evenkeel.model import names
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Change, Get, List, Listing, Relisted, Selection
from evenkeel.model.surroundings import PodDisruptionBudget
from evenkeel.model.workload import ReplicaSet
from evenkeel.ports import Arrival, Cluster, Reply, Session

READ_BUDGETS_AFTER = timedelta(seconds=1)
"""How old a budget's counts may get while a voluntary move hangs on them."""


class Follower:
    """Follows what happens to the objects concerned, and says of whom there is news."""

    def __init__(
        self, cluster: Cluster, session: Session, view: View, labels: CapacityLabels
    ) -> None:
        """The ports are the invocation's; the view is gathered. ``labels`` tell what is spot."""
        self._session = session
        self._view = view
        self._labels = labels
        self._followed: dict[str, Selection[Pod]] = {}
        self._unseen: dict[object, frozenset[str]] = {}
        self._new_nodes = NewNodes(cluster, session, view)
        self._unwatched = Unwatched(session, view, self._tell)
        self._selects: dict[object, Callable[[Pod], bool]] = {}
        self._budget_reads = Reads[str](session, self._see_budgets)  # of namespaces
        self._node_reads = Reads[str](session, self._see_node)
        self._capacity_reads = Reads[str](session, self._see_capacity)  # of nodes
        self._budgets_read_at: dict[str, datetime] = {}
        self.news: set[str] = set()
        self.streams = Streams()

    def _tell(self, controllers: Iterable[str]) -> None:
        self.news.update(controllers)

    def take_news(self) -> set[str]:
        """The controllers of which there was news, and none from now on."""
        news, self.news = self.news, set()
        return news

    def follow(self, now: datetime) -> None:
        """Watch the marks, the released pods, and the ReplicaSets concerned with their pods."""
        self._session.watch(selections.MARKED_NODES)
        self._selects[selections.RELEASED_PODS] = lambda pod: pod.bears_release
        self._unseen[selections.RELEASED_PODS] = frozenset()
        self._session.watch(selections.RELEASED_PODS)
        self._follow_hashes(now)

    def is_fresh(self, template_hash: str, now: datetime) -> bool:
        """Whether all pods of a template hash, owned and released, are known as of a moment ago."""
        if not self.shows_all_of(template_hash):
            return False
        return self.streams.is_fresh(self._followed[template_hash], now)

    def wrote(self, pod: Pod, sent_at: datetime) -> None:
        """A write to a pod was accepted, which was sent then."""
        self.streams.wrote(self._followed.get(pod.template_hash), pod.revision, sent_at)

    @property
    def busy(self) -> bool:
        """Whether news wait to be planned for, or a question about a node has no answer yet."""
        asks = self._new_nodes.busy or self._node_reads or self._capacity_reads
        return bool(self.news or asks or self._view.unknown_capacities)

    @property
    def is_blind(self) -> bool:
        """Whether a watch has not shown yet what there is."""
        return bool(self._unseen)

    def shows_all_of(self, template_hash: str) -> bool:
        """Whether all pods of a template hash, owned and released, have been seen.

        Until then a count would be of those alone that happen to run on doomed nodes.
        """
        if template_hash not in self._followed or selections.RELEASED_PODS in self._unseen:
            return False
        return not any(template_hash in hashes for hashes in self._unseen.values())

    def gather_new_nodes(self, now: datetime) -> set[str]:
        """Ask about nodes that were doomed meanwhile, and take what is known of them by now.

        The controllers that have to be planned for at once. Raises ClusterError.
        """
        self._new_nodes.ask()
        news = self._new_nodes.take(now)
        if news:
            self._follow_hashes(now)
        return news

    def read_again(self, now: datetime) -> None:
        """Ask what became of the pods that no watch shows, now and then."""
        self._unwatched.read_again(now)

    def ask_for_capacities(self) -> None:
        """Ask of which capacity type nodes are, where somebody has to know; a few at a time."""
        reads = self._capacity_reads
        unknown = self._view.unknown_capacities.keys() - reads.subjects
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

    def _see_node(self, name: str, reply: Reply) -> None:
        """Take what became of a node that was marked."""
        if isinstance(reply.error, NotFoundError):
            self.news |= self._view.lose_node(name)

    def _see_capacity(self, name: str, reply: Reply) -> None:
        wanted_by = self._view.unknown_capacities.pop(name, set())
        if isinstance(reply.result, Node):
            self._view.capacities[name] = self._labels.of(reply.result)
            self.news |= wanted_by

    def _see_budgets(self, namespace: str, reply: Reply) -> None:
        if not isinstance(reply.result, Listing):
            return
        budgets = [b for b in reply.result.items if isinstance(b, PodDisruptionBudget)]
        if list(self._view.surroundings_of(namespace).budgets) != budgets:
            reading.put_budgets(self._view, namespace, budgets)
            pods = self._view.pods
            self.news |= pods.controllers_of(p for p in pods if p.namespace == namespace)

    def absorb(self, arrival: Arrival) -> None:
        """Take note of what a watch shows."""
        self.streams.saw(arrival)
        match arrival:
            case Relisted():
                self._relisted(arrival)
            case Change(object=Pod() as pod, deleted=deleted):
                pods = self._view.pods
                news = pods.miss(pod.uid, pod.revision) if deleted else pods.see(pod)
                if news is not None:
                    self.news.add(news)
            case Change(object=Node() as node, deleted=True):
                self._view.miss_node(node.name)
                self._ask_about([node.name])
            case Change(object=Node() as node):
                self._view.see_node(node)
            case Change(object=ReplicaSet() as replica_set, deleted=True):
                self._view.controllers.pop(replica_set.key, None)
                self.news.add(replica_set.key)
            case Change(object=ReplicaSet() as replica_set):
                self.news |= self._view.see_controller(replica_set)
            case _:
                pass

    def _relisted(self, arrival: Relisted[KubernetesObject]) -> None:
        items = arrival.listing.items
        selection = arrival.selection
        self.news |= self._first_seen(self._unseen.pop(selection, frozenset()))
        if selection.kind is Node:
            before = set(self._view.nodes)
            self._view.relist_nodes([item for item in items if isinstance(item, Node)])
            self._ask_about(before - set(self._view.nodes))
        elif selection.kind is Pod:
            pods = [item for item in items if isinstance(item, Pod)]
            revision = arrival.listing.revision
            self.news |= self._view.pods.relist(pods, revision, self._selects[selection])
        else:
            for item in items:
                if isinstance(item, ReplicaSet):
                    self.news |= self._view.see_controller(item)

    def _ask_about(self, names: Iterable[str]) -> None:
        """Nodes left the marked ones: those with released pods are given back, or gone."""
        bearing = {pod.spec.node_name for pod in self._view.pods.active if pod.released}
        for name in sorted(bearing.intersection(names)):
            self._node_reads.send(name, Get(Node, name))

    def _follow_hashes(self, now: datetime) -> None:
        """Watch the template hashes of the pods seen that are not watched yet.

        Only of those that a ReplicaSet selects, or would if it got them back: anybody may write
        labels, and each selection is a watch of its own.
        """
        seen = {
            pod.template_hash for pod in self._view.pods.active if self._view.is_of_replica_set(pod)
        }
        for hashes in selections.chunks_of(seen - self._followed.keys() - {""}):
            self._follow_together(frozenset(hashes), now)

    def _follow_together(self, hashes: frozenset[str], now: datetime) -> None:
        """Watch these template hashes by one selection."""
        selection = selections.pods_of_hashes(hashes)
        self._followed |= dict.fromkeys(hashes, selection)
        values = selections.with_released(hashes)
        self._selects[selection] = lambda pod: (
            pod.metadata.labels.get(names.TEMPLATE_HASH) in values
        )
        self.streams.began(selection, now)
        replica_sets = selections.replica_sets_of_hashes(hashes)
        self._unseen |= {selection: hashes, replica_sets: hashes}
        self._session.watch(selection)
        self._session.watch(replica_sets)

    def _first_seen(self, hashes: Collection[str]) -> set[str]:
        """The controllers of the pods of these hashes: now they can be counted."""
        pods = self._view.pods
        return pods.controllers_of(pod for pod in pods.active if pod.template_hash in hashes)
