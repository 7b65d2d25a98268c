"""Tokens: kept while they are good, renewed when they are not, once for all threads."""

from datetime import timedelta
from itertools import count
from threading import Barrier

import pytest

from evenkeel.adapters.kubernetes.endpoint import Limits
from evenkeel.errors import UnauthenticatedError
from evenkeel.model.pod import Pod
from evenkeel.model.request import Relisted, Request, Selection
from evenkeel_runtime.kubeconfig.tokens import RenewedToken, Token
from tests.kit.api_server import (
    HandClock,
    Handler,
    ScriptedServer,
    hang,
    stream,
)
from tests.unit.adapters.kubernetes.making import (
    DENIED,
    READ,
    WRITE,
    Connect,
    Mint,
    error_of,
    only,
    page,
    pod,
)


def test_a_token_is_fetched_once_while_it_is_good(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    mint = Mint(clock)
    server.script(always=only("t1"))
    cluster = connect(tokens=RenewedToken(mint, clock))
    assert [error_of(cluster, READ) for _ in range(3)] == [None] * 3
    assert mint.made == 1


@pytest.mark.parametrize("request_", [READ, WRITE], ids=["read", "write"])
def test_a_refused_token_is_renewed_once(
    request_: Request, server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    server.script(always=only("t2"))
    cluster = connect(tokens=RenewedToken(Mint(clock), clock))
    assert error_of(cluster, request_) is None
    assert [seen.headers["Authorization"] for seen in server.seen] == ["Bearer t1", "Bearer t2"]
    assert clock.naps == []


def test_a_second_refusal_is_an_error(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    server.script(always=DENIED)
    cluster = connect(tokens=RenewedToken(Mint(clock), clock))
    assert isinstance(error_of(cluster, READ), UnauthenticatedError)
    assert len(server.seen) == 2


def test_a_refusal_is_an_error_at_once_when_there_is_no_other_token(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    server.script(always=DENIED)
    cluster = connect(tokens=RenewedToken(lambda: Token("the only one"), clock))
    assert isinstance(error_of(cluster, READ), UnauthenticatedError)
    assert len(server.seen) == 1


def test_many_threads_renew_a_refused_token_once(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    mint, together = Mint(clock), Barrier(8)
    turns = count()

    def deny_the_first_eight(handler: Handler) -> None:
        if next(turns) < 8:
            together.wait(20)
        only("t2")(handler)

    server.script(always=deny_the_first_eight)
    limits = Limits(parallel=8, read=timedelta(minutes=1))
    cluster = connect(limits, tokens=RenewedToken(mint, clock))
    replies = cluster.perform([READ] * 8)
    assert [reply.error for reply in replies] == [None] * 8
    assert mint.made == 2


def test_a_token_is_renewed_shortly_before_it_runs_out(clock: HandClock) -> None:
    tokens = RenewedToken(Mint(clock, lives=timedelta(minutes=14)), clock)
    assert tokens.token() == "t1"
    clock.advance(timedelta(minutes=13))
    assert tokens.token() == "t1"
    clock.advance(timedelta(seconds=30))
    assert tokens.token() == "t2"


def test_a_late_refusal_of_an_old_token_changes_nothing(clock: HandClock) -> None:
    tokens = RenewedToken(Mint(clock), clock)
    tokens.token()
    tokens.refused("t1")
    assert tokens.token() == "t2"
    tokens.refused("t1")
    assert tokens.token() == "t2"


def test_no_token_to_be_had_is_an_error_of_the_request(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    def none() -> Token:
        raise UnauthenticatedError("the plugin is gone")

    cluster = connect(tokens=RenewedToken(none, clock))
    error = error_of(cluster, READ)
    assert isinstance(error, UnauthenticatedError)
    assert "the plugin is gone" in str(error)
    assert server.seen == []


def test_a_watch_renews_a_refused_token_too(
    server: ScriptedServer, clock: HandClock, connect: Connect
) -> None:
    listed = only("t1", page(pod("a"), version=10))
    server.script(listed, always=only("t2", stream(then=hang)))
    tokens = RenewedToken(Mint(clock), clock)
    with connect(tokens=tokens).session() as session:
        session.watch(Selection(Pod))
        (arrived,) = session.next(timedelta(seconds=5))
        assert isinstance(arrived, Relisted)
        while len(server.seen) < 3:
            assert session.next(timedelta(milliseconds=20)) == ()
    used = [seen.headers["Authorization"] for seen in server.seen]
    assert used == ["Bearer t1", "Bearer t1", "Bearer t2"]
