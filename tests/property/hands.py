"""Whose hand a request came from, and the death of an invocation in the middle of a write."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from evenkeel.errors import ClusterError, UnavailableError
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.request import Create, Delete, Evict, Get, Patch, Request, Write
from evenkeel.ports import Cluster, OnReply, Reply, Session, TimeLeft
from evenkeel_cli.passing import PassingSession
from evenkeel_sandbox.simulator.clock import Process, SimulatedClock
from evenkeel_sandbox.simulator.session import Result
from tests.property.scenes import Crash


class Cause(StrEnum):
    """On whose account something changes in the cluster just now."""

    CLUSTER = "cluster"
    EVENKEEL = "evenkeel"
    OTHERS = "others"


@dataclass(frozen=True, slots=True)
class Deed:
    """A write that Evenkeel made, and how it ended.

    ``node``: where its pod was, if it had one. ``overtaken``: an invocation that had the Lease
    sent it after another one had taken that. ``undone``: it was accepted, and something of it
    is not there. ``by``: the number of the invocation.
    """

    at: datetime
    write: Write
    node: str = ""
    error: ClusterError | None = None
    overtaken: bool = False
    undone: bool = False
    by: int = 0

    @property
    def in_vain(self) -> bool:
        """Whether nothing came of it, or not all."""
        return self.error is not None or self.undone

    @property
    def on_lease(self) -> bool:
        """Whether it is about Evenkeel's own Lease, or the namespace that holds it."""
        return self.write.reference.kind in ("Lease", "Namespace")

    def __str__(self) -> str:
        return f"{type(self.write).__name__} {self.write.reference}"


class Hands:
    """Signs the requests of invocations, keeps their writes, and lets one of them die."""

    def __init__(self, clock: SimulatedClock, crash: Crash | None) -> None:
        self._clock = clock
        self._crash = crash
        self._signatures: dict[int, _Signature] = {}
        self._holders: dict[str, str] = {}  # by Lease
        self._takings = defaultdict[str, list[tuple[Process, datetime]]](list)  # by Lease
        self._attempts = 0
        self._numbers: dict[Process, int] = {}
        self.cause = Cause.CLUSTER
        self.deeds: list[Deed] = []
        self.crashed_at: datetime | None = None
        self.leases_fail_until: datetime | None = None
        self.on_crash: Callable[[Process], None] = lambda _: None
        self.node_of: Callable[[Write], str] = lambda _: ""
        self.effect: Callable[[Write], Callable[[], bool]] = lambda _: lambda: False

    def sign(self, request: Request) -> None:
        """Remember which invocation sends a request."""
        if self._clock.running is not None:
            owner = self._clock.running.whole
            self._signatures[id(request)] = _Signature(request, owner, self._clock.now())

    @contextmanager
    def on_account_of(self, cause: Cause) -> Iterator[None]:
        """What changes in here is caused by this."""
        before, self.cause = self.cause, cause
        try:
            yield
        finally:
            self.cause = before

    def execute(self, request: Request, proceed: Callable[[], Result]) -> Result:
        """Stand before the server, as an interceptor of the simulated cluster."""
        if self._leases_fail and _is_about_lease(request) and not isinstance(request, Get):
            raise UnavailableError("leases.coordination.k8s.io cannot be written")
        if not isinstance(request, Patch | Create | Delete | Evict):
            return proceed()
        signature = self._signatures.get(id(request))
        if signature is None:
            return proceed()
        owner = signature.owner
        dies = self._crash is not None and self._attempts == self._crash.write
        self._attempts += 1
        if self._crash is not None and not self._crash.carried_out:
            if dies:
                self._kill(owner)
            if owner.killed:
                raise UnavailableError("the connection was reset")
        try:
            return self._carry_out(request, signature, proceed)
        finally:
            if dies:
                self._kill(owner)

    @property
    def _leases_fail(self) -> bool:
        until = self.leases_fail_until
        return until is not None and self._clock.now() < until

    def _carry_out(
        self, request: Write, signature: "_Signature", proceed: Callable[[], Result]
    ) -> Result:
        now, node = self._clock.now(), self.node_of(request)
        is_undone = self.effect(request)
        overtaken = self._is_overtaken(signature)
        by = self._numbers.setdefault(signature.owner, len(self._numbers))
        try:
            with self.on_account_of(Cause.EVENKEEL):
                result = proceed()
        except ClusterError as error:
            self.deeds.append(Deed(now, request, node, error, overtaken, by=by))
            raise
        deed = Deed(now, request, node, overtaken=overtaken, undone=is_undone(), by=by)
        self.deeds.append(deed)
        if isinstance(result, Lease):
            self._note_holder(result, signature.owner)
        return result

    def _note_holder(self, lease: Lease, writer: Process) -> None:
        holder = lease.spec.holder_identity or ""
        if holder not in ("", self._holders.get(lease.name)):
            self._takings[lease.name].append((writer, self._clock.now()))
        self._holders[lease.name] = holder

    def _is_overtaken(self, signature: "_Signature") -> bool:
        """Whether another took the Lease since that the sender had."""
        for takings in self._takings.values():
            held = [owner for owner, _ in takings]
            if signature.owner in held:
                return signature.owner is not held[-1] and signature.at > takings[-1][1]
        return False

    def _kill(self, owner: Process) -> None:
        if self._crash is None or not owner.alive or owner.killed:
            return
        self.crashed_at = self._clock.now()
        if self._crash.stopped_for:
            owner.suspend(timedelta(seconds=self._crash.stopped_for))
        else:
            self.on_crash(owner)
            owner.kill()


class _Signature(NamedTuple):
    """Who sent a request, and when; it keeps the request, and so the request's id."""

    request: Request
    owner: Process
    at: datetime


class SignedCluster:
    """The port Cluster as an invocation has it: every request is signed."""

    def __init__(self, cluster: Cluster, hands: Hands) -> None:
        self._cluster = cluster
        self._hands = hands

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        for request in requests:
            self._hands.sign(request)
        return self._cluster.perform(requests)

    def session(self) -> Session:
        return SignedSession(self._cluster.session(), self._hands)


class SignedSession(PassingSession):
    """The port Session, likewise."""

    def __init__(self, session: Session, hands: Hands) -> None:
        super().__init__(session)
        self._hands = hands

    def submit(
        self, request: Request, then: OnReply | None = None, left: TimeLeft | None = None
    ) -> None:
        self._hands.sign(request)
        super().submit(request, then, left)


def _is_about_lease(request: Request) -> bool:
    match request:
        case Create(object=Lease()):
            return True
        case Get(kind=kind) | Patch(kind=kind):
            return kind is Lease
    return False
