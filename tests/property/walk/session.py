"""The ports of the walk. What is sent waits until it lands, what happens until a watch shows it."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Self

from evenkeel.errors import ClusterError
from evenkeel.flows.drain.sync.questions import AtOnce
from evenkeel.model.pod import Pod
from evenkeel.model.request import (
    Delete,
    Evict,
    Get,
    List,
    Listing,
    Patch,
    Relisted,
    Request,
    Selection,
)
from evenkeel.ports import Arrival, OnReply, Reply, TimeLeft
from tests.property.walk.ground import Changed, Engine, Ground


class Clock:
    """A clock that stands still, but for the steps that move it."""

    def __init__(self, now: datetime) -> None:
        self.began = self.time = now

    def now(self) -> datetime:
        return self.time

    def sleep(self, duration: timedelta) -> None:
        raise NotImplementedError(f"nobody waits here for {duration}")

    def boot(self) -> timedelta:
        return self.time - self.began


class Server:
    """The port Cluster, answered at once."""

    def __init__(self, ground: Ground, clock: Clock) -> None:
        self.ground = ground
        self._clock = clock

    def do(self, deed: Callable[[Engine], object]) -> tuple[object, Sequence[Changed]]:
        """Its answer, or the ClusterError that it met, and what it changed."""
        self.ground, answer, changes = self.ground.changed(self._clock.now(), deed)
        return answer, changes

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        return [reply_of(request, self.do(partial(_execute, request))[0]) for request in requests]

    def session(self) -> Any:
        raise NotImplementedError("an invocation has one session, and it is open")


def reply_of(request: Request, answer: Any, then: OnReply | None = None) -> Reply:
    """The reply with an answer, or with the error that it is."""
    if isinstance(answer, ClusterError):
        return Reply(request, error=answer, then=then)
    return Reply(request, answer, then=then)


@dataclass(frozen=True, slots=True, eq=False)
class Sent:
    """A request under way; ``answer`` is what it met when it landed.

    ``number`` is the how manieth of its invocation; ``token`` tells it from others.
    """

    number: int
    request: Request
    at: datetime
    token: Hashable
    has_landed: bool = False
    answer: object = None

    @property
    def is_write(self) -> bool:
        """Whether it changes anything."""
        return not isinstance(self.request, Get | List)


class WalkSession(AtOnce):
    """The port Session.

    What is no pod's business is answered before anything else happens: the pause, the Lease,
    budgets, nodes. What concerns pods is left in ``outbox``.
    """

    capacity = 64

    def __init__(self, server: Server, clock: Clock) -> None:
        self._server = server
        self._clock = clock
        self.mailbox: list[Arrival] = []
        self.outbox: list[Sent] = []
        self.watched: list[Selection[Any]] = []
        self.thens: dict[int, tuple[OnReply | None, TimeLeft | None]] = {}
        self.submitted = 0
        self.patience = timedelta()

    @property
    def in_flight(self) -> int:
        return len(self.thens)

    def submit(
        self, request: Request, then: OnReply | None = None, left: TimeLeft | None = None
    ) -> None:
        self.submitted += 1
        if not _concerns_pods(request):
            answer, _ = self._server.do(partial(_execute, request))
            self.mailbox.append(reply_of(request, answer, then))
            return
        self.thens[self.submitted] = then, left
        token = hash((repr(request), left is None))
        self.outbox.append(Sent(self.submitted, request, self._clock.now(), token))

    def answer(self, sent: Sent) -> None:
        """Put the reply to a request into the mailbox."""
        then, _ = self.thens.pop(sent.number)
        self.mailbox.append(reply_of(sent.request, sent.answer, then))

    def is_late(self, sent: Sent) -> bool:
        """Whether a request may not be tried any more."""
        _, left = self.thens[sent.number]
        return left is not None and left() <= timedelta()

    def watch(self, selection: Selection[Any]) -> None:
        """Its list arrives before anything else happens."""
        if selection in self.watched:
            return
        self.watched.append(selection)
        (reply,) = self._server.perform([List(selection)])
        assert isinstance(reply.result, Listing)
        self.mailbox.append(Relisted(selection, reply.result))

    def unwatch(self, selection: Selection[Any]) -> None:
        self.watched.remove(selection)

    def next(self, timeout: timedelta) -> Sequence[Arrival]:
        self.patience = timeout
        arrived, self.mailbox = self.mailbox, []
        return arrived

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        pass


def _execute(request: Request, engine: Engine) -> object:
    return engine.execute(request)


def _concerns_pods(request: Request) -> bool:
    match request:
        case Evict():
            return True
        case List(selection=selection):
            return selection.kind is Pod
        case Get() | Patch() | Delete():
            return request.kind is Pod
        case _:
            return False
