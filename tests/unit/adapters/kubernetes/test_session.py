"""Sessions: replies in one mailbox, and an end that leaves nothing behind."""

import threading
from datetime import timedelta
from threading import Event

import pytest

from evenkeel.adapters.kubernetes.endpoint import Limits
from evenkeel.errors import ClusterError, NotFoundError, ThrottledError, UnavailableError
from evenkeel.model.meta import Metadata
from evenkeel.model.pod import Pod
from evenkeel.model.request import Create
from evenkeel.ports import Reply, Session
from tests.kit.api_server import HandClock, Handler, ScriptedServer, answer, hang, refusal
from tests.unit.adapters.kubernetes.making import EVICT, HASTY, READ, WRITE, Connect, pod

SOON = timedelta(seconds=60)
DONE = answer(200, pod())


def test_replies_and_errors_arrive_in_the_mailbox(server: ScriptedServer, connect: Connect) -> None:
    server.script(DONE, refusal(404, "NotFound"))
    with connect().session() as session:
        session.submit(READ)
        (first,) = session.next(SOON)
        session.submit(EVICT)
        (second,) = session.next(SOON)
    assert isinstance(first, Reply)
    assert first.request is READ
    assert isinstance(first.result, Pod)
    assert isinstance(second, Reply)
    assert second.request is EVICT
    assert isinstance(second.error, NotFoundError)


def test_an_empty_mailbox_answers_when_the_time_is_over(connect: Connect) -> None:
    with connect().session() as session:
        assert session.next(timedelta()) == ()
        assert session.next(timedelta(seconds=-1)) == ()
        assert session.next(timedelta(milliseconds=20)) == ()


def gate(server: ScriptedServer) -> Event:
    """Requests are answered when this is set."""
    go = Event()

    def wait(handler: Handler) -> None:
        go.wait(20)
        DONE(handler)

    server.script(always=wait)
    return go


def test_a_request_is_in_flight_until_its_reply_is_in_the_mailbox(
    server: ScriptedServer, connect: Connect
) -> None:
    go = gate(server)
    with connect(Limits()).session() as session:
        for _ in range(3):
            session.submit(READ)
        assert session.in_flight == 3
        go.set()
        seen = 0
        while session.in_flight:
            seen += len(session.next(SOON))
        seen += len(session.next(timedelta()))
    assert seen == 3


def test_submitting_more_than_the_capacity_does_not_block(
    server: ScriptedServer, connect: Connect
) -> None:
    go = gate(server)
    with connect(Limits(parallel=2)).session() as session:
        for _ in range(50):
            session.submit(READ)
        assert session.in_flight == 50
        go.set()
        arrived = 0
        while arrived < 50:
            arrived += len(session.next(SOON))
        assert session.in_flight == 0


def test_the_end_of_a_session_waits_for_the_requests_under_way(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(always=hang)
    with connect(HASTY).session() as session:
        session.submit(WRITE)
    (reply,) = session.next(timedelta())
    assert isinstance(reply, Reply)
    assert isinstance(reply.error, UnavailableError)


def test_a_fault_of_our_own_becomes_a_reply_too(connect: Connect) -> None:
    impossible = Create(Pod(metadata=Metadata(name="p", labels={"a": object()})))  # type: ignore[dict-item]
    with connect().session() as session:
        session.submit(impossible)
        (reply,) = session.next(SOON)
    assert isinstance(reply, Reply)
    assert isinstance(reply.error, ClusterError)
    assert reply.request is impossible


def test_closing_a_cluster_leaves_no_thread(server: ScriptedServer, connect: Connect) -> None:
    server.script(always=DONE)
    before = set(threading.enumerate())
    cluster = connect()
    cluster.perform([READ] * 10)
    cluster.close()
    left = set(threading.enumerate()) - before
    assert not [each.name for each in left if each.name.startswith("evenkeel-")]


def reply_of(session: Session) -> Reply:
    (reply,) = session.next(SOON)
    assert isinstance(reply, Reply)
    return reply


def test_a_request_with_no_time_left_is_not_sent(server: ScriptedServer, connect: Connect) -> None:
    server.script(always=DONE)
    with connect().session() as session:
        session.submit(EVICT, left=timedelta)
        assert isinstance(reply_of(session).error, UnavailableError)
    assert server.seen == []


def test_no_further_try_begins_once_nothing_is_left(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    """The API server asks to come back in a second, and half of one is left."""
    server.script(answer(429, {"message": "too many requests"}, Retry_After="1"), always=DONE)
    end = clock.now() + timedelta(seconds=0.5)
    with connect().session() as session:
        session.submit(EVICT, left=lambda: end - clock.now())
        assert isinstance(reply_of(session).error, ThrottledError)
    assert len(server.seen) == 1


@pytest.mark.parametrize("seconds", [2, 5])
def test_a_write_that_is_throttled_for_long_comes_back_to_who_knows_its_deadline(
    seconds: int, server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    """No eviction at a pod's last moment waits for so long, and none of the session's places is
    taken by one that waits."""
    throttled = answer(429, {"message": "too many requests"}, Retry_After=str(seconds))
    server.script(throttled, always=DONE)
    with connect().session() as session:
        session.submit(EVICT)
        error = reply_of(session).error
    assert isinstance(error, ThrottledError)
    assert error.retry_after == seconds
    assert (len(server.seen), clock.naps) == (1, [])


def test_a_try_is_made_again_while_there_is_time_left(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    server.script(answer(429, {"message": "too many requests"}, Retry_After="1"), always=DONE)
    end = clock.now() + timedelta(seconds=10)
    with connect().session() as session:
        session.submit(EVICT, left=lambda: end - clock.now())
        assert reply_of(session).error is None
    assert len(server.seen) == 2


def test_an_answer_is_waited_for_no_longer_than_what_is_left(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(always=hang)
    with connect().session() as session:
        session.submit(EVICT, left=lambda: timedelta(seconds=0.2))
        assert isinstance(reply_of(session).error, UnavailableError)
