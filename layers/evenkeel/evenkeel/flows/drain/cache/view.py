"""What an invocation knows of the cluster, kept up to date from replies and watches.

Watches, reads and replies tell the view what they show: an object is so (``update``), is gone
(``delete``), or what was asked for is this and nothing else (``replace``). Pods, owners and nodes
are kept at their highest resource versions. The view, and the store of pods, add the workloads to
the queue whose plans depend on a change.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import partial
from typing import Any

import msgspec

from evenkeel.decisions.drain.owner import ReleasesRefused
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.candidates import Candidates
from evenkeel.flows.drain.cache.facts import Facts
from evenkeel.flows.drain.cache.groups import is_listed
from evenkeel.flows.drain.cache.nodes import MarkedNodes
from evenkeel.flows.drain.cache.owners import Owners
from evenkeel.flows.drain.cache.pods import Pods
from evenkeel.flows.drain.cache.seats import Seats
from evenkeel.flows.drain.cache.share import Share
from evenkeel.flows.drain.cache.stops import Stops
from evenkeel.flows.drain.cache.streams import Streams, is_recent
from evenkeel.flows.drain.cache.surroundings import Surroundings
from evenkeel.flows.drain.queue import NODES, Queue
from evenkeel.model import names
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.deployment import Deployment
from evenkeel.model.division import Division
from evenkeel.model.meta import KubernetesObject, Reference
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.pod_label import PodLabel
from evenkeel.model.pool import Pool
from evenkeel.model.request import Get, Selection
from evenkeel.model.seat import NewSeat, controller_key, is_seat


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """What a list of one workload by itself shows.

    - ``controller`` None: it is gone, if it was asked for.
    - ``pods`` are its own, at the ``revision`` of the oldest of the lists. None: they were read one
      by one, and ``gone`` are the uids of those that are not there.
    - ``siblings`` are the pods of its Deployment's other ReplicaSets; both are read in a rollout
      alone.
    """

    controller: Controller | None = None
    asked_for_controller: bool = True
    pods: Sequence[Pod] = ()
    gone: Collection[str] = ()
    revision: int | None = None
    deployment: Deployment | None = None
    siblings: Sequence[Pod] | None = None


class View:
    """The marked nodes, the pods concerned, who owns them, and what surrounds them.

    ``streams`` tell how old what the watches show is, ``facts`` how old what was read is.
    """

    def __init__(
        self,
        assumed: Mapping[str, NodeNotice] | None = None,
        node_pools: dict[str, Pool | None] | None = None,
        releases_refused: dict[str, ReleasesRefused] | None = None,
        share: Share | None = None,
        stops: Stops | None = None,
        most_seats: int = 0,
    ) -> None:
        """``assumed``, ``node_pools``: see ``MarkedNodes``; ``releases_refused``: see ``Owners``.

        ``share``: which pods are the reconciler's own; None: all of them. ``most_seats``: so many
        seats there may be.
        """
        self.queue = Queue()
        self.facts = Facts(self.queue)
        self.streams = Streams()
        self.share = share or Share()
        self.nodes = MarkedNodes(assumed, node_pools, self._node_changed)
        self.candidates = Candidates(self.facts, self.nodes)
        self.owners = Owners(releases_refused)
        self.pods = Pods(self.queue, self.owners.is_refused, self.share, stops)
        self.seats = Seats(self.queue, most_seats)
        self.surroundings = Surroundings()
        self.do_pods_return = False  # pods that no watch shows may come to dying nodes
        self.listed_at: dict[str, datetime] = {}  # by key: when its last list was asked for
        self._evicted_unlisted = defaultdict[str, set[str]](set)  # by key, before its first list

    def update(self, item: object, *, urgent: bool = False) -> None:
        """An object is so, as a watch, a read or the reply to a write shows."""
        match item:
            case Pod() if is_seat(item):
                self.seats.update(item)
            case NewSeat():
                self.seats.update(item.stored)
            case Pod():
                self.pods.update(item, urgent=urgent)
            case Node():
                self._update_node(item)
            case Controller() | Deployment() if self.owners.update(item):
                self.queue.add(self.owners.planned_with(item), urgent=urgent)

    def _update_node(self, node: Node) -> None:
        if self.nodes.seat(node):
            keys = {controller_key(seat) for seat in self.seats if seat.spec.node_name == node.name}
            self.queue.add([*keys, NODES], urgent=True)
        if names.DOOMED in node.metadata.labels:
            self.nodes.update(node)
        else:
            self.delete(node)

    def delete(self, item: object, *, urgent: bool = False) -> None:
        """An object is gone, or has left the selection of its watch, at its revision."""
        match item:
            case Pod() if is_seat(item):
                self.seats.delete(item)
            case Pod():
                self.pods.delete(item.uid, item.revision)
            case Node():
                self.delete_node(item.name)
            case Controller() | Deployment():
                concerned = self.owners.planned_with(item)
                if self.owners.delete(item):
                    self.queue.add(concerned, urgent=urgent)

    def delete_node(self, name: str) -> None:
        """A node is gone, or not marked any more: which, has to be read where it matters."""
        if self.nodes.delete(name):
            self.facts.invalidate(Get(Node, name))
            self.queue.add(self.pods.controllers_on(name))

    def replace(
        self,
        where: Selection[Any],
        items: Sequence[KubernetesObject],
        revision: int = 0,
        unread: str = "",
    ) -> None:
        """A selection has these objects and no others.

        It is that of all marked nodes, of the pods of a node or of groups, or of a namespace's
        objects of one kind; ``unread``: why those are not known.
        """
        if where == selections.HELD_NODES:
            for node in items:
                if isinstance(node, Node):
                    self.nodes.seat(node, is_new=True)
        elif where.kind is Node:
            nodes = {each.name: each for each in items if isinstance(each, Node)}
            for name in self.nodes.marked.keys() - nodes.keys():
                self.delete_node(name)
            for node in nodes.values():
                self.nodes.update(node)
        elif where == selections.SEATS:
            self.seats.replace([each for each in items if isinstance(each, Pod)])
        elif where.kind is Pod:
            self._replace_pods(where, [each for each in items if isinstance(each, Pod)], revision)
        elif self.surroundings.replace(where, items, unread):
            there = (pod for pod in self.pods if pod.namespace == where.namespace)
            is_urgent = where.kind is not PodDisruptionBudget  # each pod changes one
            self.queue.add(self.pods.controllers_of(there), urgent=is_urgent)

    def replace_owner(self, request: Get[Any], found: object) -> None:
        """Take what has a controller's name, or a Deployment's; what had it before is gone."""
        uid = found.uid if isinstance(found, KubernetesObject) else ""
        for each in self.owners.others_named(request, uid):
            self.delete(each, urgent=True)
        self.update(found, urgent=True)

    def replace_workload(self, key: str, listed: Listed, asked_at: datetime) -> None:
        """A workload was listed by itself, which was asked for then.

        What has changed is planned for before that grows old. In a rollout all is, because a
        Deployment's other pods are known from such lists alone.
        """
        if key not in self.listed_at:
            others = {pod.uid for pod in listed.pods if pod.active}
            self.owners.saw(key, len(others | self._evicted_unlisted.pop(key, set())))
        known = self.owners.controllers.get(key)
        if listed.controller is not None:
            self.update(listed.controller)
        elif listed.asked_for_controller:
            self.delete(known)
        if listed.revision is not None:
            self.pods.replace_controller(key, listed.pods, listed.revision)
        else:
            for pod in listed.pods:
                self.pods.update(pod)
        for uid in listed.gone:
            self.pods.delete(uid)
        self.update(listed.deployment)
        before = self.owners.siblings.pop(key, None)
        if listed.siblings is not None:
            self.owners.siblings[key] = {pod.uid: pod for pod in listed.siblings}
        owner = self.owners.above(self.owners.controllers.get(key))
        if listed.siblings is not None or owner.deployment_in_rollout is None:
            self.listed_at[key] = asked_at  # else a rollout has begun since, and it shows no others
        in_rollout = before is not None or listed.siblings is not None
        if in_rollout or self.queue.has_changed(key):
            self.queue.add([key], urgent=True)

    def lose_node(self, name: str) -> None:
        """A node is gone for good."""
        self.nodes.lose(name)
        beside = (
            key
            for key, siblings in self.owners.siblings.items()
            if any(pod.spec.node_name == name for pod in siblings.values())
        )
        self.queue.add(self.pods.controllers_on(name).union(beside))

    # Own writes.

    def wrote(self, pod: Pod, sent_at: datetime, now: datetime) -> None:
        """A write to a pod was accepted, which was sent then: its watch has to come that far."""
        if stream := self.streams.of(pod):
            stream.wrote(pod.revision, sent_at, now)

    def evicting(self, uid: str, sent_at: datetime) -> None:
        """An eviction or deletion of a pod is sent: it does not count from now on."""
        self.pods.assume_evicted(uid, sent_at)
        unknown = self.pods.controller_of(uid) - self.owners.controllers.keys()
        for key in unknown - self.listed_at.keys():
            self._evicted_unlisted[key].add(uid)
        if stream := self.streams.of(self.pods.get(uid)):
            stream.evicted(uid, sent_at)
        self._count_anew(uid)

    def write_failed(self, uid: str, *, stays: bool) -> None:
        """A write was refused. ``stays``: a pod is certainly there, and counts if it did not."""
        if stream := self.streams.of(self.pods.get(uid)):
            stream.withdrawn(uid)
        if stays:
            self.pods.undo_eviction(uid)
        self._count_anew(uid)

    def refuse_releases(self, key: str, words: str, now: datetime) -> bool:
        """Releases of a controller's pods are not taken; whether that was not known."""
        self.queue.add([key], urgent=True)
        return self.owners.refuse_releases(key, words, now)

    # How much is known.

    def is_fresh(self, key: str, labels: frozenset[PodLabel], now: datetime) -> bool:
        """Whether all that matters to a workload is known as of a moment ago.

        Either the watches of these labels show it, or it was listed by itself.
        """
        return self.streams.are_fresh(labels, now) or is_recent(self.listed_at.get(key), now)

    def knows_all_of(self, key: str, now: datetime) -> bool:
        """Whether all pods of a workload, owned and released, are known.

        Until then a count would be of those alone that happen to run on doomed nodes.
        """
        controller = self.owners.controllers.get(key)
        if controller is None:
            return False
        labels = controller.pod_labels
        return self.streams.show(labels) or is_recent(self.listed_at.get(key), now)

    def revision_of(self, reference: Reference) -> int:
        """How new what is known of an object is; -1 of one that is not known."""
        key = f"{reference.namespace}/{reference.uid}"
        found = (
            self.pods.get(reference.uid)
            or self.nodes.marked.get(reference.name)
            or self.owners.controllers.get(key)
            or self.owners.deployments.get(key)
        )
        return -1 if found is None else found.revision

    # Which pods matter.

    def divide(self, division: Division) -> None:
        """From now on only a share of the pods is the reconciler's own; the others are let go."""
        self.share.divide(division)
        for name in self.nodes.dooms:
            self.share.listed(name, self.pods.on(name))
        for pod in self.pods:
            if not self.share.has(pod):
                self.pods.delete(pod.uid)

    def await_pods_on(
        self, names: frozenset[str], landing: AbstractSet[str], emptying: AbstractSet[str]
    ) -> None:
        """On these nodes each pod that comes or goes may change what becomes of them.

        Of ``emptying`` that the last one leaves that is to go.

        Of these nodes those are listed again that have other reconcilers' pods, which no watch
        shows; and all of ``landing``, on which pods may land that no watch shows.
        """
        self.pods.awaited_on, self.pods.emptying = names, emptying
        self.candidates.need_again((self.share.others_on & names) | landing)

    def _replace_pods(self, where: Selection[Pod], pods: Sequence[Pod], revision: int) -> None:
        """All pods of a node, or all that are in a group.

        Nodes are planned for when other reconcilers' pods have left one.
        """
        node_name = where.fields.removeprefix(selections.ON_NODE)
        if node_name:
            before = node_name in self.share.others_on
            self.share.listed(node_name, pods)
            if before and node_name not in self.share.others_on:
                self.queue.add([NODES], urgent=True)
        among = self.pods.on(node_name) if node_name else self.pods
        is_there = partial(is_listed, where)
        self.pods.replace(pods, revision, is_there, among=among, urgent=True)

    def _count_anew(self, uid: str) -> None:
        """A pod begins or ceases to count, in a rollout for all ReplicaSets of its Deployment."""
        beside = (key for key, siblings in self.owners.siblings.items() if uid in siblings)
        self.queue.add(self.pods.controller_of(uid).union(beside))

    def _node_changed(self, name: str, plans_change: bool) -> None:  # noqa: FBT001 - a callback
        self.candidates.need([name])
        self.queue.add([NODES], urgent=True)
        if plans_change:
            self.queue.add(self.pods.controllers_on(name), urgent=True)
