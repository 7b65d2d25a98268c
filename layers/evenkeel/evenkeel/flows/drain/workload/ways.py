"""Which way each pod goes, found out anew when something changes that it depends on."""

from collections.abc import Sequence
from datetime import datetime

from evenkeel.decisions.drain.gangs import Together
from evenkeel.decisions.drain.movers import MovingPod
from evenkeel.decisions.drain.returning import Drain
from evenkeel.decisions.drain.route import Route, route_of
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.room_search import RoomRequest, RoomSearch
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason


class Ways:
    """The ways of the pods of a view."""

    def __init__(self, view: View, room_search: RoomSearch) -> None:
        """``room_search`` knows the places of pods that a hint would move."""
        self._view = view
        self._room_search = room_search
        self._routes: dict[str, tuple[tuple[object, ...], Route]] = {}
        self._drains: dict[str, tuple[Node | None, NodeNotice, Drain]] = {}

    def of(
        self, pod: Pod, notice: NodeNotice, now: datetime, together: Together | None = None
    ) -> Route:
        """The way of a pod, decided anew when something changes that it depends on.

        ``together``: its gang is broken by what dies.
        """
        owner = self._view.owners.of(pod)
        around = self._view.surroundings.of(pod.namespace)
        above = owner.controller
        known = None if above is None else (above.metadata.annotations, above.spec)
        drain = self.drain(pod.spec.node_name, notice)
        said = owner.deployment, owner.releases_refused
        place = self._room_search.sought(pod, now) if drain.is_hint else None
        inputs = (pod.revision, drain, owner.kind, known, said, around, place, together)
        found = self._routes.get(pod.uid)
        is_over = found is not None and found[1].until is not None and found[1].until <= now
        if found is None or found[0] != inputs or is_over:
            route = route_of(pod, owner, around, drain, now, place, together)
            found = self._routes[pod.uid] = inputs, route
        return found[1]

    def room_requests(
        self, controller_key: str, movers: Sequence[MovingPod]
    ) -> Sequence[RoomRequest]:
        """The pods that would move if a place were known for them."""
        return [
            RoomRequest.of(
                controller_key,
                mover.pod,
                self._view.surroundings.of(mover.pod.namespace).claims,
            )
            for mover in movers
            if mover.route.reason is Reason.NO_PLACE
        ]

    def unsearched(self, room_requests: Sequence[RoomRequest]) -> frozenset[str]:
        """The uids of the pods for which no place was looked for yet."""
        return frozenset(
            each.pod.uid for each in room_requests if not self._room_search.was_sought(each.pod)
        )

    def drain(self, name: str, notice: NodeNotice) -> Drain:
        """What keeps pods off a doomed node, found out anew when its notice or the node changes."""
        node, last = self._view.nodes.marked.get(name), self._drains.get(name)
        if last is None or last[0] is not node or last[1] is not notice:
            last = self._drains[name] = node, notice, Drain.of(notice, node)
        return last[2]
