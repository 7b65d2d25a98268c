"""What stands between Evenkeel and the API server, before a small server."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
import urllib3

from tests.e2e.nightly.between import (
    BROKEN_OFF,
    CONFLICT,
    EXPIRED,
    REFUSALS,
    RESET_AFTER,
    Between,
)
from tests.kit.api_server import ScriptedServer, Step, answer, hang, serving, stream

PODS = "/api/v1/pods?watch=true"


@contextmanager
def placed(
    step: Step, share: float = 0.0, of_watches: float = 0.0
) -> Iterator[tuple[Between, ScriptedServer, str]]:
    """It, the server behind it, and where it listens."""
    with serving() as server, serving() as before, urllib3.PoolManager() as pool:
        between = Between(pool, server.script(always=step).url, share, of_watches)
        yield between, server, before.script(always=between).url


def asked(url: str, method: str = "GET", body: bytes | None = None) -> urllib3.BaseHTTPResponse:
    return urllib3.request(method, f"{url}{PODS}", body=body, retries=False, timeout=10)


@pytest.mark.parametrize(
    "step", [answer(200, b"hello", X_Own="1"), stream(b"hel", b"lo")], ids=["counted", "chunked"]
)
def test_a_request_passes_with_its_body_and_its_answer(step: Step) -> None:
    with placed(step) as (_, server, url):
        answered = asked(url, "PATCH", b"{}")
    assert (answered.status, answered.data) == (200, b"hello")
    (seen,) = server.seen
    assert (seen.method, seen.path, seen.query, seen.body) == (
        *("PATCH", "/api/v1/pods"),
        *({"watch": "true"}, b"{}"),
    )


def test_a_refusal_never_reaches_the_server_and_a_reset_may_have() -> None:
    statuses = set[int]()
    with placed(answer(200, {}), share=1.0) as (between, server, url):
        for _ in range(80):
            with suppress(urllib3.exceptions.ProtocolError):
                statuses.add(asked(url, "PATCH", b"{}").status)
    assert statuses == {409, 429, 500, 503}
    assert set(between.wrong) == {*REFUSALS, *CONFLICT, RESET_AFTER, BROKEN_OFF}
    assert between.wrong["409"] == 1, "no other write comes first"
    assert len(server.seen) == between.wrong[RESET_AFTER] + between.wrong[BROKEN_OFF]


def test_reads_meet_no_conflict() -> None:
    with placed(answer(200, {}), share=1.0) as (between, _, url):
        for _ in range(60):
            with suppress(urllib3.exceptions.ProtocolError):
                asked(url)
    assert set(between.wrong) == {*REFUSALS, RESET_AFTER, BROKEN_OFF}


def test_watches_break_off_within_their_second_piece_or_have_expired() -> None:
    statuses, shown = set[int](), set[bytes]()
    with placed(stream(b"first", b"second", then=hang), of_watches=1.0) as (between, _, url):
        for _ in range(20):
            watching = urllib3.request("GET", url + PODS, retries=False, preload_content=False)
            statuses.add(watching.status)
            if watching.status == 200:
                shown.add(watching.read1())
                with pytest.raises(urllib3.exceptions.ProtocolError):
                    watching.read()
    assert (statuses, shown) == ({200, 410}, {b"first"})
    assert set(between.wrong) == {*EXPIRED, BROKEN_OFF}


def test_over_a_connection_that_it_has_forgotten_nothing_is_said() -> None:
    with (
        placed(stream(b"one")) as (between, server, url),
        urllib3.PoolManager(maxsize=1, timeout=0.5, retries=False) as pool,
    ):
        assert pool.request("GET", url + PODS).data == b"one"
        between.forget()
        with pytest.raises(urllib3.exceptions.ReadTimeoutError):
            pool.request("GET", url + PODS)
        assert len(server.seen) == 1
        assert pool.request("GET", url + PODS).data == b"one"


def test_while_the_server_is_away_connections_break_and_a_stream_that_was_open_does() -> None:
    with placed(stream(b"one", then=hang)) as (between, server, url):
        watching = urllib3.request("GET", url + PODS, retries=False, preload_content=False)
        assert watching.read1() == b"one"
        between.go()
        with pytest.raises(urllib3.exceptions.ProtocolError):
            watching.read()
        with pytest.raises(urllib3.exceptions.ProtocolError):
            asked(url)
        assert len(server.seen) == 1
        between.come_back()
        server.script(always=answer(200, {}))
        assert asked(url).status == 200
