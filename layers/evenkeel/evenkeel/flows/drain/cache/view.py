"""What an invocation knows of the cluster, kept up to date from replies and watches."""

from collections.abc import Container, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from evenkeel.decisions.drain.deadlines import Deadline, node_deadline
from evenkeel.decisions.drain.surroundings import Owner, Surroundings
from evenkeel.decisions.notice import mark
from evenkeel.flows.drain.cache.pods import Pods
from evenkeel.flows.drain.queue import Queue
from evenkeel.model.capacity import Capacity
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.workload import Controller, Deployment, ReplicaSet


class View:
    """The marked nodes, the pods concerned, who owns them, and what surrounds them."""

    def __init__(
        self,
        assumed: Mapping[str, NodeNotice] | None = None,
        capacities: dict[str, Capacity] | None = None,
    ) -> None:
        """``assumed`` are notices that no node carries, by node name: observe mode's.

        ``queue`` has the workloads of which something changed. ``unread``: doomed nodes of which
        nobody knows yet what is on them.

        ``capacities``: of which type nodes are, as far as it was read before.
        """
        self.queue = Queue()
        self._assumed = dict(assumed or {})
        self.nodes: dict[str, Node] = {}
        self.lost_nodes: set[str] = set()
        self.notices: Mapping[str, NodeNotice] = self._assumed
        self.dooms: Mapping[str, NodeNotice] = self._assumed
        self.nodes_changed = False
        self.changed_dooms: set[str] = set()
        self.unread: frozenset[str] = frozenset()
        self.pods = Pods()
        self.controllers: dict[str, Controller] = {}  # by key, see pods
        self.deployments: dict[str, Deployment] = {}  # by key
        self.siblings: dict[str, Mapping[str, Pod]] = {}  # by key: what its Deployment's others own
        self.surroundings: dict[str, Surroundings] = {}
        self.capacities = {} if capacities is None else capacities
        self.cordons: dict[str, bool] = {}  # whether a node is drained, as far as it was read
        self.unknown_nodes: dict[str, set[str]] = {}  # and the controllers that depend on each
        self.read_until: dict[str, datetime] = {}  # how long a read of a controller is good

    def need_nodes(self, controller_key: str, pods: Iterable[Pod], known: Container[str]) -> None:
        """The plan of a controller depends on the nodes of these pods, but for those known."""
        for pod in pods:
            name = pod.spec.node_name
            if name and name not in known:
                self.unknown_nodes.setdefault(name, set()).add(controller_key)

    @property
    def uids(self) -> frozenset[str]:
        """The uids of all pods and marked nodes seen."""
        return frozenset(item.uid for item in (*self.pods, *self.nodes.values()))

    def see_node(self, node: Node) -> None:
        """Take note of a node as it is now."""
        known = self.nodes.get(node.name)
        if known is None or known.uid != node.uid or known.revision < node.revision:
            self.nodes[node.name] = node
            self.lost_nodes.discard(node.name)
            self._read_notice(node.name, node)

    def relist_nodes(self, nodes: Sequence[Node]) -> None:
        """These nodes and no others are marked."""
        for name in self.nodes.keys() - {node.name for node in nodes}:
            self.miss_node(name)
        for node in nodes:
            self.see_node(node)

    def miss_node(self, name: str) -> None:
        """A node is gone, or not marked any more."""
        if self.nodes.pop(name, None) is not None:
            self._read_notice(name, None)

    def controllers_on(self, nodes: Container[str]) -> set[str]:
        """The keys of the controllers of the pods on these nodes."""
        return self.pods.controllers_of(
            pod for pod in self.pods.active if pod.spec.node_name in nodes
        )

    def lose_node(self, name: str) -> set[str]:
        """A node is gone for good. The keys of the controllers that count pods which it had."""
        self.miss_node(name)
        self.lost_nodes.add(name)
        beside = (
            key
            for key, siblings in self.siblings.items()
            if any(pod.spec.node_name == name for pod in siblings.values())
        )
        return self.controllers_on({name}).union(beside)

    def controllers_counting(self, uid: str) -> set[str]:
        """The keys of the controllers in whose plans a pod counts.

        These are its own, and in a rollout the other ReplicaSets of its Deployment.
        """
        beside = (key for key, siblings in self.siblings.items() if uid in siblings)
        return self.pods.controller_of(uid).union(beside)

    def _read_notice(self, name: str, node: Node | None) -> None:
        """``notices``: all open ones by node name. ``dooms``: those of nodes to be drained.

        A node is drained once it is cordoned for its notice.
        """
        before = self.dooms.get(name)
        read = mark.read(node) if node is not None else None
        is_drained = read is not None and read.cordoned_at is not None
        assumed = self._assumed.get(name)
        self.notices = _but(self.notices, name, read or assumed)
        self.dooms = _but(self.dooms, name, read if is_drained else assumed)
        self.nodes_changed = True
        if _deadline(self.dooms.get(name)) != _deadline(before):
            self.changed_dooms.add(name)

    def caught_up(self) -> None:
        """Whatever changed about nodes was planned for."""
        self.nodes_changed = False
        self.changed_dooms = set()

    def take_over(
        self,
        controller_key: str,
        controller: Controller | None,
        pods: Sequence[Pod],
        read_at: int | None,
    ) -> set[str]:
        """Take note of a fresh, consistent read of one controller and all its pods.

        ``read_at`` is the revision at which all of them were listed; None: they were not. The keys
        of the controllers of which there is news.
        """
        if controller is not None:
            news = self.see_controller(controller)
        else:
            self.controllers.pop(controller_key, None)
            news = {controller_key}
        for pod in pods:
            news |= self.pods.see(pod)
        if read_at is None:
            return news
        read = {pod.uid for pod in pods}
        for pod in self.pods.of_controller(controller_key):
            if pod.uid not in read:
                news |= self.pods.miss(pod.uid, read_at)
        return news

    def is_just_read(self, controller_key: str, now: datetime) -> bool:
        """Whether a fresh read of a controller and all its pods is still good."""
        return now <= self.read_until.get(controller_key, now - timedelta(microseconds=1))

    def owner_of(self, pod: Pod) -> Owner:
        """Who owns a pod, or owned it before its release, as far as that is known."""
        reference = pod.controller
        release = pod.release if pod.released else None
        if reference is None and release is None:
            return Owner()
        kind = reference.full_kind if reference is not None else "ReplicaSet"
        return self.owner(kind, self.controllers.get(pod.origin_key))

    def owner(self, kind: str, controller: Controller | None) -> Owner:
        """A controller of this kind, with the Deployment above it if that was read."""
        above = controller.controller_key if isinstance(controller, ReplicaSet) else ""
        return Owner(kind=kind, controller=controller, deployment=self.deployments.get(above))

    def see_controller(self, controller: Controller) -> set[str]:
        """Take note of a controller. Its key, of which this is news, unless it was known."""
        known = self.controllers.get(controller.key)
        if known is not None and known.revision >= controller.revision:
            return set()
        self.controllers[controller.key] = controller
        is_news = known is None or not _is_the_same(known, controller)
        return {controller.key} if is_news else set()

    def see_deployment(self, deployment: Deployment) -> set[str]:
        """Take note of a Deployment. The keys of its ReplicaSets, of which this is news."""
        known = self.deployments.get(deployment.key)
        if known is not None and known.revision >= deployment.revision:
            return set()
        self.deployments[deployment.key] = deployment
        if known is not None and known.says_as_much_as(deployment):
            return set()
        return {
            key
            for key, controller in self.controllers.items()
            if controller.controller_key == deployment.key
        }

    def see_siblings(self, controller_key: str, siblings: Sequence[Pod] | None) -> None:
        """The pods of the other ReplicaSets of a Deployment were read; None: they were not."""
        self.siblings.pop(controller_key, None)
        if siblings is not None:
            self.siblings[controller_key] = {pod.uid: pod for pod in siblings}

    def surroundings_of(self, namespace: str) -> Surroundings:
        """What was read of a namespace's budgets, services, policies and claims."""
        return self.surroundings.get(namespace, _NOTHING)


_NOTHING = Surroundings()


def _is_the_same(known: Controller, controller: Controller) -> bool:
    """Whether two versions of a controller lead to the same plan.

    A ReplicaSet's own counts of its pods do not matter: they follow each pod's every step.
    """
    if isinstance(known, ReplicaSet) and isinstance(controller, ReplicaSet):
        status = msgspec.structs.replace(controller.status, conditions=known.status.conditions)
        is_as_able = known.cannot_create == controller.cannot_create
        known = msgspec.structs.replace(known, status=status)
        controller = msgspec.structs.replace(controller, status=status)
        return is_as_able and known.says_as_much_as(controller)
    return False


def _but(
    notices: Mapping[str, NodeNotice], name: str, notice: NodeNotice | None
) -> Mapping[str, NodeNotice]:
    """These notices, but for what one node has. The old mapping stays as it is."""
    others = {key: value for key, value in notices.items() if key != name}
    return others if notice is None else {**others, name: notice}


def _deadline(notice: NodeNotice | None) -> Deadline | None:
    """What pods have to know of their node's notice."""
    return None if notice is None else node_deadline(notice)
