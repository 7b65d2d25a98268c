"""Clients of the API server that evict pods at a rate, and again as often as they are told to."""

import heapq
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

CLIENTS: Final = 8
"""Each has a connection of its own, and sends one eviction after the other."""

type Evict = Callable[[str], float | None]
"""Evicts a pod: the seconds after which it may be asked for again, None once it goes."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one eviction took, from when it was due; whether it was put off."""

    seconds: float
    deferred: bool


@dataclass
class Evictor:
    """Sends evictions at a rate: a pod that is put off is asked for again before a new one is."""

    evict: Evict
    rate: float
    new: list[str]
    answers: list[Answer] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Nothing is sent yet."""
        self._again: list[tuple[float, str]] = []
        self._lock = Lock()
        self._turn = 0

    def run(self, seconds: float) -> Sequence[Answer]:
        """Evict for so long, or until all pods have gone."""
        began = time.monotonic() + 0.05
        with ThreadPoolExecutor(CLIENTS) as pool:
            for done in [pool.submit(self._work, began, began + seconds) for _ in range(CLIENTS)]:
                done.result()
        return self.answers

    def finish(self) -> None:
        """Evict what was put off until it goes; that is not measured."""
        while self._again:
            due, pod = heapq.heappop(self._again)
            time.sleep(max(0.0, due - time.monotonic()))  # noqa: TID251 - a real cluster's time
            again = self.evict(pod)
            if again is not None:
                heapq.heappush(self._again, (time.monotonic() + again, pod))

    def _work(self, began: float, until: float) -> None:
        while True:
            with self._lock:
                due = began + self._turn / self.rate
                self._turn += 1
            if due >= until:
                return
            time.sleep(max(0.0, due - time.monotonic()))  # noqa: TID251 - a real cluster's time
            with self._lock:
                pod = self._next()
            if pod is None:
                continue
            again = self.evict(pod)
            now = time.monotonic()
            with self._lock:
                self.answers.append(Answer(now - due, again is not None))
                if again is not None:
                    heapq.heappush(self._again, (now + again, pod))

    def _next(self) -> str | None:
        """The pod that was put off first, if it may be asked for by now, else a new one."""
        if self._again and self._again[0][0] <= time.monotonic():
            return heapq.heappop(self._again)[1]
        return self.new.pop() if self.new else None
