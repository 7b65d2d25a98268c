"""What stands between the functions and a cluster when a person replays events on it.

Without --apply no write gets through; and nodes that a person bound to
instances look as if they had been made for them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import msgspec

from evenkeel.errors import ForbiddenError
from evenkeel.model.node import Node
from evenkeel.model.request import Change, Get, List, Listing, Relisted, Request
from evenkeel.ports import Arrival, Cluster, OnReply, Reply, Session, TimeLeft
from evenkeel_cli.passing import PassingSession

NOTHING = timedelta()


@dataclass(frozen=True, slots=True)
class Guard:
    """What is let through: writes or only reads, and which instance each bound node has."""

    writes: bool
    instance_of: Mapping[str, str] = field(default_factory=dict)

    def refusal(self, request: Request) -> Reply | None:
        """The answer to a request that is not let through; None if it is."""
        if self.writes or isinstance(request, Get | List):
            return None
        return Reply(request, error=ForbiddenError("nothing is written without --apply"))

    def seen(self, reply: Reply) -> Reply:
        """A reply, with bound nodes as they should look."""
        match reply.result:
            case Node() as node:
                return replace(reply, result=self._bound(node))
            case Listing(items=[Node(), *_]) as listing:
                return replace(reply, result=self._listed(listing))
        return reply

    def arrived(self, arrival: Arrival) -> Arrival:
        """An arrival, with bound nodes as they should look."""
        match arrival:
            case Reply():
                return self.seen(arrival)
            case Change(object=Node() as node):
                return replace(arrival, object=self._bound(node))
            case Relisted(listing=Listing(items=[Node(), *_]) as listing):
                return replace(arrival, listing=self._listed(listing))
        return arrival

    def _listed(self, listing: Listing[Any]) -> Listing[Any]:
        return replace(listing, items=tuple(self._bound(node) for node in listing.items))

    def _bound(self, node: Node) -> Node:
        instance_id = self.instance_of.get(node.name)
        if instance_id is None:
            return node
        spec = msgspec.structs.replace(node.spec, provider_id=f"aws:///bound/{instance_id}")
        return msgspec.structs.replace(node, spec=spec)


class GuardedCluster:
    """Implements the port Cluster: another cluster, behind a guard."""

    def __init__(self, cluster: Cluster, guard: Guard) -> None:
        """Stand before this cluster."""
        self._cluster = cluster
        self._guard = guard

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """Carry out what the guard lets through."""
        refusals = [self._guard.refusal(request) for request in requests]
        let_through = [r for r, refusal in zip(requests, refusals, strict=True) if not refusal]
        replies = iter(self._cluster.perform(let_through) if let_through else ())
        return [refusal or self._guard.seen(next(replies)) for refusal in refusals]

    def session(self) -> Session:
        """Open a session behind the same guard."""
        return GuardedSession(self._cluster.session(), self._guard)


class GuardedSession(PassingSession):
    """Implements the port Session: another session, behind a guard."""

    def __init__(self, session: Session, guard: Guard) -> None:
        """Stand before this session."""
        super().__init__(session)
        self._guard = guard
        self._refused: list[Arrival] = []

    def submit(
        self, request: Request, then: OnReply | None = None, left: TimeLeft | None = None
    ) -> None:
        """Send a request if the guard lets it through; else its refusal arrives."""
        refusal = self._guard.refusal(request)
        if refusal is None:
            super().submit(request, then, left)
        else:
            self._refused.append(replace(refusal, then=then))

    def next(self, timeout: timedelta) -> Sequence[Arrival]:
        """Everything in the mailbox; does not wait while refusals are in it."""
        refused, self._refused = self._refused, []
        arrived = super().next(NOTHING if refused else timeout)
        return [*refused, *map(self._guard.arrived, arrived)]
