"""Which connections of the webhook's server have a thread, and which wait for one.

A client that is silent holds the thread of its connection. So threads are shared by the clients'
addresses: those that wait take turns, address by address, and no address has more than a share for
connections that have not shown the token. One that has shown it keeps its thread.
"""

import socket
from collections import Counter, OrderedDict, deque
from collections.abc import Sequence
from typing import Final

MOST: Final = 256
"""Threads. More of them answer later, each and all. The connections that wait are not refused: then
their evictions would pass. One that has shown the token is never closed for another: an API server
keeps 25 idle ones, and gives each to the next of its requests.
"""

OF_ONE_ADDRESS: Final = MOST // 4
"""Threads for connections of one address that have not shown the token."""

SHORT: Final = 1.0
"""Seconds in which a connection has to show the token while others wait for a thread. An API server
waits 3 s for its answer."""


class Client:
    """A connection: the address of its client, and its socket, first without TLS and then with."""

    def __init__(self, address: str, connection: socket.socket) -> None:
        """It has just been accepted."""
        self.address = address
        self.socket = connection
        self.since = 0.0
        """When it got its thread, by a clock that is never set back."""


class Slots:
    """Connections with a thread, and those that wait. Not safe for several threads."""

    def __init__(self, waiting: int) -> None:
        """``waiting``: so many connections may wait."""
        self._room = waiting
        self._waiting: OrderedDict[str, deque[Client]] = OrderedDict()
        self._all_waiting = 0
        self._with_thread: set[Client] = set()
        self._unproven: dict[Client, None] = {}
        self._unproven_of: Counter[str] = Counter()
        self._proven_of: Counter[str] = Counter()

    def wait(self, client: Client) -> Client | None:
        """Let a connection wait. The one that is turned away for it, if too many wait.

        That is the last one of the address of which most wait, among those that have no connection
        which has shown the token: a connection that is refused lets its eviction pass, and
        strangers must not do that to an API server.
        """
        self._waiting.setdefault(client.address, deque()).append(client)
        self._all_waiting += 1
        if self._all_waiting <= self._room:
            return None
        return self._remove(max(self._waiting, key=self._crowd), -1)

    def next(self, now: float) -> Client | None:
        """The connection that gets a thread now, if there is one for it."""
        if len(self._with_thread) >= MOST:
            return None
        for address in self._waiting:
            if self._unproven_of[address] < OF_ONE_ADDRESS:
                self._waiting.move_to_end(address)
                client = self._remove(address, 0)
                client.since = now
                self._with_thread.add(client)
                self._unproven[client] = None
                self._unproven_of[address] += 1
                return client
        return None

    def overdue(self, now: float) -> Sequence[Client]:
        """The connections that have had their time without showing the token, while others wait."""
        if not self._waiting:
            return ()
        return [client for client in self._unproven if now - client.since >= SHORT]

    def prove(self, client: Client) -> None:
        """A connection has shown the token."""
        if client in self._unproven:
            del self._unproven[client]
            _count_down(self._unproven_of, client.address)
            self._proven_of[client.address] += 1

    def leave(self, client: Client) -> None:
        """A connection gives its thread back, if it has one."""
        if client in self._with_thread:
            self.prove(client)
            self._with_thread.remove(client)
            _count_down(self._proven_of, client.address)

    def end(self) -> Sequence[Client]:
        """The connections that wait; none does any more."""
        left = [client for line in self._waiting.values() for client in line]
        self._waiting.clear()
        self._all_waiting = 0
        return left

    def _crowd(self, address: str) -> tuple[bool, int]:
        """How much an address is to be turned away: strangers first, then where most wait."""
        return not self._proven_of[address], len(self._waiting[address])

    def _remove(self, address: str, place: int) -> Client:
        line = self._waiting[address]
        client = line[place]
        del line[place]
        self._all_waiting -= 1
        if not line:
            del self._waiting[address]
        return client


def _count_down(counter: Counter[str], address: str) -> None:
    """One less; addresses are forgotten that have none."""
    counter[address] -= 1
    if not counter[address]:
        del counter[address]
