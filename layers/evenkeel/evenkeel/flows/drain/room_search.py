"""Which pods would find room on a node: asked before one breaks that could as well stay.

Only a mere hint waits for the answer. Nodes are read beside the loop, at most every ten seconds,
and the pods of a part of them at a time.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
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
from evenkeel.ports import Cluster, Recorder

LOOK_AGAIN_AFTER: Final = timedelta(seconds=10)
"""Places are looked for at most this often, and one that was found counts for so long."""

PAUSE_PER_LOOK: Final = 8
"""The next look comes after so many times as long as the last one took."""

TAKEN_FOR: Final = timedelta(minutes=1)
"""So long others leave the place to the pod for which it was found: it has to end, and come."""

AT_A_TIME: Final = 50
"""The pods of so many nodes are read in one look; the next goes on with the nodes after them."""


class RoomRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A pod that moves once a place is known; ``key`` is its controller's."""

    key: str
    pod: Pod
    rules: NewPodSpec
    claims: Sequence[PersistentVolumeClaim]

    @classmethod
    def of(cls, key: str, pod: Pod, claims: Sequence[PersistentVolumeClaim]) -> "RoomRequest":
        """What a pod's next one will ask of its node: what it asks itself."""
        spec = pod.spec
        rules = NewPodSpec(
            node_selector=spec.node_selector, affinity=spec.affinity, tolerations=spec.tolerations
        )
        mounted = [each for each in claims if each.name in pod.spec.claims]
        return cls(key=key, pod=pod, rules=rules, claims=mounted)


class Room(msgspec.Struct, frozen=True):
    """Where a pod would find room, and as of when that is known."""

    node: str
    resources: Mapping[str, float]
    at: datetime


class SearchResult(msgspec.Struct, frozen=True):
    """The nodes with room for pods, by the pods' uids; ``forbidden``: what might not be read.

    ``lacks`` says, by uid, which rule keeps a pod off every node, also off an empty one.
    """

    nodes: Mapping[str, str]
    lacks: Mapping[str, str]
    forbidden: ForbiddenError | None = None


class RoomSearch:
    """Looks for places, and keeps those that were found from one invocation to the next."""

    def __init__(self, cluster: Cluster, labels: CapacityLabels, recorder: Recorder) -> None:
        """``labels`` tell which nodes are spot."""
        self._cluster = cluster
        self._labels = labels
        self._recorder = recorder
        self._found: dict[str, Room] = {}  # by the pod's uid
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
        room_requests: Sequence[RoomRequest],
        view: View,
        now: datetime,
        questions: Questions,
    ) -> None:
        """Look for places, unless that was done just now, off the doomed nodes of a view.

        Plans for what was sought are made anew then.
        """
        if not room_requests or (self._look_at is not None and now < self._look_at):
            return
        self._look_at = now + LOOK_AGAIN_AFTER
        self._found = {uid: each for uid, each in self._found.items() if now < each.at + TAKEN_FOR}
        asking = {request.pod.uid for request in room_requests}
        taken = [each for uid, each in self._found.items() if uid not in asking]
        doomed = view.nodes.dooms.keys()
        look = partial(
            find, self._cluster, self._labels, room_requests, doomed, taken, self._passed
        )
        questions.ask("places", look, partial(self._take, room_requests, now, view))

    def _take(
        self,
        room_requests: Sequence[RoomRequest],
        asked_at: datetime,
        view: View,
        looking: Future[SearchResult],
        now: datetime,
    ) -> None:
        self._look_at = now + max(LOOK_AGAIN_AFTER, PAUSE_PER_LOOK * (now - asked_at))
        self._sought = frozenset(request.pod.uid for request in room_requests)
        view.queue.add({request.key for request in room_requests}, urgent=True)
        try:
            result = looking.result()
        except ClusterError as error:
            self._tell(error)
            return
        self._tell(result.forbidden)
        nodes, self._lacks = result.nodes, result.lacks
        self._passed = 0 if nodes else self._passed + AT_A_TIME
        found = [request for request in room_requests if request.pod.uid in nodes]
        for request in found:
            uid = request.pod.uid
            self._found[uid] = Room(nodes[uid], request.pod.spec.requests, now)

    def _tell(self, error: ClusterError | None) -> None:
        """Say what keeps places from being known, once for as long as it is the same."""
        told, self._told = self._told, str(error or "")
        if self._told not in ("", told):
            self._recorder.noted(f"places for pods that a hint may move are not known: {error}")


def find(
    cluster: Cluster,
    labels: CapacityLabels,
    room_requests: Sequence[RoomRequest],
    doomed: Collection[str] = (),
    taken: Iterable[Room] = (),
    passed: int = 0,
) -> SearchResult:
    """The nodes with room for these pods.

    Of the nodes that take one of them, marked nodes never among them, it looks at as many as
    AT_A_TIME, the youngest first, after so many that were ``passed`` before. ``taken``: places that
    others are about to have. Raises ClusterError.
    """
    volumes, forbidden = _volumes(cluster, room_requests)
    asked = {request.pod.uid: _request(request, volumes) for request in room_requests}
    common = set.intersection(*(set((w.rules.node_selector or {}).items()) for w in room_requests))
    selector = [f"{key}={value}" for key, value in sorted(common)]
    where = ",".join([f"!{names.DOOMED}", *selector])
    nodes = ask(cluster, List(Selection(Node, labels=where), fresh=False)).items
    by_name = {each.name: each for each in nodes if each.name not in doomed}
    fleet = Fleet(by_name, frozenset(), {}, labels.among(nodes))
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
    if selector and not by_name:
        lacks = dict.fromkeys(asked, f"no other node has its node selector {', '.join(selector)}")
    return SearchResult(found, lacks, forbidden)


def _request(request: RoomRequest, volumes: Mapping[str, PersistentVolume]) -> NodeRequest:
    mounted = volumes_of(request.pod, request.claims, volumes)
    return NodeRequest(resources=request.pod.spec.requests, rules=request.rules, volumes=mounted)


def _volumes(
    cluster: Cluster, room_requests: Iterable[RoomRequest]
) -> tuple[Mapping[str, PersistentVolume], ForbiddenError | None]:
    """The volumes that these pods mount, as far as they are there. Raises ClusterError.

    Roles of versions before may not read them: pods without volumes have their places all the same.
    """
    forbidden: ForbiddenError | None = None
    named = sorted(
        {claim.spec.volume_name for request in room_requests for claim in request.claims} - {""}
    )
    found: dict[str, PersistentVolume] = {}
    for reply in cluster.perform([Get(PersistentVolume, name) for name in named]) if named else ():
        if isinstance(reply.result, PersistentVolume):
            found[reply.result.name] = reply.result
        elif isinstance(reply.error, ForbiddenError):
            forbidden = reply.error
        elif reply.error is not None and not isinstance(reply.error, NotFoundError):
            raise reply.error
    return found, forbidden
