"""Which connection gets a thread next, which has to give its thread up, which is turned away."""

import socket
from collections.abc import Iterator, Sequence

import pytest

from evenkeel_runtime.serve.server import POLL
from evenkeel_runtime.serve.slots import LONG, MOST, OF_ONE_ADDRESS, SHORT, Client, Slots

PLENTY = 10_000

WEBHOOK_LIMIT = 3.0
"""Seconds that an API server waits for the webhook's answer (timeoutSeconds)."""


@pytest.fixture
def connection() -> Iterator[socket.socket]:
    """A socket. Nothing here looks at it."""
    with socket.socket() as made:
        yield made


class Waiting:
    """Slots, and connections by their address and a number."""

    def __init__(self, connection: socket.socket, room: int = PLENTY) -> None:
        self.slots = Slots(room)
        self.now = 1.0
        self._connection = connection
        self._names: dict[Client, str] = {}

    def come(self, address: str, count: int = 1) -> list[str]:
        """Connections come; those that are turned away."""
        turned_away = []
        for _ in range(count):
            client = Client(address, self._connection)
            number = sum(name.startswith(address) for name in self._names.values())
            self._names[client] = f"{address}{number}"
            found = self.slots.wait(client)
            turned_away += [] if found is None else [self._names[found]]
        return turned_away

    def begin(self) -> list[Client]:
        """The connections that get threads now."""
        found = []
        while (client := self.slots.next(self.now)) is not None:
            found.append(client)
        return found

    def names(self, clients: Sequence[Client]) -> list[str]:
        return [self._names[client] for client in clients]


@pytest.fixture
def waiting(connection: socket.socket) -> Waiting:
    return Waiting(connection)


def test_addresses_take_turns_and_the_connections_of_each_their_order(waiting: Waiting) -> None:
    waiting.come("a", 3)
    waiting.come("b", 2)
    waiting.come("c")
    assert waiting.names(waiting.begin()) == ["a0", "b0", "c0", "a1", "b1", "a2"]


def test_one_address_has_a_share_of_the_threads_until_it_shows_the_token(waiting: Waiting) -> None:
    waiting.come("a", MOST)
    first = waiting.begin()
    assert len(first) == OF_ONE_ADDRESS
    waiting.come("b")
    assert waiting.names(waiting.begin()) == ["b0"], "there are threads for others"
    waiting.slots.prove(first[0])
    waiting.slots.leave(first[1])
    assert waiting.names(waiting.begin()) == [f"a{OF_ONE_ADDRESS}", f"a{OF_ONE_ADDRESS + 1}"]


def test_all_threads_are_for_one_address_that_shows_the_token(waiting: Waiting) -> None:
    waiting.come("a", MOST + 1)
    begun = []
    while now := waiting.begin():
        for client in now:
            waiting.slots.prove(client)
        begun += now
    assert len(begun) == MOST
    waiting.slots.leave(begun[0])
    assert waiting.names(waiting.begin()) == [f"a{MOST}"]


@pytest.mark.parametrize(("is_known", "seconds"), [(False, SHORT), (True, LONG)])
def test_the_time_to_show_the_token_is_limited_only_while_others_wait(
    waiting: Waiting, seconds: float, *, is_known: bool
) -> None:
    """An API server that has much to do begins late to use a connection."""
    waiting.come("a", OF_ONE_ADDRESS)
    first = waiting.begin()
    if is_known:
        waiting.slots.prove(first.pop(0))
    waiting.now += seconds
    assert waiting.slots.overdue(waiting.now) == ()
    waiting.come("a", 2)
    waiting.begin()
    assert waiting.slots.overdue(waiting.now - 0.01) == []
    assert waiting.slots.overdue(waiting.now) == first, "the token keeps a thread"


def test_a_known_address_gives_no_stranger_more_time(waiting: Waiting) -> None:
    waiting.come("a", 2)
    waiting.come("b", OF_ONE_ADDRESS + 1)
    known, *others = waiting.begin()
    waiting.slots.prove(known)
    waiting.now += SHORT
    overdue = waiting.names(waiting.slots.overdue(waiting.now))
    assert overdue == [f"b{number}" for number in range(OF_ONE_ADDRESS)]
    assert len(others) == OF_ONE_ADDRESS + 1


def test_where_too_many_wait_the_last_of_the_largest_crowd_is_turned_away(
    connection: socket.socket,
) -> None:
    waiting = Waiting(connection, room=5)
    assert waiting.come("a", 3) + waiting.come("b", 2) == []
    assert waiting.come("b") == ["a2"], "a was first to have three"
    assert waiting.come("c", 2) == ["b2", "a1"]
    assert waiting.names(waiting.begin()) == ["a0", "b0", "c0", "b1", "c1"]


def test_an_address_that_has_shown_the_token_is_turned_away_last(
    connection: socket.socket,
) -> None:
    waiting = Waiting(connection, room=4)
    waiting.come("a")
    (client,) = waiting.begin()
    waiting.slots.prove(client)
    assert waiting.come("a", 3) + waiting.come("b") == []
    assert waiting.come("c") + waiting.come("a") == ["b0", "c0"]
    assert waiting.come("a") == ["a5"], "nobody else waits"
    waiting.slots.leave(client)
    assert waiting.come("b") == ["b1"], "it stays known"


def test_in_the_end_none_waits(waiting: Waiting) -> None:
    waiting.come("a", 2)
    waiting.come("b")
    assert waiting.names(waiting.slots.end()) == ["a0", "a1", "b0"]
    assert waiting.begin() == []


def test_known_addresses_come_first_and_strangers_leave_them_threads(waiting: Waiting) -> None:
    waiting.come("known")
    waiting.slots.prove(waiting.begin()[0])
    for number in range(MOST):
        waiting.come(f"{number}-")
    assert len(waiting.begin()) == MOST - MOST // 8, "so many strangers"
    waiting.come("known", 2)
    assert waiting.names(waiting.begin()) == ["known1", "known2"]


def test_a_stranger_has_less_time_the_more_wait(waiting: Waiting) -> None:
    for number in range(MOST * 5):
        waiting.come(f"{number}-")
    begun = waiting.begin()
    waiting.now += SHORT / 8
    assert not waiting.slots.overdue(waiting.now - SHORT / 16)
    assert waiting.slots.overdue(waiting.now) == begun


@pytest.mark.parametrize("is_known", [True, False])
def test_an_api_server_waits_for_less_than_its_limit_behind_thousands_of_silent_addresses(
    waiting: Waiting, *, is_known: bool
) -> None:
    """A tenant's small pods, each with an address of its own. It waited for 7 s."""
    if is_known:
        waiting.come("server")
        waiting.slots.prove(waiting.begin()[0])
    for number in range(2_000):
        waiting.come(f"{number}-")
    waiting.come("server")
    came, place = waiting.now, f"server{int(is_known)}"
    while place not in waiting.names(waiting.begin()):
        waiting.now += POLL
        assert waiting.now - came < WEBHOOK_LIMIT
        for client in waiting.slots.overdue(waiting.now):
            waiting.slots.leave(client)
