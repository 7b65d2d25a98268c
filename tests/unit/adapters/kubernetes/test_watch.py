"""Watches: a list, then changes, whatever happens to the stream."""

import threading
from collections import deque
from datetime import timedelta
from threading import Event

import pytest

from evenkeel.adapters.kubernetes import transport
from evenkeel.adapters.kubernetes.endpoint import Endpoint, Limits
from evenkeel.adapters.kubernetes.mailbox import Mailbox
from evenkeel.adapters.kubernetes.transport import Transport
from evenkeel.adapters.kubernetes.watch import LONGEST_PAUSE, Watch
from evenkeel.errors import ClusterError, ForbiddenError
from evenkeel.model.node import Node
from evenkeel.model.request import List, Selection
from evenkeel.ports import Arrival, Reply
from tests.kit.api_server import (
    Handler,
    ScriptedServer,
    Step,
    answer,
    hang,
    refusal,
    reset,
    stream,
)
from tests.unit.adapters.kubernetes.making import (
    PODS,
    SOON,
    Connect,
    arrivals,
    bookmark,
    event,
    page,
    pod,
    told,
)

EXPIRED = event("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"})


def silent(*pieces: bytes) -> Step:
    """A stream that says this much and then stays open."""
    return stream(*pieces, then=hang)


def quiet(*lists: Step) -> Step:
    """Answer lists so, the last one again and again, and watches with an open stream."""
    left = deque(lists)

    def step(handler: Handler) -> None:
        following = "watch=" in handler.path
        (silent() if following else left.popleft() if len(left) > 1 else left[0])(handler)

    return step


def test_a_watch_lists_first_and_then_tells_changes(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(
        page(pod("a"), version=10),
        silent(
            event("ADDED", pod("b", 11)),
            event("MODIFIED", pod("a", 12)),
            event("DELETED", pod("b", 13)),
        ),
    )
    with connect().session() as session:
        session.watch(PODS)
        found = arrivals(session, 4)
    assert [told(arrival) for arrival in found] == [
        ("listed", "a"),
        ("changed", "b", 11),
        ("changed", "a", 12),
        ("left", "b", 13),
    ]
    listed, followed = server.seen
    assert listed.query == {"labelSelector": "app=web", "limit": "500"}
    assert 240 <= int(followed.query["timeoutSeconds"]) <= 300
    assert followed.query == {
        "labelSelector": "app=web",
        "watch": "1",
        "allowWatchBookmarks": "true",
        "resourceVersion": "10",
        "timeoutSeconds": followed.query["timeoutSeconds"],
    }


def test_changes_are_read_when_they_come_in_pieces(
    server: ScriptedServer, connect: Connect
) -> None:
    both = event("ADDED", pod("a", 11)) + event("ADDED", pod("b", 12))
    middle = len(both) // 2 + 7
    server.script(page(), silent(both[:9], both[9:middle], both[middle:]))
    with connect().session() as session:
        session.watch(PODS)
        found = arrivals(session, 3)
    assert [told(arrival) for arrival in found[1:]] == [("changed", "a", 11), ("changed", "b", 12)]


HALF = event("ADDED", pod("lost", 99))[:40]


@pytest.mark.parametrize("end", [None, reset], ids=["ended", "reset"])
@pytest.mark.parametrize("half", [b"", HALF], ids=["between lines", "within a line"])
def test_a_stream_that_breaks_goes_on_from_the_last_version_seen(
    end: Step | None, half: bytes, server: ScriptedServer, connect: Connect
) -> None:
    pieces = [event("ADDED", pod("a", 11)), *([half] if half else [])]
    server.script(
        page(version=10),
        stream(*pieces, then=end),
        stream(bookmark(25)),
        silent(event("ADDED", pod("b", 31))),
    )
    with connect().session() as session:
        session.watch(PODS)
        found = arrivals(session, 3)
    assert [told(arrival) for arrival in found] == [
        ("listed",),
        ("changed", "a", 11),
        ("changed", "b", 31),
    ]
    assert [seen.query["resourceVersion"] for seen in server.seen[1:]] == ["10", "11", "25"]


@pytest.mark.parametrize(
    "gone", [refusal(410, "Expired"), stream(EXPIRED)], ids=["as an answer", "within the stream"]
)
def test_a_watch_lists_again_when_its_version_is_too_old(
    gone: Step, server: ScriptedServer, connect: Connect
) -> None:
    server.script(
        page(pod("a"), version=10), gone, page(pod("b"), version=50), silent(bookmark(51))
    )
    with connect().session() as session:
        session.watch(PODS)
        found = arrivals(session, 2)
    assert [told(arrival) for arrival in found] == [("listed", "a"), ("listed", "b")]
    assert server.seen[2].query.get("resourceVersion") is None


def test_a_watch_lists_again_when_it_says_nothing_at_all(
    server: ScriptedServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So does an API server of which a version is asked for that is yet to come."""
    monkeypatch.setattr(transport, "SILENCE", timedelta(seconds=0.3))
    server.script(
        page(pod("a"), version=900), silent(), page(pod("b"), version=50), silent(bookmark(51))
    )
    with connect().session() as session:
        session.watch(PODS)
        found = arrivals(session, 2)
    assert [told(arrival) for arrival in found] == [("listed", "a"), ("listed", "b")]
    assert [seen.query.get("resourceVersion") for seen in server.seen[1:3]] == ["900", None]


def test_a_stream_that_cannot_be_opened_is_tried_until_it_can(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(
        page(version=10),
        reset,
        refusal(500, "InternalError"),
        answer(429, {}, Retry_After="0"),
        silent(event("ADDED", pod("a", 11))),
    )
    with connect().session() as session:
        session.watch(PODS)
        found = arrivals(session, 2)
    assert [told(arrival) for arrival in found] == [("listed",), ("changed", "a", 11)]


class Patience(Event):
    """Remembers how long it should have been waited for, and does not wait."""

    def __init__(self) -> None:
        super().__init__()
        self.pauses: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.pauses.append(timeout)
        return self.is_set()


def test_a_watch_pauses_as_long_as_it_is_told_and_longer_each_time_of_its_own(
    server: ScriptedServer,
) -> None:
    throttled = answer(429, {"message": "too many requests"}, Retry_After="7")
    server.script(page(), *[reset] * 8, throttled, reset, silent(event("ADDED", pod("a", 11))))
    patience, mailbox = Patience(), Mailbox()
    way = Transport(Endpoint(server.url))
    watch = Watch(way, PODS, mailbox.put, stopping=patience)
    seen = 0
    while seen < 2 and (arrived := mailbox.take(SOON)):
        seen += len(arrived)
    watch.stop()
    watch.join(20)
    way.close()
    told = patience.pauses.index(7)
    own = [pause for pause in patience.pauses[:told] if pause]
    assert len(own) == 7  # the first failure is no reason to wait
    assert 0.05 <= own[0] <= 0.1
    assert LONGEST_PAUSE / 2 <= own[-1] <= LONGEST_PAUSE


def test_a_watch_goes_on_when_the_server_asks_for_a_rest_without_end(
    server: ScriptedServer,
) -> None:
    forever = answer(429, {"message": "too many requests"}, Retry_After="9" * 400)
    server.script(page(), forever, silent(event("ADDED", pod("a", 11))))
    patience, mailbox = Patience(), Mailbox()
    way = Transport(Endpoint(server.url))
    watch = Watch(way, PODS, mailbox.put, stopping=patience)
    found: list[Arrival] = []
    while len(found) < 2 and (arrived := mailbox.take(SOON)):
        found += arrived
    watch.stop()
    watch.join(20)
    way.close()
    assert [told(arrival) for arrival in found] == [("listed",), ("changed", "a", 11)]
    assert 60 in patience.pauses


def test_a_watch_says_so_and_goes_on_when_something_unforeseen_happens(
    server: ScriptedServer,
) -> None:
    class Restless(Patience):
        """Fails the first time that anybody rests."""

        def wait(self, timeout: float | None = None) -> bool:
            if not self.pauses:
                self.pauses.append(0)
                raise OverflowError("timestamp out of range")
            return super().wait(timeout)

    server.script(page(), reset, reset, reset, silent(event("ADDED", pod("a", 11))))
    patience, mailbox = Restless(), Mailbox()
    way = Transport(Endpoint(server.url))
    watch = Watch(way, PODS, mailbox.put, stopping=patience)
    found: list[Arrival] = []
    while len(found) < 3 and (arrived := mailbox.take(SOON)):
        found += arrived
    watch.stop()
    watch.join(20)
    way.close()
    assert [told(arrival) for arrival in found] == [
        ("listed",),
        ("refused", ClusterError),
        ("changed", "a", 11),
    ]


def test_a_watch_that_is_refused_says_so_once_and_goes_on_trying(
    server: ScriptedServer, connect: Connect
) -> None:
    denied = refusal(403, "Forbidden", "pods is forbidden")
    server.script(denied, denied, denied, page(pod("a")), silent())
    with connect().session() as session:
        session.watch(PODS)
        found = arrivals(session, 2)
    assert [told(arrival) for arrival in found] == [("refused", ForbiddenError), ("listed", "a")]
    assert isinstance(found[0], Reply)
    assert found[0].request == List(PODS)


def test_a_selection_is_watched_once_however_often_it_is_asked_for(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(page(pod("a")), silent())
    with connect().session() as session:
        session.watch(PODS)
        session.watch(PODS)
        assert [told(arrival) for arrival in arrivals(session, 1)] == [("listed", "a")]
        assert session.next(timedelta(milliseconds=50)) == ()
    assert len([seen for seen in server.seen if "watch" not in seen.query]) == 1


def test_nothing_arrives_of_a_selection_that_is_no_longer_watched(
    server: ScriptedServer, connect: Connect
) -> None:
    asked, go, answered = Event(), Event(), Event()

    def late(handler: Handler) -> None:
        asked.set()
        go.wait(20)
        page(pod("a"))(handler)
        answered.set()

    server.script(late)
    with connect(Limits()).session() as session:
        session.watch(PODS)
        asked.wait(20)
        session.unwatch(PODS)
        session.unwatch(Selection(Node))  # never watched: nothing happens
        go.set()
        answered.wait(20)
        assert session.next(timedelta(milliseconds=100)) == ()


def test_a_selection_can_be_watched_again(server: ScriptedServer, connect: Connect) -> None:
    server.script(always=quiet(page(pod("a")), page(pod("b"))))
    with connect().session() as session:
        for name in ("a", "b"):
            session.watch(PODS)
            assert [told(arrival) for arrival in arrivals(session, 1)] == [("listed", name)]
            session.unwatch(PODS)


def test_a_session_ends_at_once_although_its_watches_are_silent(
    server: ScriptedServer, connect: Connect
) -> None:
    server.script(always=quiet(page()))
    with connect().session() as session:
        session.watch(PODS)
        session.watch(Selection(Node))
        arrivals(session, 2)
        watching = watch_threads()
    assert len(watching) == 2
    assert not watch_threads()


def watch_threads() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("evenkeel-watch")]
