"""Breadth first through all states of a small world."""

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.property.walk.judge import dip, stale, unrest
from tests.property.walk.steps import calm, steps
from tests.property.walk.world import World


@dataclass(frozen=True)
class Walked:
    """What came of a walk: ``fault`` is what was wrong after the steps of ``path``, if anything.

    ``ends`` are states in which nothing happens any more but troubles. ``is_whole``: all states
    were visited.
    """

    states: int
    transitions: int
    depth: int
    ends: int
    is_whole: bool
    fault: str = ""
    path: Sequence[str] = ()

    def __str__(self) -> str:
        how_far = "all" if self.is_whole else "the nearest"
        found = (
            f"{how_far} {self.states} states, {self.transitions} transitions,"
            f" {self.depth} steps deep, {self.ends} ends"
        )
        return f"{self.fault}, after: {'; '.join(self.path)} ({found})" if self.fault else found


class Walk:
    """One walk. A state is known by the hash of its fingerprint."""

    def __init__(self, first: World) -> None:
        mark = hash(first.fingerprint())
        self._came: dict[int, tuple[int, str]] = {mark: (0, "")}
        self._waiting = deque([(first, mark, 0)])
        self._before = defaultdict[int, list[int]](list)
        self._ends: list[int] = []
        self._transitions = 0
        self._depth = 0
        self._fault = ""
        self._path: Sequence[str] = ()

    def go(self, goes_on: Callable[[Walked], bool] = lambda _: True) -> Walked:
        """Visit every state once, the nearest first, as long as ``goes_on`` says so.

        It ends at the first fault. Once all states were visited, each has to have a way to an end.
        """
        while self._waiting and not self._fault and goes_on(self.walked):
            world, mark, self._depth = self._waiting.popleft()
            self._visit(world, mark)
        if not self._waiting and not self._fault:
            self._look_for_dead_ends()
        return self.walked

    @property
    def walked(self) -> Walked:
        """What came of it by now."""
        return Walked(
            states=len(self._came),
            transitions=self._transitions,
            depth=self._depth,
            ends=len(self._ends),
            is_whole=not self._waiting and not self._fault,
            fault=self._fault,
            path=self._path,
        )

    def _visit(self, world: World, mark: int) -> None:
        if world.brain is None and not any(calm(world)):
            self._ends.append(mark)
            self._blame(unrest(world), mark)
        for name, deed in steps(world):
            after = world.copy()
            deed(after)
            self._transitions += 1
            its = hash(after.fingerprint())
            self._before[its].append(mark)
            if its not in self._came:
                self._came[its] = mark, name
                self._waiting.append((after, its, self._depth + 1))
                self._blame(stale(after), mark, name)
            self._blame(dip(world, after), mark, name)

    def _blame(self, fault: str, mark: int, *last: str) -> None:
        """Keep the first fault, and the way to it."""
        if not fault or self._fault:
            return
        path = list(last)
        while mark:
            mark, step = self._came[mark]
            path.append(step)
        self._fault, self._path = fault, [step for step in reversed(path) if step]

    def _look_for_dead_ends(self) -> None:
        reached, waiting = set(self._ends), list(self._ends)
        while waiting:
            for mark in self._before[waiting.pop()]:
                if mark not in reached:
                    reached.add(mark)
                    waiting.append(mark)
        for mark in self._came:
            if mark not in reached:
                self._blame("from here no way leads to an end", mark)
