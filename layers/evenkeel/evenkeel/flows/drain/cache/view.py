"""What an invocation knows of the cluster, kept up to date from replies and watches."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

import msgspec

from evenkeel.decisions.drain.deadlines import Deadline, node_deadline
from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.drain.owner import Owner, ReleasesRefused
from evenkeel.decisions.notice import mark
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.facts import SOON_AGAIN_AFTER, Facts
from evenkeel.flows.drain.cache.groups import is_listed
from evenkeel.flows.drain.cache.pods import Pods
from evenkeel.flows.drain.cache.share import Share
from evenkeel.flows.drain.cache.streams import Streams, is_recent
from evenkeel.flows.drain.queue import NODES, Queue
from evenkeel.model import names
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.kinds import RELEASING
from evenkeel.model.deployment import Deployment
from evenkeel.model.division import Division
from evenkeel.model.meta import KubernetesObject, Reference
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.pod_label import PodLabel
from evenkeel.model.pool import Pool
from evenkeel.model.request import Get, Selection

REFUSED_FOR: Final = timedelta(minutes=5)
"""So long no release is tried again of a workload whose releases are not taken."""


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

    Each change adds the workloads to ``queue`` whose plans depend on it, and the nodes. ``streams``
    tell how old what the watches show is.
    """

    def __init__(
        self,
        assumed: Mapping[str, NodeNotice] | None = None,
        node_pools: dict[str, Pool | None] | None = None,
        releases_refused: dict[str, ReleasesRefused] | None = None,
        share: Share | None = None,
    ) -> None:
        """``assumed`` are notices that no node carries, by node name: observe mode's.

        ``node_pools``: in which pool nodes are, None: on-demand, as far as it was read before.
        ``releases_refused``: of which controllers, by key, releases were refused before.
        ``share``: which pods are the reconciler's own; None: all of them.
        """
        self.queue = Queue()
        self.facts = Facts(self.queue)
        self._assumed = dict(assumed or {})
        self.nodes: dict[str, Node] = {}
        self.lost_nodes: set[str] = set()
        self.warned: dict[str, Node] = {}  # all nodes seen with a warning, also those that are gone
        self.notices: Mapping[str, NodeNotice] = self._assumed
        self.dooms: Mapping[str, NodeNotice] = self._assumed
        self.share = share or Share()
        self.pods = Pods(self.queue, self.is_refused, self.share)
        self.streams = Streams()
        self.controllers: dict[str, Controller] = {}  # by key, see pods
        self.deployments: dict[str, Deployment] = {}  # by key
        self.siblings: dict[str, Mapping[str, Pod]] = {}  # by key: what its Deployment's others own
        self.namespace_objects: dict[str, NamespaceObjects] = {}
        self._objects = defaultdict[str, dict[type, tuple[Sequence[KubernetesObject], str]]](dict)
        self.node_pools = {} if node_pools is None else node_pools
        self.releases_refused = {} if releases_refused is None else releases_refused
        self.do_pods_return = False  # pods that no watch shows may come to dying nodes
        self.kept_empty: dict[str, bool] = {}  # whether a node is drained, as far as it was read
        self.listed_at: dict[str, datetime] = {}  # by key: when its last list was asked for
        self._listed_again: AbstractSet[str] = frozenset()  # doomed nodes
        self._most_seen: dict[str, int] = {}  # by key
        self._evicted_unlisted = defaultdict[str, set[str]](set)  # by key, before its first list
        self.minimums: dict[str, int] = {}  # by uid: how many pods of a ReplicaSet are to stay

    @property
    def unread(self) -> frozenset[str]:
        """The doomed nodes whose pods were not read yet."""
        know = self.facts.know
        if not self.facts.are_missing:
            return frozenset()
        return frozenset(each for each in self.dooms if not know([selections.candidates_on(each)]))

    def doomed(self) -> AbstractSet[str]:
        """The names of the doomed nodes."""
        return self.dooms.keys()

    @property
    def uids(self) -> frozenset[str]:
        """The uids of all pods and marked nodes seen."""
        return frozenset(item.uid for item in (*self.pods, *self.nodes.values()))

    def see(self, item: object, *, urgent: bool = False) -> None:
        """Take note of what a watch, a read or the reply to a write shows: an object as it is."""
        match item:
            case Pod():
                self.pods.see(item, urgent=urgent)
            case Node() if names.DOOMED in item.metadata.labels:
                self._see_node(item)
            case Node():
                self.miss_node(item.name)
            case Deployment():
                if _is_news(self.deployments, item):
                    self.queue.add(self._below(item.key), urgent=urgent)
            case Controller():
                if _is_news(self.controllers, item):
                    self.queue.add([item.key], urgent=urgent)

    def miss(self, item: object, *, urgent: bool = False) -> None:
        """An object is gone, or has left the selection of its watch, at its revision."""
        match item:
            case Pod():
                self.pods.miss(item.uid, item.revision)
            case Node():
                self.miss_node(item.name)
            case Deployment():
                if self.deployments.pop(item.key, None) is not None:
                    self.queue.add(self._below(item.key), urgent=urgent)
            case Controller():
                if self.controllers.pop(item.key, None) is not None:
                    self.queue.add([item.key], urgent=urgent)

    def _see_node(self, node: Node) -> None:
        known = self.nodes.get(node.name)
        if known is None or known.uid != node.uid or known.revision < node.revision:
            self.nodes[node.name] = node
            self.lost_nodes.discard(node.name)
            self._read_notice(node.name, node, known)

    def relist_nodes(self, nodes: Sequence[Node]) -> None:
        """These nodes and no others are marked."""
        for name in self.nodes.keys() - {node.name for node in nodes}:
            self.miss_node(name)
        for node in nodes:
            self._see_node(node)

    def miss_node(self, name: str) -> None:
        """A node is gone, or not marked any more: which, has to be read where it matters."""
        if self._unmark(name):
            self.facts.forget(Get(Node, name))
            self.queue.add(self.pods.controllers_on(name))

    def lose_node(self, name: str) -> None:
        """A node is gone for good."""
        self._unmark(name)
        self.lost_nodes.add(name)
        beside = (
            key
            for key, siblings in self.siblings.items()
            if any(pod.spec.node_name == name for pod in siblings.values())
        )
        self.queue.add(self.pods.controllers_on(name).union(beside))

    def wrote(self, pod: Pod, sent_at: datetime, now: datetime) -> None:
        """A write to a pod was accepted, which was sent then: its watch has to come that far."""
        if stream := self.streams.of(pod):
            stream.wrote(pod.revision, sent_at, now)

    def evicting(self, uid: str, sent_at: datetime) -> None:
        """An eviction or deletion of a pod is sent: it does not count from now on."""
        self.pods.assume_evicted(uid)
        for key in self.pods.controller_of(uid) - self.controllers.keys() - self.listed_at.keys():
            self._evicted_unlisted[key].add(uid)
        if stream := self.streams.of(self.pods.get(uid)):
            stream.evicted(uid, sent_at)
        self._count_anew(uid)

    def spared(self, uid: str, *, counts: bool) -> None:
        """A write was refused, or its outcome is not known. ``counts``: the pod certainly stays."""
        if stream := self.streams.of(self.pods.get(uid)):
            stream.withdrawn(uid)
        if counts:
            self.pods.undo_eviction(uid)
        self._count_anew(uid)

    def _count_anew(self, uid: str) -> None:
        """A pod begins or ceases to count, in a rollout for all ReplicaSets of its Deployment."""
        beside = (key for key, siblings in self.siblings.items() if uid in siblings)
        self.queue.add(self.pods.controller_of(uid).union(beside))

    def _unmark(self, name: str) -> bool:
        """A node carries no mark any more; whether it did."""
        known = self.nodes.pop(name, None)
        if known is None:
            return False
        self._read_notice(name, None, known)
        return True

    def _read_notice(self, name: str, node: Node | None, known: Node | None) -> None:
        """``notices``: all open ones by node name. ``dooms``: those of nodes to be drained.

        A node is drained once it is cordoned for its notice. ``known``: how it was before.
        """
        before = _of_plans(self.dooms.get(name), known)
        read = mark.read(node) if node is not None else None
        is_drained = read is not None and read.cordoned_at is not None
        if node is not None and read is not None and read.kind.is_warning:
            self.warned[name] = node
        assumed = self._assumed.get(name)
        self.notices = _but(self.notices, name, read or assumed)
        self.dooms = _but(self.dooms, name, read if is_drained else assumed)
        self._need_candidates([name])
        self.queue.add([NODES], urgent=True)
        if _of_plans(self.dooms.get(name), node) != before:
            self.queue.add(self.pods.controllers_on(name), urgent=True)

    def most_seen(self, key: str) -> int:
        """How many pods of a controller were seen at a time, at most."""
        return self._saw(key, self.pods.number_of(key))

    def _saw(self, key: str, number: int) -> int:
        self._most_seen[key] = max(number, self._most_seen.get(key, 0))
        return self._most_seen[key]

    def keep_at_least(self, uid: str, wanted: int) -> None:
        """A release promised to keep so many pods of a ReplicaSet available."""
        self.minimums[uid] = max(wanted, self.minimums.get(uid, 0))

    def list_workload(self, key: str, listed: Listed, asked_at: datetime) -> None:
        """A workload was listed by itself, which was asked for then.

        What has changed is planned for before that grows old. In a rollout all is, because a
        Deployment's other pods are known from such lists alone.
        """
        if key not in self.listed_at:
            others = {pod.uid for pod in listed.pods if pod.active}
            self._saw(key, len(others | self._evicted_unlisted.pop(key, set())))
        if listed.controller is not None:
            self.see(listed.controller)
        elif listed.asked_for_controller:
            self.miss(self.controllers.get(key))
        if listed.revision is not None:
            self.pods.list_controller(key, listed.pods, listed.revision)
        else:
            for pod in listed.pods:
                self.pods.see(pod)
        for uid in listed.gone:
            self.pods.forget(uid)
        self.see(listed.deployment)
        before = self.siblings.pop(key, None)
        if listed.siblings is not None:
            self.siblings[key] = {pod.uid: pod for pod in listed.siblings}
        owner = self.owner(self.controllers.get(key))
        if listed.siblings is not None or owner.deployment_in_rollout is None:
            self.listed_at[key] = asked_at  # else a rollout has begun since, and it shows no others
        in_rollout = before is not None or listed.siblings is not None
        if in_rollout or self.queue.has_changed(key):
            self.queue.add([key], urgent=True)

    def is_fresh(self, key: str, labels: frozenset[PodLabel], now: datetime) -> bool:
        """Whether all that matters to a workload is known as of a moment ago.

        Either the watches of these labels show it, or it was listed by itself.
        """
        return self.streams.are_fresh(labels, now) or is_recent(self.listed_at.get(key), now)

    def knows_all_of(self, key: str, now: datetime) -> bool:
        """Whether all pods of a workload, owned and released, are known.

        Until then a count would be of those alone that happen to run on doomed nodes.
        """
        controller = self.controllers.get(key)
        if controller is None:
            return False
        labels = controller.pod_labels
        return self.streams.show(labels) or is_recent(self.listed_at.get(key), now)

    def owner_of(self, pod: Pod) -> Owner:
        """Who owns a pod, or owned it before its release, as far as that is known."""
        reference = pod.controller
        release = pod.release if pod.released else None
        if reference is None and release is None:
            return Owner()
        kind = reference.full_kind if reference is not None else ""
        return self.owner(self.controllers.get(pod.origin_key), kind)

    def owner(self, controller: Controller | None, kind: str = "") -> Owner:
        """A controller, with the Deployment above it if that was read.

        ``kind``: its kind where it is not known itself; without one, that of released pods.
        """
        of = controller.resource.full_kind if controller is not None else kind
        has_above = controller is not None and controller.deployment is not None
        above = controller.controller_key if controller is not None and has_above else ""
        return Owner(
            kind=of or RELEASING.resource.full_kind,
            controller=controller,
            deployment=self.deployments.get(above),
            releases_refused=self.releases_refused.get(controller.key) if controller else None,
        )

    def refuse_releases(self, key: str, words: str, now: datetime) -> bool:
        """Releases of a controller's pods are not taken; whether that was not known."""
        last = self.releases_refused.get(key)
        self.releases_refused[key] = ReleasesRefused(words, now + REFUSED_FOR)
        self.queue.add([key], urgent=True)
        return last is None or last.until <= now

    def revision_of(self, reference: Reference) -> int:
        """How new what is known of an object is; -1 of one that is not known."""
        key = f"{reference.namespace}/{reference.uid}"
        found = (
            self.pods.get(reference.uid)
            or self.nodes.get(reference.name)
            or self.controllers.get(key)
            or self.deployments.get(key)
        )
        return -1 if found is None else found.revision

    def is_refused(self, key: str) -> bool:
        """Whether a quota refuses a controller pods, or has done so."""
        controller = self.controllers.get(key)
        return controller is not None and controller.is_refused

    def _below(self, deployment_key: str) -> Sequence[str]:
        """The keys of a Deployment's ReplicaSets."""
        known = self.controllers.items()
        return [key for key, each in known if each.controller_key == deployment_key]

    def see_owner(self, request: Get[Any], found: object) -> None:
        """Take what has a controller's name, or a Deployment's; what had it before is gone."""
        named = request.kind, request.namespace, request.name
        uid = found.uid if isinstance(found, KubernetesObject) else ""
        for each in (*self.controllers.values(), *self.deployments.values()):
            if (type(each), each.namespace, each.name) == named and each.uid != uid:
                self.miss(each, urgent=True)
        self.see(found, urgent=True)

    def divide(self, division: Division) -> None:
        """From now on only a share of the pods is the reconciler's own; the others are let go."""
        self.share.divide(division)
        for name in self.dooms:
            self.share.listed(name, self.pods.on(name))
        for pod in self.pods:
            if not self.share.has(pod):
                self.pods.forget(pod.uid)

    def await_pods_on(self, names: frozenset[str], landing: AbstractSet[str]) -> None:
        """On these nodes each pod that comes or goes may change what becomes of them.

        Of these nodes those are listed again that have other reconcilers' pods, which no watch
        shows; and all of ``landing``, on which pods may land that no watch shows.
        """
        self.pods.awaited_on = names
        again = (self.share.others_on & names) | landing
        others = again ^ self._listed_again
        self._listed_again = again
        self._need_candidates(others)

    def _need_candidates(self, names: Iterable[str]) -> None:
        """The nodes' plan depends on the pods of these nodes while they are doomed."""
        for name in names:
            fact = selections.candidates_on(name)
            if name in self.dooms:
                again = name in self._listed_again
                self.facts.want(NODES, fact, SOON_AGAIN_AFTER if again else None)
            else:
                self.facts.spare(NODES, fact)

    def list_pods(self, where: Selection[Pod], pods: Sequence[Pod], revision: int) -> None:
        """Take all pods of a node, or all that are in a group."""
        node_name = where.fields.removeprefix(selections.ON_NODE)
        if node_name:
            self._see_others_on(node_name, pods)
        among = self.pods.on(node_name) if node_name else self.pods
        is_there = partial(is_listed, where)
        self.pods.relist(pods, revision, is_there, among=among, urgent=True)

    def _see_others_on(self, node_name: str, pods: Sequence[Pod]) -> None:
        """Nodes are planned for when other reconcilers' pods have left one."""
        before = node_name in self.share.others_on
        self.share.listed(node_name, pods)
        if before and node_name not in self.share.others_on:
            self.queue.add([NODES], urgent=True)

    def see_objects(
        self, where: Selection[Any], items: Sequence[KubernetesObject], unread: str
    ) -> None:
        """Take note of a namespace's objects of one kind; ``unread``: why they are not known."""
        namespace = where.namespace
        of_kinds = self._objects[namespace]
        known, of_kinds[where.kind] = of_kinds.get(where.kind), (list(items), unread)
        if known == of_kinds[where.kind]:
            return
        self.namespace_objects[namespace] = msgspec.structs.replace(
            NamespaceObjects.of([each for of_kind, _ in of_kinds.values() for each in of_kind]),
            unread=next((why for _, why in of_kinds.values() if why), ""),
        )
        there = (pod for pod in self.pods if pod.namespace == namespace)
        is_urgent = where.kind is not PodDisruptionBudget  # each pod that comes or goes changes one
        self.queue.add(self.pods.controllers_of(there), urgent=is_urgent)

    def objects_in(self, namespace: str) -> NamespaceObjects:
        """What was read of a namespace's budgets, services, policies and claims."""
        return self.namespace_objects.get(namespace, _NOTHING)


_NOTHING = NamespaceObjects()


def _is_news[T: Controller | Deployment](known: dict[str, T], owner: T) -> bool:
    """Take a version of an owner, by its key, if it is newer; whether plans may change with it."""
    last = known.get(owner.key)
    if last is not None and last.revision >= owner.revision:
        return False
    known[owner.key] = owner
    match last, owner:
        case Deployment(), Deployment():
            return not last.says_as_much_as(owner)
        case Controller(), Controller():
            return owner.may_change_plans(last)
    return True


def _but(
    notices: Mapping[str, NodeNotice], name: str, notice: NodeNotice | None
) -> Mapping[str, NodeNotice]:
    """A copy of these notices with one node's notice replaced, or removed if it is None."""
    others = {key: value for key, value in notices.items() if key != name}
    return others if notice is None else {**others, name: notice}


def _of_plans(
    notice: NodeNotice | None, node: Node | None
) -> tuple[Deadline, datetime | None, bool] | None:
    """What the plans for a node's pods depend on: their deadline, and what keeps new pods off."""
    if notice is None:
        return None
    is_cordoned = node is not None and node.spec.unschedulable
    return node_deadline(notice), notice.cordoned_at, is_cordoned
