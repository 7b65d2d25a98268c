"""Reads that many threads ask for at the same time, asked once.

A burst of a workload's pods asks the same questions hundreds of times. An answer is shared only
with threads that asked before the question was sent: no answer is older than its question.
"""

from collections.abc import Sequence
from datetime import timedelta
from threading import Event, Lock
from typing import Final

from evenkeel.errors import UnavailableError
from evenkeel.model.request import Get, List, Request
from evenkeel.ports import Cluster, Reply, Session

PATIENCE: Final = timedelta(seconds=2)
"""How long a thread waits for a question that another asks. Then it counts as unanswered."""

type Question = tuple[Request, ...]


class _Asking:
    """A question that is asked, or about to be, and its answer."""

    def __init__(self) -> None:
        self.done = Event()
        self.replies: Sequence[Reply] = ()


class SharingCluster:
    """A Cluster whose reads are shared; everything else goes straight to the one behind it."""

    def __init__(self, cluster: Cluster) -> None:
        """``cluster`` answers."""
        self._cluster = cluster
        self._lock = Lock()
        self._asked: dict[Question, _Asking] = {}
        self._to_ask: dict[Question, _Asking] = {}

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """Carry out requests; reads together with threads that ask the same."""
        if not all(isinstance(request, Get | List) for request in requests):
            return self._cluster.perform(requests)
        return self._share(tuple(requests))

    def session(self) -> Session:
        """Open a session of the cluster behind it."""
        return self._cluster.session()

    def _share(self, question: Question) -> Sequence[Reply]:
        with self._lock:
            before = self._asked.get(question)
            mine = self._to_ask.get(question)
            asks = mine is None
            if mine is None:
                mine = _Asking()
                (self._asked if before is None else self._to_ask)[question] = mine
        if asks:
            self._ask(question, mine, before)
        else:
            mine.done.wait(PATIENCE.total_seconds())
        if mine.replies:
            return mine.replies
        error = UnavailableError("another thread has asked this, and got no answer")
        return [Reply(request, error=error) for request in question]

    def _ask(self, question: Question, mine: _Asking, before: _Asking | None) -> None:
        """Ask for all who wait, once those are served who asked earlier."""
        if before is not None:
            before.done.wait(PATIENCE.total_seconds())
            with self._lock:
                del self._to_ask[question]
                self._asked[question] = mine
        try:
            mine.replies = self._cluster.perform(question)
        finally:
            with self._lock:
                if self._asked.get(question) is mine:
                    del self._asked[question]
            mine.done.set()
