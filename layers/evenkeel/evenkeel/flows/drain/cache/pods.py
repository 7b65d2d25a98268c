"""Pods as seen by several watches and reads, and which of them count.

A controller is known by its key, ``namespace/uid``. A uid alone would not do: anybody may write
the uid of a stranger's ReplicaSet into a pod of his own, and it would count as one of its pods. A
pod without a controller has its own key.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import NamedTuple

from evenkeel.flows.drain.cache.groups import Groups
from evenkeel.flows.drain.cache.members import Members
from evenkeel.flows.drain.cache.share import Share, is_to_go
from evenkeel.flows.drain.cache.stops import Stops
from evenkeel.flows.drain.queue import NODES, Queue
from evenkeel.model.gang import group_of
from evenkeel.model.pod import Pod
from evenkeel.model.seat import is_seat
from evenkeel.model.times import earliest


class Absence(NamedTuple):
    """A pod was not among those that ``selects`` selected at a revision."""

    selects: Callable[[Pod], bool]
    revision: int

    def refutes(self, pod: Pod) -> bool:
        """Whether a sighting contradicts it: so the pod was before, and is no more."""
        return pod.revision <= self.revision and self.selects(pod)


class Pods:
    """Pods by uid, each at its highest resource version, however many watches show it.

    A deletion from a selector watch says only that the pod left the selection. Until another
    sighting as new as that, the pod does not count: too few are seen rather than too many.

    Each change adds the workloads to the queue whose plans may change by it. ``urgent``: they are
    planned for before anything else is done.
    """

    def __init__(
        self,
        queue: Queue,
        awaits: Callable[[str], bool] = lambda _: False,
        share: Share | None = None,
        stops: Stops | None = None,
    ) -> None:
        """``awaits``: see ``Members``; ``stops`` takes note of how long pods take to stop.

        ``share``: which pods are the reconciler's. Of others nothing is known.
        """
        self._queue = queue
        self._share = share or Share()
        self.stops = stops or Stops()
        self._pods: dict[str, Pod] = {}
        self._on: defaultdict[str, dict[str, Pod]] = defaultdict(dict)  # by node
        self._revisions: dict[str, int] = {}
        self._controllers: dict[str, str] = {}
        self._assumed_evicted: dict[str, datetime] = {}
        self._let_go: set[str] = set()
        self._absences: dict[str, Sequence[Absence]] = {}
        self._lists: dict[Hashable, Absence] = {}  # of whole selections, the last of each
        self.awaited_on = frozenset[str]()
        """The nodes of which each pod that comes or goes may change what becomes of them."""
        self.emptying: AbstractSet[str] = frozenset()
        """Those of which that they have no pod to go any more changes what becomes of them."""
        self._listed: dict[str, int] = {}  # by controller, the last list of all its pods
        self.members = Members(awaits)
        self.groups = Groups()

    def __iter__(self) -> Iterator[Pod]:
        """All pods, leaving and finished ones too."""
        return iter(list(self._pods.values()))

    def get(self, uid: str) -> Pod | None:
        """The pod as last seen."""
        return self._pods.get(uid)

    def update(self, pod: Pod, *, urgent: bool = False) -> None:
        """Take note of a pod.

        The plans of its controller may change by it, and of the one that it had before. One that
        was just put back and is not adopted yet stays with the controller it had. A pod whose
        eviction was sent counts no more, so nothing that happens to it changes a plan.
        """
        if is_seat(pod) or (self._share.is_divided and not self._share.has(pod)):
            return
        uid, revision = pod.uid, pod.revision
        known = self._revisions.get(uid, -1)
        if revision < known or (revision == known and uid in self._pods):
            return
        absences = self._absences.get(uid, ())
        if uid not in self._pods:
            if revision <= self._listed.get(pod.origin_key, -1):
                return
            absences = (*absences, *self._lists.values())
        if any(absence.refutes(pod) for absence in absences):
            return
        last = self._pods.get(uid)
        if last is not None and last.spec.node_name != pod.spec.node_name:
            del self._on[last.spec.node_name][uid]
        before = self._controllers.get(uid, "")
        controller = pod.origin_key or before or pod.key
        if before and before != controller:
            self.members.delete(before, uid)
        self._pods[uid] = self._on[pod.spec.node_name][uid] = pod
        self._revisions[uid] = revision
        self._controllers[uid] = controller
        self._recount(uid)
        self._note_change_on(pod.spec.node_name)
        is_over = uid in self._assumed_evicted and not self.members.matters(controller, uid)
        if is_over or (last is not None and last.says_as_much_as(pod)):
            return
        self._queue.add({controller, before or controller}, urgent=urgent)

    def delete(self, uid: str, revision: int | None = None, *, urgent: bool = False) -> None:
        """A pod was not there at a revision; None: later than all that was seen of it."""
        if uid in self._pods:
            known = self._revisions[uid]
            at = known + 1 if revision is None else revision
            if at > known:
                self._drop(uid, at, urgent=urgent)

    def replace(
        self,
        items: Sequence[Pod],
        revision: int,
        selects: Callable[[Pod], bool],
        whole: Hashable = None,
        *,
        among: Iterable[Pod] | None = None,
        urgent: bool = False,
    ) -> None:
        """A selection was listed anew: what it selects and does not list is not there.

        A pod that left the selection may be seen elsewhere, as it was before the list was made.
        ``whole`` names a selection of which ``items`` are all pods, known or not: a pod that is not
        known is not believed to be as it was before such a list, for it came and went, or is
        another by now. ``among`` are all pods that it may select, if that is known.
        """
        listed = {pod.uid for pod in items}
        for pod in items:
            self.update(pod, urgent=urgent)
        if whole is not None:
            before = self._lists.get(whole)
            newest = revision if before is None else max(before.revision, revision)
            self._lists[whole] = Absence(selects, newest)
        for pod in list(self if among is None else among):
            if pod.uid not in listed and selects(pod) and pod.revision < revision:
                absences = self._absences.get(pod.uid, ())
                self._absences[pod.uid] = (*absences[-1:], Absence(selects, revision))
                self.delete(pod.uid, urgent=urgent)

    def replace_controller(self, key: str, pods: Iterable[Pod], revision: int) -> None:
        """All pods of a controller, owned and released, were listed at a revision.

        A pod of it that is seen as of before that for the first time has come and gone.
        """
        listed = set[str]()
        for pod in pods:
            self.update(pod)
            listed.add(pod.uid)
        for pod in (*self.members.of(key), *self.members.going(key)):
            if pod.uid not in listed:
                self.delete(pod.uid, revision)
        self._listed[key] = max(revision, self._listed.get(key, revision))

    def controller_of(self, uid: str) -> set[str]:
        """The key of the controller of a pod that was seen; empty for another object."""
        return {self._controllers[uid]} if uid in self._controllers else set()

    def assume_evicted(self, uid: str, sent_at: datetime) -> None:
        """An eviction or deletion of a pod is sent: it does not count until that is refused."""
        self._assumed_evicted[uid] = sent_at
        self._recount(uid)

    def undo_eviction(self, uid: str) -> None:
        """The API server refused to let a pod go: it counts again."""
        self._assumed_evicted.pop(uid, None)
        self._recount(uid)

    def let_go(self, uid: str) -> None:
        """The API server lets a pod go: it ends, though no watch may show that."""
        self._let_go.add(uid)
        if uid in self._pods:
            self._note_change_on(self._pods[uid].spec.node_name)

    def is_assumed_evicted(self, uid: str) -> bool:
        """Whether an eviction or deletion of the pod was sent, and not refused."""
        return uid in self._assumed_evicted

    def told_first(self, key: str) -> datetime | None:
        """When the first of a controller's pods that are not gone was told to go."""
        sent = self._assumed_evicted
        return earliest(*(sent.get(pod.uid, pod.told_at) for pod in self.members.told(key)))

    def on(self, node_name: str) -> Collection[Pod]:
        """The pods on a node, leaving and finished ones too."""
        return self._on[node_name].values() if node_name in self._on else ()

    def are_to_go_from(self, node_name: str) -> bool:
        """Whether pods are on a node that are to go, and were not told to."""
        return any(is_to_go(pod) and pod.uid not in self._let_go for pod in self.on(node_name))

    def controllers_on(self, node_name: str) -> set[str]:
        """The keys of the controllers whose plans depend on a node.

        They have active pods there, or pods of which it is awaited that they are gone.
        """
        matters, of = self.members.matters, self._controllers
        keys = ((uid, of[uid]) for uid in self._on.get(node_name, ()))
        return {key for uid, key in keys if matters(key, uid)}

    def controllers_of(self, pods: Iterable[Pod]) -> set[str]:
        """The keys of the controllers of pods that were seen."""
        return {self._controllers[pod.uid] for pod in pods}

    def _recount(self, uid: str) -> None:
        """Note whether a pod counts: it is active, and its eviction was not sent.

        One that does not count and is not finished is going.
        """
        pod = self._pods.get(uid)
        if pod is None:
            return
        controller = self._controllers[uid]
        counts = pod.active and not self.is_assumed_evicted(uid)
        self.members.update(controller, pod, counts=counts)
        if (group := group_of(pod)) is not None:
            self.groups.update(group, pod, controller, counts=counts)

    def _note_change_on(self, node_name: str) -> None:
        is_empty = node_name in self.emptying and not self.are_to_go_from(node_name)
        if is_empty or node_name in self.awaited_on:
            self._queue.add([NODES], urgent=True)

    def _drop(self, uid: str, revision: int, *, urgent: bool = False) -> None:
        pod, controller = self._pods.pop(uid), self._controllers.pop(uid)
        self._revisions[uid] = revision
        if (group := group_of(pod)) is not None:
            self.groups.update(group, pod, controller, counts=False)
        del self._on[pod.spec.node_name][uid]
        self._note_change_on(pod.spec.node_name)
        took_longer = self.stops.ended(controller, pod)
        if self.members.delete(controller, uid) or took_longer:
            self._queue.add([controller], urgent=urgent)
