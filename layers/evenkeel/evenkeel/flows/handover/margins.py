"""How long the evictions take that have to come before a pod's last moment."""

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta

from evenkeel.decisions.drain.margins import NO_MARGIN, Leaving, Margin, Margins, count_margins
from evenkeel.decisions.drain.refusal import TRIED_BEYOND
from evenkeel.flows.handover.progress import Answers

COUNTED_FOR = timedelta(seconds=1)
"""How long a count of all pods is good."""

GROWN_BY = timedelta(seconds=0.5)
"""By so much a margin may grow before everybody is planned for anew."""


class MarginKeeper:
    """The margins of all pods that go, counted every second from what was planned for.

    Until all replacements could be seen there are none: whoever has one would be counted
    among those that have none, and take others away long before their time.
    """

    def __init__(self, answers: Answers) -> None:
        """Nothing was seen yet. ``answers``: how long requests took of late."""
        self._answers = answers
        self._leaving: dict[str, Leaving] = {}
        self._margins: Margins = {}
        self._least: Margins = {}
        self._counted_at: datetime | None = None
        self._is_settled = False
        self._compared: Margins = {}

    def see(self, controller_key: str, leaving: Leaving) -> None:
        """These of a controller's pods go."""
        self._leaving[controller_key] = leaving

    def forget(self, controller_key: str) -> None:
        """A controller has no pods any more."""
        self._leaving.pop(controller_key, None)

    def settle(self, now: datetime) -> None:
        """All that there is was seen and planned for: from now on there are margins.

        Everybody is planned for with them next.
        """
        self._is_settled = True
        self._counted_at = None
        self._compared = self._least = self.margins(now)

    def margins(self, now: datetime) -> Margins:
        """The margins as counted last."""
        if not self._is_settled:
            return {}
        if self._counted_at is None or now - self._counted_at >= COUNTED_FOR:
            self._counted_at = now
            self._margins = self._count(now)
        return self._margins

    def hurried(self, now: datetime) -> Collection[str]:
        """The controllers whose pods may have to go much earlier than planned, told once.

        A margin that shrinks does not matter: who is due too early is planned for again then.
        """
        margins = self.margins(now)
        if margins is self._compared:
            return ()
        self._compared = margins
        least = {by: self._least.get(by, NO_MARGIN) for by in margins}
        grown = {by for by, margin in margins.items() if _is_much_longer(margin, least[by])}
        self._least = {
            by: margin if by in grown else _shorter(margin, least[by])
            for by, margin in margins.items()
        }
        if not grown:
            return ()
        return {key for key, each in self._leaving.items() if not grown.isdisjoint(_times(each))}

    def _count(self, now: datetime) -> Margins:
        """What has outlived its deadline for long is in nobody's way: nobody evicts it."""
        leaving = (_still_to_go(each, now) for each in self._leaving.values())
        return count_margins(leaving, self._answers.usual(now))


def _still_to_go(leaving: Leaving, now: datetime) -> Leaving:
    return Leaving(
        {by: number for by, number in leaving.replaced.items() if now <= by + TRIED_BEYOND},
        [pod for pod in leaving.dying if now <= pod.by + TRIED_BEYOND],
    )


def _times(leaving: Leaving) -> Iterator[datetime]:
    """By when these pods have to be told to go."""
    yield from leaving.replaced
    yield from (pod.by for pod in leaving.dying)


def _is_much_longer(margin: Margin, other: Margin) -> bool:
    return any(mine > its + GROWN_BY for mine, its in _pairs(margin, other))


def _shorter(margin: Margin, other: Margin) -> Margin:
    replaced, *unreplaced = (min(pair) for pair in _pairs(margin, other))
    return Margin(replaced, unreplaced)


def _pairs(margin: Margin, other: Margin) -> Iterator[tuple[timedelta, timedelta]]:
    yield margin.replaced, other.replaced
    yield from zip(margin.unreplaced, other.unreplaced, strict=True)
