"""How fast replacements are made, how long answers take, how much time goes into planning."""

from collections import deque
from datetime import datetime, timedelta

from evenkeel.decisions.agenda import Usual


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

    def __init__(self) -> None:
        self._taken: deque[tuple[datetime, timedelta]] = deque()

    def saw(self, took: timedelta, now: datetime) -> None:
        """A request was answered, after so long."""
        self._taken.append((now, took))

    def usual(self, now: datetime) -> Usual:
        """How long recent answers took; zero where there were none."""
        while self._taken and now - self._taken[0][0] > self.WINDOW:
            self._taken.popleft()
        ordered = sorted(took for _, took in self._taken) or [timedelta()]
        last = len(ordered) - 1
        return Usual(ordered[last // 2], ordered[int(self.NEARLY_ALL * last)])


class PaceOfPlanning:
    """When to plan again: planning takes at most an eighth of the time.

    In calm weather that is at once. In a storm the changes of some tenths of a second are
    planned for together: there are several for each pod, and each concerns all pods of its
    ReplicaSet.
    """

    SHARE = 8

    def __init__(self, now: datetime) -> None:
        self.next_at = now

    def planned(self, began: datetime, ended: datetime) -> None:
        """A plan was made; the next one waits for a few times as long as that took."""
        self.next_at = ended + (self.SHARE - 1) * max(timedelta(), ended - began)
