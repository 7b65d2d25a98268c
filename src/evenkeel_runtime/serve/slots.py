"""Which connections of the webhook's server have a thread, and which wait for one.

A client that is silent holds the thread of its connection. So threads are shared by the clients'
addresses: those that wait take turns, address by address, and no address has more than a share for
connections that have not shown the token. One that has shown it keeps its thread, and its address
is known from then on: an API server's. Known ones come first, and strangers leave them some
threads.
"""

import socket
from collections import Counter, OrderedDict, deque
from collections.abc import Sequence
from itertools import chain
from typing import Final

MOST: Final = 256
"""Threads. More of them answer later, each and all. The connections that wait are not refused: then
their evictions would pass. One that has shown the token is never closed for another: an API server
keeps 25 idle ones, and gives each to the next of its requests.
"""

OF_ONE_ADDRESS: Final = MOST // 4
"""Threads for connections of one address that have not shown the token."""

SHORT: Final = 1.0
"""Seconds in which a stranger's connection has to show the token while others wait for a thread:
less the more wait, or the last of thousands would wait for longer than the 3 s in which an API
server wants its answer."""

LONG: Final = 5.0
"""The same for a connection of a known address.

An API server that has much to do was seen to send its first request later than ``SHORT``. To an
eviction whose connection was closed by then nobody answers, and it passes.
"""


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
        self._known: OrderedDict[str, None] = OrderedDict()

    def wait(self, client: Client) -> Client | None:
        """Let a connection wait. The one that is turned away for it, if too many wait.

        That is the last one of the address of which most wait, among those that are not known: a
        connection that is refused lets its eviction pass, and strangers must not do that to an API
        server.
        """
        self._waiting.setdefault(client.address, deque()).append(client)
        self._all_waiting += 1
        if self._all_waiting <= self._room:
            return None
        most = max(
            self._waiting, key=lambda each: (each not in self._known, len(self._waiting[each]))
        )
        return self._remove(most, -1)

    def next(self, now: float) -> Client | None:
        """The connection that gets a thread now, if there is one for it."""
        if len(self._with_thread) >= MOST:
            return None
        known = (address for address in self._known if address in self._waiting)
        for address in chain(known, self._waiting):
            is_known = address in self._known
            if not is_known and len(self._unproven) >= MOST - MOST // 8:
                return None
            if self._unproven_of[address] < OF_ONE_ADDRESS:
                self._waiting.move_to_end(address)
                if is_known:
                    self._known.move_to_end(address)
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
        short = SHORT / max(1.0, 2 * self._all_waiting / MOST)
        return [
            each
            for each in self._unproven
            if now - each.since >= (LONG if each.address in self._known else short)
        ]

    def prove(self, client: Client) -> None:
        """A connection has shown the token."""
        self._known[client.address] = None
        self._settle(client)

    def leave(self, client: Client) -> None:
        """A connection gives its thread back, if it has one."""
        self._with_thread.discard(client)
        self._settle(client)

    def end(self) -> Sequence[Client]:
        """The connections that wait; none does any more."""
        left = [client for line in self._waiting.values() for client in line]
        self._waiting.clear()
        self._all_waiting = 0
        return left

    def _settle(self, client: Client) -> None:
        """A connection has no token to show any more."""
        if client in self._unproven:
            del self._unproven[client]
            self._unproven_of[client.address] -= 1
            if not self._unproven_of[client.address]:
                del self._unproven_of[client.address]

    def _remove(self, address: str, place: int) -> Client:
        line = self._waiting[address]
        client = line[place]
        del line[place]
        self._all_waiting -= 1
        if not line:
            del self._waiting[address]
        return client
