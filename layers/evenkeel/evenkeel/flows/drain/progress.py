"""How fast replacements are made, and how long answers take."""

from collections import deque
from datetime import datetime, timedelta

from evenkeel.decisions.drain.agenda import Usual


class Progress:
    """How fast replacements are made, over one invocation."""

    def __init__(self) -> None:
        self._first: tuple[datetime, int] | None = None

    def rate(self, made: int, now: datetime) -> float:
        """Replacements per second since the first count, 0 within the first second.

        ``made``: releases less pending replacements. Whether they are counted from the beginning of
        the invocation does not matter, only differences do.
        """
        if self._first is None:
            self._first = (now, made)
        since, first = self._first
        seconds = (now - since).total_seconds()
        return max(0.0, (made - first) / seconds) if seconds >= 1 else 0.0


class Answers:
    """How long recent answers of the API server took: to writes, and about the pause."""

    WINDOW = timedelta(seconds=30)
    NEARLY_ALL = 0.95
    STRETCH = timedelta(seconds=2)
    """How long as many answers have to come as count as a rate: what a pause held back does not."""

    def __init__(self) -> None:
        self._taken: deque[tuple[datetime, timedelta]] = deque()
        self._written: deque[datetime] = deque()

    def saw(self, took: timedelta, now: datetime, *, is_write: bool) -> None:
        """A request was answered, after so long."""
        self._taken.append((now, took))
        if is_write:
            self._written.append(now)

    def usual(self, now: datetime) -> Usual:
        """How long recent answers took, and how fast writes were; zero where there were none."""
        while self._taken and now - self._taken[0][0] > self.WINDOW:
            self._taken.popleft()
        while self._written and now - self._written[0] > self.WINDOW:
            self._written.popleft()
        ordered = sorted(took for _, took in self._taken) or [timedelta()]
        last = len(ordered) - 1
        return Usual(ordered[last // 2], ordered[int(self.NEARLY_ALL * last)], self.fastest)

    @property
    def fastest(self) -> float:
        """The most writes a second that were answered over a whole stretch."""
        most, first, times = 0, 0, list(self._written)
        for last, at in enumerate(times):
            while at - times[first] > self.STRETCH:
                first += 1
            most = max(most, last - first + 1)
        return most / self.STRETCH.total_seconds()
