"""Connections: how many, for how long, and how many requests on them at once."""

from datetime import timedelta
from threading import Barrier, BrokenBarrierError, Lock

from evenkeel.adapters.kubernetes.endpoint import Limits
from evenkeel.model.request import Request
from tests.fixtures.api_server import HandClock, Handler, ScriptedServer, answer
from tests.unit.kubernetes.making import READ, WRITE, Connect, error_of, pod

DONE = answer(200, pod())


def test_one_connection_serves_requests_that_follow_each_other(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(always=DONE)
    cluster = connect()
    for _ in range(5):
        assert error_of(cluster, READ) is None
    assert len({seen.connection for seen in server.seen}) == 1


def test_a_connection_is_made_anew_when_it_may_have_been_forgotten_on_the_way(
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


def test_no_more_requests_are_under_way_than_the_ceiling_allows(
    server: ScriptedServer, connect: Connect
) -> None:
    lock, ceiling = Lock(), Barrier(4)
    under_way: list[int] = [0]
    highest: list[int] = [0]

    def meet(handler: Handler) -> None:
        with lock:
            under_way[0] += 1
            highest[0] = max(highest[0], under_way[0])
        # Four at once get through together; a fifth would be seen, fewer would hang.
        ceiling.wait(5)
        with lock:
            under_way[0] -= 1
        DONE(handler)

    server.script(always=meet)
    requests: list[Request] = [READ] * 20
    with connect(Limits(parallel=4, read=timedelta(seconds=10))) as cluster:
        try:
            replies = cluster.perform(requests)
        except BrokenBarrierError as error:  # pragma: no cover - the failure's own message
            raise AssertionError("the ceiling was never reached") from error
    assert [reply.error for reply in replies] == [None] * 20
    assert highest == [4]


def test_sessions_share_the_ceiling(server: ScriptedServer, connect: Connect) -> None:
    lock, under_way, highest = Lock(), [0], [0]
    both = Barrier(2)

    def meet(handler: Handler) -> None:
        with lock:
            under_way[0] += 1
            highest[0] = max(highest[0], under_way[0])
        both.wait(5)
        with lock:
            under_way[0] -= 1
        DONE(handler)

    server.script(always=meet)
    cluster = connect(Limits(parallel=2, read=timedelta(seconds=10)))
    with cluster.session() as one, cluster.session() as other:
        for _ in range(4):
            one.submit(READ)
            other.submit(READ)
        assert one.capacity == other.capacity == 2
        while one.in_flight:
            one.next(timedelta(seconds=5))
        while other.in_flight:
            other.next(timedelta(seconds=5))
    assert highest == [2]
