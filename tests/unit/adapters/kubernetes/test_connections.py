"""Connections: how many, for how long, and how many requests on them at once."""

import socket
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier, Lock

import pytest

from evenkeel.adapters.kubernetes.cluster import RestCluster
from evenkeel.adapters.kubernetes.endpoint import Endpoint, Limits
from evenkeel.adapters.kubernetes.transport import Transport
from evenkeel.errors import UnavailableError
from tests.kit.api_server import (
    HandClock,
    Handler,
    ScriptedServer,
    Step,
    answer,
    hang,
    refusal,
    serving,
    stream,
)
from tests.unit.adapters.kubernetes.making import (
    PODS,
    READ,
    WRITE,
    Connect,
    arrivals,
    error_of,
    event,
    page,
    pod,
    told,
)

DONE = answer(200, pod())


def test_one_connection_serves_requests_that_follow_each_other(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(always=DONE)
    cluster = connect()
    for _ in range(5):
        assert error_of(cluster, READ) is None
    assert len({seen.connection for seen in server.seen}) == 1


def test_a_connection_is_replaced_when_it_may_have_been_forgotten_on_the_way(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    server.script(always=DONE)
    cluster = connect()
    error_of(cluster, READ)
    clock.advance(timedelta(minutes=6))
    assert error_of(cluster, WRITE) is None
    error_of(cluster, READ)
    before, after, later = (seen.connection for seen in server.seen)
    assert before != after == later


@pytest.mark.parametrize(
    "end", [refusal(403, "Forbidden"), stream()], ids=["was refused", "came to its end"]
)
def test_a_watch_takes_no_connection_that_one_before_it_left(
    server: ScriptedServer, connect: Connect, end: Step
) -> None:
    """One may come after a freeze, and a watch bears silence for longer than any request."""
    server.script(page(), end, stream(event("ADDED", pod("a", 11)), then=hang))
    with connect().session() as session:
        session.watch(PODS)
        while told(arrivals(session, 1)[-1]) != ("changed", "a", 11):
            pass
    first, second = (seen.connection for seen in server.seen if "watch" in seen.query)
    assert first != second


class Meeting:
    """A step that lets requests through in groups, and counts how many are there at once."""

    def __init__(self, group: int) -> None:
        self._lock = Lock()
        self._together = Barrier(group)
        self._here = 0
        self.most = 0

    def __call__(self, handler: Handler) -> None:
        with self._lock:
            self._here += 1
            self.most = max(self.most, self._here)
        # Fewer than the group would wait in vain here; more would be counted.
        self._together.wait(20)
        with self._lock:
            self._here -= 1
        DONE(handler)


PATIENT = timedelta(minutes=1)


def test_no_more_requests_are_under_way_than_the_ceiling_allows(
    server: ScriptedServer, connect: Connect
) -> None:
    meeting = Meeting(4)
    server.script(always=meeting)
    replies = connect(Limits(parallel=4, read=PATIENT)).perform([READ] * 20)
    assert [reply.error for reply in replies] == [None] * 20
    assert meeting.most == 4


def test_the_ceiling_holds_for_threads_that_ask_one_by_one(
    server: ScriptedServer, connect: Connect
) -> None:
    meeting = Meeting(4)
    server.script(always=meeting)
    cluster = connect(Limits(parallel=2, read=PATIENT))
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda _: error_of(cluster, READ), range(8))) == [None] * 8
    assert meeting.most == 4


def test_sessions_share_a_ceiling_twice_as_high(server: ScriptedServer, connect: Connect) -> None:
    """Their owner keeps half of it for what cannot wait."""
    meeting = Meeting(4)
    server.script(always=meeting)
    cluster = connect(Limits(parallel=2, read=PATIENT))
    with cluster.session() as one, cluster.session() as other:
        for _ in range(8):
            one.submit(READ)
            other.submit(READ)
        assert one.capacity == other.capacity == 4
        for session in (one, other):
            while session.in_flight:
                session.next(PATIENT)
    assert meeting.most == 4


def nobody() -> str:
    """The URL of a server that is not there."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return f"http://127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("first", "waits"), [(timedelta(seconds=2), (0.5, 2)), (None, (5, 10))], ids=["first", "budget"]
)
def test_a_server_that_never_answered_is_given_up_soon_where_a_person_waits(
    clock: HandClock, first: timedelta | None, waits: tuple[float, float]
) -> None:
    transport = Transport(Endpoint(nobody()), Limits(first=first), clock=clock)
    with RestCluster(transport) as cluster:
        error = error_of(cluster, READ)
    assert isinstance(error, UnavailableError)
    least, most = waits
    assert least < sum(clock.naps) < most


def test_a_server_that_has_answered_is_waited_for_when_it_is_gone_for_a_while(
    clock: HandClock,
) -> None:
    with serving() as server:
        server.script(always=answer(200, pod(), Connection="close"))
        transport = Transport(Endpoint(server.url), Limits(first=timedelta()), clock=clock)
        cluster = RestCluster(transport)
        assert error_of(cluster, READ) is None
    with cluster:
        assert isinstance(error_of(cluster, READ), UnavailableError)
    assert sum(clock.naps) > 5
