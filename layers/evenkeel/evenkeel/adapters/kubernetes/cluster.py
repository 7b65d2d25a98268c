"""ports.Cluster over HTTPS."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Self

from evenkeel.adapters.kubernetes.answers import answer
from evenkeel.adapters.kubernetes.session import RestSession
from evenkeel.adapters.kubernetes.transport import Transport
from evenkeel.model.request import Request
from evenkeel.ports import Reply


class RestCluster:
    """A real API server. Made once per process and used by all its invocations.

    Its threads are made when they are first needed. ``close``, or a with statement, ends
    them and the connections; a process that keeps it for life need not.
    """

    def __init__(self, transport: Transport) -> None:
        """Take requests to the API server behind this transport."""
        self._transport = transport
        limits = transport.limits
        self._executor = ThreadPoolExecutor(limits.parallel, "evenkeel-request")
        self._of_sessions = ThreadPoolExecutor(limits.in_sessions, "evenkeel-session")

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """Carry out requests, several at once, and return when all have their reply."""
        if len(requests) == 1:
            return [answer(self._transport, requests[0])]
        return list(self._executor.map(partial(answer, self._transport), requests))

    def session(self) -> RestSession:
        """Open a session. The ceiling on parallel requests holds for all sessions together."""
        return RestSession(self._transport, self._of_sessions)

    @property
    def transport(self) -> Transport:
        """The way to the API server, for calls that are no request of the port."""
        return self._transport

    def close(self) -> None:
        """End threads and connections; requests under way are waited for."""
        self._executor.shutdown(cancel_futures=True)
        self._of_sessions.shutdown(cancel_futures=True)
        self._transport.close()

    def __enter__(self) -> Self:
        """Use the cluster in a with statement."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Close it."""
        self.close()
