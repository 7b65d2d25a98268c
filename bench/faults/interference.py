"""Interference with a storm when so much of it is done."""

from collections.abc import Callable, Container, Sequence
from threading import Event

from bench.say import Say
from bench.storm.beside import Observed, Work


class Interference:
    """Acts once for each of some numbers: when so many pods were told to go.

    ``happened`` is how often it has acted.
    """

    def __init__(
        self,
        nodes: Container[str],
        points: Sequence[float],
        act: Callable[[], None],
        say: Say,
    ) -> None:
        """``points`` ascend; pods of ``nodes`` count."""
        self.points = points
        self.happened = 0
        self._nodes = nodes
        self._act = act
        self._say = say

    def beside(self, seen: Observed) -> Work:
        """Its work beside a storm that is observed."""

        def work(stopping: Event) -> None:
            for point in self.points:
                while (going := seen.going(self._nodes)) < point:
                    if stopping.wait(0.1):
                        return
                self._say(f"{going} pods told to go: now")
                self._act()
                self.happened += 1

        return work
