"""What an invocation knows of the cluster, kept up to date from replies and watches."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from evenkeel.decisions.drain.deadlines import Deadline, node_deadline
from evenkeel.decisions.drain.surroundings import Controller, Owner, Surroundings
from evenkeel.decisions.handover.census import Census, ReleasedPod
from evenkeel.decisions.notice import marks
from evenkeel.model import names
from evenkeel.model.meta import OwnerReference
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.release import Release
from evenkeel.model.times import is_sound
from evenkeel.model.workload import Deployment, ReplicaSet


def read_release(pod: Pod) -> Release | None:
    """What the annotation of a released pod says; None if it makes no sense.

    Anybody who may annotate pods can have written it, so times without a zone, and times that
    cannot be reckoned with, are no release either.
    """
    text = pod.metadata.annotations.get(names.RELEASE)
    if text is None:
        return None
    try:
        release = msgspec.json.decode(text, type=Release)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return release if is_sound(release.deadline) and is_sound(release.since) else None


def controller_uid_of(pod: Pod) -> str:
    """The uid of the controller that a pod has, or was released from; empty without one."""
    if pod.controller is not None:
        return pod.controller.uid
    if pod.released:
        release = read_release(pod)
        return release.controller_uid if release is not None else ""
    return ""


def kind_of(reference: OwnerReference) -> str:
    """The kind of an owner. Kinds that are not Kubernetes' own bear their group's name too.

    Others use the same words: a ReplicaSet of another group is no ReplicaSet.
    """
    group = reference.api_version.rpartition("/")[0]
    return reference.kind if group in ("", "apps", "batch") else f"{reference.kind}.{group}"


class Pods:
    """Pods by uid, each at its highest resource version, however many watches show it.

    A deletion from a selector watch says only that the pod left the selection. Until another
    sighting as new as that, the pod does not count: too few are seen rather than too many.
    """

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._pods: dict[str, Pod] = {}
        self._revisions: dict[str, int] = {}
        self._by_controller: defaultdict[str, set[str]] = defaultdict(set)
        self._controllers: dict[str, str] = {}
        self._sent_off: set[str] = set()

    def __contains__(self, uid: str) -> bool:
        """Whether the pod was seen and is not known to be gone."""
        return uid in self._pods

    def __iter__(self) -> Iterator[Pod]:
        """All pods, leaving and finished ones too."""
        return iter(list(self._pods.values()))

    def get(self, uid: str) -> Pod | None:
        """The pod as last seen."""
        return self._pods.get(uid)

    def see(self, pod: Pod) -> str | None:
        """Take note of a pod. The uid of its controller if that was news, else None.

        One that was just put back and is not adopted yet stays with the controller it had.
        """
        uid, revision = pod.uid, pod.revision
        known = self._revisions.get(uid, -1)
        if revision < known or (revision == known and uid in self._pods):
            return None
        before = self._controllers.get(uid, "")
        controller = controller_uid_of(pod) or before or uid
        if before and before != controller:
            self._by_controller[before].discard(uid)
        self._pods[uid] = pod
        self._revisions[uid] = revision
        self._controllers[uid] = controller
        self._by_controller[controller].add(uid)
        return controller

    def miss(self, uid: str, revision: int) -> str | None:
        """A pod was not there at a revision. Its controller's uid if that was news."""
        if uid not in self._pods or revision <= self._revisions[uid]:
            return None
        return self._drop(uid, revision)

    def forget(self, uid: str) -> str | None:
        """A pod is known to be gone for good. Its controller's uid if that was news."""
        if uid not in self._pods:
            return None
        return self._drop(uid, self._revisions[uid] + 1)

    def relist(
        self, items: Sequence[Pod], revision: int, selects: Callable[[Pod], bool]
    ) -> set[str]:
        """A selection was listed anew: what it selects and does not list is not there.

        The controllers' uids of whatever was news.
        """
        listed = {pod.uid for pod in items}
        news = {self.see(pod) for pod in items}
        for pod in self:
            if pod.uid not in listed and selects(pod):
                news.add(self.miss(pod.uid, revision))
        return {uid for uid in news if uid is not None}

    def controller_of(self, uid: str) -> set[str]:
        """The uid of the controller of a pod that was seen; empty for another object."""
        return {self._controllers[uid]} if uid in self._controllers else set()

    def send_off(self, uid: str) -> None:
        """A pod was told to go: from now on it does not count, whether or not that was heard."""
        self._sent_off.add(uid)

    def call_back(self, uid: str) -> None:
        """The API server refused to let a pod go: it counts again."""
        self._sent_off.discard(uid)

    def is_sent_off(self, uid: str) -> bool:
        """Whether the pod was told to go, and that was not refused."""
        return uid in self._sent_off

    def of_controller(self, controller_uid: str) -> Sequence[Pod]:
        """The active pods that a controller owns, or that were released from it.

        Sorted by uid, so that equal knowledge gives equal decisions.
        """
        uids = sorted(self._by_controller.get(controller_uid, ()))
        return [self._pods[uid] for uid in uids if self._counts(uid)]

    def only_counting(self, pods: Iterable[Pod], controller_uid: str) -> Sequence[Pod]:
        """Those of freshly read pods that are this controller's and count, sorted by uid."""
        return sorted(
            (
                pod
                for pod in pods
                if pod.active
                and pod.uid not in self._sent_off
                and (controller_uid_of(pod) or pod.uid) == controller_uid
            ),
            key=lambda pod: pod.uid,
        )

    def controllers_in(self, namespace: str) -> set[str]:
        """The controllers' uids of the pods of a namespace."""
        return {self._controllers[p.uid] for p in self._pods.values() if p.namespace == namespace}

    @property
    def active(self) -> Sequence[Pod]:
        """All pods that count, sorted by uid."""
        return [self._pods[uid] for uid in sorted(self._pods) if self._counts(uid)]

    def _counts(self, uid: str) -> bool:
        return uid not in self._sent_off and self._pods[uid].active

    def _drop(self, uid: str, revision: int) -> str:
        del self._pods[uid]
        self._revisions[uid] = revision
        controller = self._controllers.pop(uid)
        self._by_controller[controller].discard(uid)
        return controller


class View:
    """The marked nodes, the pods concerned, who owns them, and what surrounds them."""

    def __init__(self, assumed: Mapping[str, NodeNotice] | None = None) -> None:
        """``assumed`` are notices that no node carries, by node name: observe mode's."""
        self._assumed = dict(assumed or {})
        self.nodes: dict[str, Node] = {}
        self.lost_nodes: set[str] = set()
        self.notices: Mapping[str, NodeNotice] = self._assumed
        self.dooms: Mapping[str, NodeNotice] = self._assumed
        self.nodes_changed = False
        self.dooms_changed = False
        self.pods = Pods()
        self.controllers: dict[str, Controller] = {}
        self.deployments: dict[str, Deployment] = {}
        self.surroundings: dict[str, Surroundings] = {}

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
            self._read_notices()

    def relist_nodes(self, nodes: Sequence[Node]) -> None:
        """These nodes and no others are marked."""
        self.nodes = {node.name: node for node in nodes}
        self.lost_nodes -= set(self.nodes)
        self._read_notices()

    def miss_node(self, name: str) -> None:
        """A node is gone, or not marked any more."""
        if self.nodes.pop(name, None) is not None:
            self._read_notices()

    def lose_node(self, name: str) -> set[str]:
        """A node is gone for good. The uids of the controllers of the pods that it had."""
        self.miss_node(name)
        self.lost_nodes.add(name)
        return {
            controller_uid_of(pod) or pod.uid
            for pod in self.pods.active
            if pod.spec.node_name == name
        }

    def _read_notices(self) -> None:
        """``notices``: all open ones by node name. ``dooms``: those of nodes to be drained.

        A node is drained once it is cordoned for its notice.
        """
        read = {node.name: marks.read(node) for node in self.nodes.values()}
        found = {name: notice for name, notice in read.items() if notice is not None}
        cordoned = {n: notice for n, notice in found.items() if notice.cordoned_at is not None}
        dooms = self._assumed | cordoned
        self.nodes_changed = True
        self.dooms_changed |= _deadlines(dooms) != _deadlines(self.dooms)
        self.notices = self._assumed | found
        self.dooms = dooms

    def caught_up(self) -> None:
        """Whatever changed about nodes was planned for."""
        self.nodes_changed = False
        self.dooms_changed = False

    def take_over(
        self, controller_uid: str, controller: Controller | None, pods: Sequence[Pod]
    ) -> None:
        """Take note of a fresh, consistent read of one controller and all its pods."""
        if controller is not None:
            self.controllers[controller_uid] = controller
        else:
            self.controllers.pop(controller_uid, None)
        for pod in pods:
            self.pods.see(pod)
        read = {pod.uid for pod in pods}
        for pod in self.pods.of_controller(controller_uid):
            if pod.uid not in read:
                self.pods.forget(pod.uid)

    def owner_of(self, pod: Pod) -> Owner:
        """Who owns a pod, or owned it before its release, as far as that is known."""
        reference = pod.controller
        release = read_release(pod) if reference is None and pod.released else None
        if reference is None and release is None:
            return Owner()
        kind = kind_of(reference) if reference is not None else "ReplicaSet"
        uid = reference.uid if reference is not None else controller_uid_of(pod)
        controller = self.controllers.get(uid)
        return Owner(kind=kind, controller=controller, deployment=self.deployment_of(controller))

    def see_deployment(self, deployment: Deployment) -> set[str]:
        """Take note of a Deployment. The uids of its ReplicaSets, of which this is news."""
        self.deployments[deployment.uid] = deployment
        return {
            uid
            for uid, controller in self.controllers.items()
            if controller.controller is not None and controller.controller.uid == deployment.uid
        }

    def deployment_of(self, controller: Controller | None) -> Deployment | None:
        """The Deployment above a ReplicaSet, if it was read."""
        if not isinstance(controller, ReplicaSet) or controller.controller is None:
            return None
        return self.deployments.get(controller.controller.uid)

    def surroundings_of(self, namespace: str) -> Surroundings:
        """What was read of a namespace's budgets, services, policies and claims."""
        return self.surroundings.get(namespace, _NOTHING)


_NOTHING = Surroundings()


def _deadlines(notices: Mapping[str, NodeNotice]) -> Mapping[str, Deadline]:
    """What pods have to know of their nodes' notices."""
    return {name: node_deadline(notice) for name, notice in notices.items()}


def take_census(
    replica_set: ReplicaSet | None,
    owner: Owner,
    pods: Sequence[Pod],
    dooms: Mapping[str, NodeNotice],
    lost: Collection[str],
    now: datetime,
) -> Census:
    """Sort the active pods of a ReplicaSet into owned and released ones.

    A released pod whose annotation cannot be read is in neither.
    """
    released = []
    for pod in pods:
        release = read_release(pod) if pod.released and pod.controller is None else None
        if release is not None:
            released.append(ReleasedPod(pod, release))
    return Census(
        now=now,
        replica_set=replica_set,
        owner=owner,
        owned=[pod for pod in pods if pod.controller is not None],
        released=released,
        dooms=dooms,
        lost=frozenset(lost),
    )
