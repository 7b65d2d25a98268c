"""Answers that end too soon, and answers that ask to come again later, in the middle of a list."""

import json
from typing import Any

import pytest

from evenkeel.adapters.kubernetes.endpoint import Limits
from evenkeel.errors import ThrottledError, UnavailableError
from evenkeel.model.request import Listing
from tests.kit.api_server import HandClock, Handler, ScriptedServer, Step, answer, reset, stream
from tests.unit.adapters.kubernetes.making import (
    LIST,
    PODS,
    WRITE,
    Connect,
    arrivals,
    error_of,
    event,
    page,
    pod,
    told,
)

BODY = json.dumps({"metadata": {"resourceVersion": "10"}, "items": [pod("a"), pod("b")]}).encode()
HALF = len(BODY) // 2


def closing(handler: Handler) -> None:
    """Close the connection as if all had been said."""
    handler.close_connection = True


def cut_within_its_length(handler: Handler) -> None:
    """Say how long the answer is, and send half of it."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(BODY)))
    handler.end_headers()
    handler.wfile.write(BODY[:HALF])
    handler.close_connection = True


def half_a_chunk(said: bytes) -> Step:
    """Say that a chunk is longer than it is, and close the connection."""

    def step(handler: Handler) -> None:
        handler.wfile.write(f"{len(said) + 50:x}\r\n".encode() + said)
        handler.close_connection = True

    return step


CUT: dict[str, Step] = {
    "within its length": cut_within_its_length,
    "within a chunk": stream(BODY[:HALF], then=half_a_chunk(b"{")),
    "between chunks": stream(BODY[:HALF], then=closing),
    "by a reset": stream(BODY[:HALF], then=reset),
}


def names_in(connect: Connect) -> list[str]:
    (reply,) = connect().perform([LIST])
    assert isinstance(reply.result, Listing), reply.error
    return [item.name for item in reply.result.items]


@pytest.mark.parametrize("cut", CUT.values(), ids=CUT.keys())
def test_a_list_that_breaks_off_is_asked_for_again(
    cut: Step, server: ScriptedServer, connect: Connect
) -> None:
    server.script(cut, answer(200, BODY))
    assert names_in(connect) == ["a", "b"]
    assert len(server.seen) == 2


@pytest.mark.parametrize("cut", CUT.values(), ids=CUT.keys())
def test_a_later_page_that_breaks_off_is_asked_for_again_and_no_other(
    cut: Step, server: ScriptedServer, connect: Connect
) -> None:
    server.script(page(pod("z"), more="t1"), cut, answer(200, BODY))
    assert names_in(connect) == ["z", "a", "b"]
    assert [seen.query.get("continue") for seen in server.seen] == [None, "t1", "t1"]


@pytest.mark.parametrize("cut", CUT.values(), ids=CUT.keys())
def test_a_write_whose_answer_breaks_off_is_not_sent_again(
    cut: Step, server: ScriptedServer, connect: Connect
) -> None:
    server.script(cut, always=answer(200, pod()))
    assert isinstance(error_of(connect(), WRITE), UnavailableError)
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "said", [b"", event("ADDED", pod("lost", 99))[:60]], ids=["nothing of it", "half an event"]
)
def test_a_watch_goes_on_from_the_last_whole_event_when_a_chunk_breaks_off(
    said: bytes, server: ScriptedServer, connect: Connect
) -> None:
    broken = stream(event("ADDED", pod("a", 11)), then=half_a_chunk(said))
    server.script(page(version=10), broken, stream(event("ADDED", pod("b", 31))))
    with connect().session() as session:
        session.watch(PODS)
        found = arrivals(session, 3)
    assert [told(each) for each in found] == [
        ("listed",),
        ("changed", "a", 11),
        ("changed", "b", 31),
    ]
    assert [seen.query["resourceVersion"] for seen in server.seen[1:3]] == ["10", "11"]


def throttled(seconds: int) -> Step:
    return answer(429, {"message": "too many requests"}, Retry_After=str(seconds))


def test_a_page_that_is_throttled_is_asked_for_again_when_its_time_has_come(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    server.script(page(pod("z"), more="t1"), throttled(4), answer(200, BODY))
    assert names_in(connect) == ["z", "a", "b"]
    (nap,) = clock.naps
    assert 4 <= nap <= 5


def test_a_list_of_which_each_page_is_throttled_ends_with_its_time(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    """Each page by itself would have its ten seconds."""
    steps: list[Step] = []
    for number in range(20):
        steps += [throttled(6), page(pod(f"p{number}"), more=f"t{number}")]
    server.script(*steps)
    assert isinstance(error_of(connect(Limits()), LIST), ThrottledError)
    assert sum(clock.naps) <= 20


def test_a_selection_that_always_expires_is_said_to_be_refused(
    server: ScriptedServer, connect: Connect
) -> None:
    """Nothing would list it beside its watch, and nobody would know."""
    expired: dict[str, Any] = {"kind": "Status", "code": 410, "reason": "Expired"}
    server.script(always=answer(410, expired))
    with connect().session() as session:
        session.watch(PODS)
        (found,) = arrivals(session, 1)
    assert told(found)[0] == "refused"
