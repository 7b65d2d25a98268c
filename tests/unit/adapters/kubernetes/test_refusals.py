"""A 401 is noted once for each episode, with its cause: a clock, or a role."""

from datetime import timedelta
from email.utils import format_datetime
from threading import Barrier

import pytest

from evenkeel.adapters.kubernetes.endpoint import Limits
from evenkeel_runtime.kubeconfig.tokens import RenewedToken, Token
from tests.kit.api_server import HandClock, Handler, ScriptedServer, Step, dated
from tests.unit.adapters.kubernetes.making import (
    DENIED,
    DONE,
    READ,
    Connect,
    Lines,
    Mint,
    error_of,
    only,
)

NOBODY = "the API server refuses these credentials (401): let it in"


@pytest.fixture
def told() -> list[str]:
    return []


def at(clock: HandClock, ahead: float, step: Step) -> Step:
    """Answer so, as a server whose clock is so many seconds ahead of ours."""

    def now(handler: Handler) -> None:
        time = format_datetime(clock.now() + timedelta(seconds=ahead), usegmt=True)
        dated(time, step)(handler)

    return now


def test_a_token_that_ran_out_and_was_renewed_is_not_noted(
    server: ScriptedServer, clock: HandClock, connect: Connect, told: list[str]
) -> None:
    server.script(always=at(clock, 0, only("t2")))
    cluster = connect(tokens=RenewedToken(Mint(clock), clock), journal=Lines(told))
    assert [error_of(cluster, READ) for _ in range(3)] == [None] * 3
    assert told == []


def test_many_threads_that_meet_the_same_refusal_note_it_once(
    server: ScriptedServer, clock: HandClock, connect: Connect, told: list[str]
) -> None:
    together = Barrier(8)

    def deny_eight_at_once(handler: Handler) -> None:
        together.wait(20)
        at(clock, 0, DENIED)(handler)

    server.script(always=deny_eight_at_once)
    limits = Limits(parallel=8, read=timedelta(minutes=1))
    cluster = connect(limits, journal=Lines(told))
    assert all(reply.error for reply in cluster.perform([READ] * 8))
    assert told == [NOBODY]


@pytest.mark.parametrize("ahead", [0, 290, -290])
def test_a_role_that_is_not_let_in_is_one_line_with_the_remedy(
    ahead: float, server: ScriptedServer, clock: HandClock, connect: Connect, told: list[str]
) -> None:
    server.script(always=at(clock, ahead, DENIED))
    cluster = connect(tokens=RenewedToken(Mint(clock), clock), journal=Lines(told))
    assert all(error_of(cluster, READ) for _ in range(3))
    assert told == [NOBODY]


def test_so_is_one_whose_only_token_is_refused_or_who_has_none(
    server: ScriptedServer, clock: HandClock, connect: Connect, told: list[str]
) -> None:
    server.script(always=at(clock, 0, DENIED))
    only_one = RenewedToken(lambda: Token("the only one"), clock)
    for tokens in (only_one, None):
        assert error_of(connect(tokens=tokens, journal=Lines(told)), READ)
    assert told == [NOBODY] * 2


@pytest.mark.parametrize(("ahead", "side"), [(1200, "behind"), (-1200, "ahead of")])
def test_a_clock_that_is_wrong_is_one_line_with_its_seconds(
    ahead: float,
    side: str,
    server: ScriptedServer,
    clock: HandClock,
    connect: Connect,
    told: list[str],
) -> None:
    server.script(always=at(clock, ahead, DENIED))
    cluster = connect(tokens=RenewedToken(Mint(clock), clock), journal=Lines(told))
    assert all(error_of(cluster, READ) for _ in range(3))
    (line,) = told
    assert line.startswith(f"the clock here is 1200 s {side} the API server's")
    assert "NTP" in line


@pytest.mark.parametrize("date", ["", "yesterday", "Sat, 99 Nov 2026 12:00:00 GMT"])
def test_a_server_without_a_time_says_nothing_of_the_clock(
    date: str, server: ScriptedServer, clock: HandClock, connect: Connect, told: list[str]
) -> None:
    server.script(always=dated(date, DENIED))
    cluster = connect(tokens=RenewedToken(Mint(clock), clock), journal=Lines(told))
    assert error_of(cluster, READ)
    assert told == [NOBODY]


def test_each_episode_is_told(
    server: ScriptedServer, clock: HandClock, connect: Connect, told: list[str]
) -> None:
    denied, done = at(clock, 0, DENIED), at(clock, 0, DONE)
    server.script(*[denied] * 4, done, done, *[denied] * 4)
    cluster = connect(tokens=RenewedToken(Mint(clock), clock), journal=Lines(told))
    errors = [error_of(cluster, READ) is not None for _ in range(6)]
    assert errors == [True, True, False, False, True, True]
    assert told == [NOBODY, NOBODY]


def test_no_line_has_a_token_in_it(
    server: ScriptedServer, clock: HandClock, connect: Connect, told: list[str]
) -> None:
    mint = Mint(clock)
    server.script(at(clock, 0, only("t2")), at(clock, 0, only("t2")), always=at(clock, 900, DENIED))
    cluster = connect(tokens=RenewedToken(mint, clock), journal=Lines(told))
    for _ in range(3):
        error_of(cluster, READ)
    assert len(told) == 1
    assert not any(f"t{number}" in line.split() for line in told for number in range(9))
