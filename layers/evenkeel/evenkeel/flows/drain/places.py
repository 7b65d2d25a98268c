"""Which pods would find a place: asked before one breaks that could as well stay.

Only a mere hint waits for the answer. Nodes are read beside the loop, at most every ten seconds,
and the pods of a part of them at a time.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Final

import msgspec

from evenkeel.decisions.drain.route import NO_PLACE_IS_KNOWN, PlaceSought
from evenkeel.decisions.room.fleet import Fleet, used_by
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.decisions.room.rules import NodeRequest, volumes_of
from evenkeel.errors import ClusterError, ForbiddenError, NotFoundError
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.sync.questions import Questions
from evenkeel.flows.reads import ask, list_all
from evenkeel.model import names
from evenkeel.model.affinity import NewPodSpec
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.cluster_objects import PersistentVolume, PersistentVolumeClaim
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Get, List, Selection
from evenkeel.ports import Background, Clock, Cluster, Recorder

LOOK_AGAIN_AFTER: Final = timedelta(seconds=10)
"""Places are looked for at most this often, and one that was found counts for so long."""

PAUSE_PER_LOOK: Final = 8
"""The next look comes after so many times as long as the last one took."""

TAKEN_FOR: Final = timedelta(minutes=1)
"""So long others leave the place to the pod for which it was found: it has to end, and come."""

AT_A_TIME: Final = 50
"""The pods of so many nodes are read in one look; the next goes on with the nodes after them."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """A pod that moves once a place is known; ``key`` is its controller's."""

    key: str
    pod: Pod
    rules: NewPodSpec
    claims: Sequence[PersistentVolumeClaim]

    @classmethod
    def of(cls, key: str, pod: Pod, claims: Sequence[PersistentVolumeClaim]) -> "Wish":
        """What a pod's next one will ask of its node: what it asks itself."""
        spec = pod.spec
        rules = NewPodSpec(
            node_selector=spec.node_selector, affinity=spec.affinity, tolerations=spec.tolerations
        )
        mounted = [each for each in claims if each.name in pod.spec.claims]
        return cls(key=key, pod=pod, rules=rules, claims=mounted)


class Place(msgspec.Struct, frozen=True):
    """Where a pod would find room, and as of when that is known."""

    node: str
    resources: Mapping[str, float]
    at: datetime


class Found(msgspec.Struct, frozen=True):
    """The nodes with room for pods, by the pods' uids; ``forbidden``: what might not be read.

    ``lacks`` says, by uid, which rule keeps a pod off every node, also off an empty one.
    """

    nodes: Mapping[str, str]
    lacks: Mapping[str, str]
    forbidden: ForbiddenError | None = None


class Places:
    """Looks for places, and keeps those that were found from one invocation to the next."""

    def __init__(self, cluster: Cluster, labels: CapacityLabels, recorder: Recorder) -> None:
        """``labels`` tell which nodes are spot."""
        self._cluster = cluster
        self._labels = labels
        self._recorder = recorder
        self._found: dict[str, Place] = {}  # by the pod's uid
        self._lacks: Mapping[str, str] = {}
        self._sought: frozenset[str] = frozenset()
        self._look_at: datetime | None = None
        self._told = ""
        self._passed = 0  # so many nodes were looked at in vain, in their order

    def sought(self, pod: Pod, now: datetime) -> PlaceSought:
        """Whether a place is known for a pod: one that was found counts for a while."""
        found = self._found.get(pod.uid)
        until = found.at + LOOK_AGAIN_AFTER if found is not None else now
        lacks = self._lacks.get(pod.uid, NO_PLACE_IS_KNOWN)
        return PlaceSought(until if now < until else None, lacks)

    def was_sought(self, pod: Pod) -> bool:
        """Whether a pod is among those for which places were looked for last."""
        return pod.uid in self._sought

    def ask(
        self,
        wishes: Sequence[Wish],
        doomed: Collection[str],
        now: datetime,
        questions: Questions,
        then: Callable[[Collection[str]], object],
    ) -> None:
        """Look for places, unless that was done just now. ``then`` gets the keys that were sought.

        ``doomed``: nodes that are none, whether they are marked or not.
        """
        if not wishes or (self._look_at is not None and now < self._look_at):
            return
        self._look_at = now + LOOK_AGAIN_AFTER
        self._found = {uid: each for uid, each in self._found.items() if now < each.at + TAKEN_FOR}
        asking = {wish.pod.uid for wish in wishes}
        taken = [each for uid, each in self._found.items() if uid not in asking]
        look = partial(find, self._cluster, self._labels, wishes, doomed, taken, self._passed)
        questions.ask("places", look, partial(self._take, wishes, now, then))

    def _take(
        self,
        wishes: Sequence[Wish],
        asked_at: datetime,
        then: Callable[[Collection[str]], object],
        looking: Future[Found],
        now: datetime,
    ) -> None:
        self._look_at = now + max(LOOK_AGAIN_AFTER, PAUSE_PER_LOOK * (now - asked_at))
        self._sought = frozenset(wish.pod.uid for wish in wishes)
        then({wish.key for wish in wishes})
        try:
            result = looking.result()
        except ClusterError as error:
            self._tell(error)
            return
        self._tell(result.forbidden)
        nodes, self._lacks = result.nodes, result.lacks
        self._passed = 0 if nodes else self._passed + AT_A_TIME
        found = [wish for wish in wishes if wish.pod.uid in nodes]
        for wish in found:
            uid = wish.pod.uid
            self._found[uid] = Place(nodes[uid], wish.pod.spec.requests, now)

    def _tell(self, error: ClusterError | None) -> None:
        """Say what keeps places from being known, once for as long as it is the same."""
        told, self._told = self._told, str(error or "")
        if self._told not in ("", told):
            self._recorder.noted(f"places for pods that a hint may move are not known: {error}")


class Seeker:
    """Looks for places for one invocation, and has plans made anew for what has one."""

    def __init__(self, places: Places, view: View, background: Background, clock: Clock) -> None:
        self._places = places
        self._view = view
        self.questions = Questions(background, clock)
        """What is asked that plans wait for."""

    def ask(self, wishes: Sequence[Wish], now: datetime) -> None:
        """Look for places for these, if it is time."""
        again = partial(self._view.queue.add, urgent=True)
        self._places.ask(wishes, self._view.nodes.dooms.keys(), now, self.questions, again)


def find(
    cluster: Cluster,
    labels: CapacityLabels,
    wishes: Sequence[Wish],
    doomed: Collection[str] = (),
    taken: Iterable[Place] = (),
    passed: int = 0,
) -> Found:
    """The nodes with room for these pods.

    Of the nodes that take one of them, marked nodes never among them, it looks at as many as
    AT_A_TIME, the youngest first, after so many that were ``passed`` before. ``taken``: places that
    others are about to have. Raises ClusterError.
    """
    volumes, forbidden = _volumes(cluster, wishes)
    asked = {wish.pod.uid: _request(wish, volumes) for wish in wishes}
    common = set.intersection(*(set((w.rules.node_selector or {}).items()) for w in wishes))
    where = ",".join([f"!{names.DOOMED}", *(f"{key}={value}" for key, value in sorted(common))])
    nodes = ask(cluster, List(Selection(Node, labels=where), fresh=False)).items
    by_name = {each.name: each for each in nodes}
    fleet = Fleet(by_name, frozenset(doomed), {}, labels.among(nodes))
    everywhere = Rooms(fleet)
    taking = everywhere.accepting(asked.values())
    youngest = sorted(taking, key=lambda node: str(node.metadata.creation_timestamp), reverse=True)
    start = passed % max(1, len(youngest))
    part = youngest[start : start + AT_A_TIME]
    pods = list_all(cluster, [selections.candidates_on(node.name) for node in part])
    coming = ((each.node, each.resources) for each in taken)
    used = used_by(chain.from_iterable(pods), coming)
    some = {node.name: node for node in part}
    rooms = Rooms(msgspec.structs.replace(fleet, nodes=some, used=used))
    found: dict[str, str] = {}
    for uid, request in asked.items():
        places = (rooms.place(request, capacity) for capacity in (*Capacity, None))
        if place := next(filter(None, places), None):
            found[uid] = place
    without = ((uid, everywhere.shortage(asked[uid])) for uid in asked.keys() - found.keys())
    lacks = {uid: short.of("its next pod") for uid, short in without if short.is_refused}
    return Found(found, lacks, forbidden)


def _request(wish: Wish, volumes: Mapping[str, PersistentVolume]) -> NodeRequest:
    mounted = volumes_of(wish.pod, wish.claims, volumes)
    return NodeRequest(resources=wish.pod.spec.requests, rules=wish.rules, volumes=mounted)


def _volumes(
    cluster: Cluster, wishes: Iterable[Wish]
) -> tuple[Mapping[str, PersistentVolume], ForbiddenError | None]:
    """The volumes that these pods mount, as far as they are there. Raises ClusterError.

    Roles of versions before may not read them: pods without volumes have their places all the same.
    """
    forbidden: ForbiddenError | None = None
    named = sorted({claim.spec.volume_name for wish in wishes for claim in wish.claims} - {""})
    found: dict[str, PersistentVolume] = {}
    for reply in cluster.perform([Get(PersistentVolume, name) for name in named]) if named else ():
        if isinstance(reply.result, PersistentVolume):
            found[reply.result.name] = reply.result
        elif isinstance(reply.error, ForbiddenError):
            forbidden = reply.error
        elif reply.error is not None and not isinstance(reply.error, NotFoundError):
            raise reply.error
    return found, forbidden
