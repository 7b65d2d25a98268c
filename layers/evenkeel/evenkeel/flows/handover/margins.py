"""How long the evictions take that have to come before a pod's last moment."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from evenkeel.decisions.drain.deadlines import (
    NO_MARGIN,
    Leaving,
    Margin,
    Margins,
    count_margins,
    longest,
)
from evenkeel.decisions.drain.refusal import TRIED_BEYOND

COUNTED_FOR = timedelta(seconds=1)
"""How long a count of all pods is good."""

OVERTAKEN_BY = timedelta(seconds=0.5)
"""By so much longer a margin may be than the one that was planned with."""


class MarginKeeper:
    """The margins of all controllers, counted every second from what was planned for.

    Until all replacements could be seen there are none: whoever has one would be counted
    among those that have none, and take others away long before their time.
    """

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._leaving: dict[str, Leaving] = {}
        self._margins: Mapping[str, Margins] = {}
        self._longest: Margins = {}
        self._planned_with: dict[str, Margins] = {}
        self._counted_at: datetime | None = None
        self._is_settled = False
        self._is_compared = True

    def see(self, controller_key: str, leaving: Leaving) -> None:
        """So many of a controller's pods go, by their nodes' deadlines."""
        self._leaving[controller_key] = leaving

    def forget(self, controller_key: str) -> None:
        """A controller has no pods any more."""
        self._leaving.pop(controller_key, None)
        self._planned_with.pop(controller_key, None)

    def settle(self) -> None:
        """All that there is was seen and planned for: from now on there are margins."""
        self._is_settled = True
        self._counted_at = None

    def margins(self, controller_key: str, now: datetime) -> Margins:
        """A controller's margins as counted last; it is planned with them.

        Whoever was not there yet when they were counted goes as early as anybody.
        """
        self._count(now)
        margins = self._margins.get(controller_key, self._longest)
        self._planned_with[controller_key] = margins
        return margins

    def longest(self, now: datetime) -> Margins:
        """The margins of whoever goes first by each deadline."""
        self._count(now)
        return self._longest

    def overtaken(self, now: datetime) -> set[str]:
        """The controllers that have to go earlier than they were planned for.

        Others have less left than they by now, and go after them.
        """
        self._count(now)
        if self._is_compared:
            return set()
        self._is_compared = True
        return {
            key
            for key, planned in self._planned_with.items()
            if any(
                _is_longer(margin, planned.get(at, NO_MARGIN))
                for at, margin in self._margins.get(key, {}).items()
            )
        }

    def _count(self, now: datetime) -> None:
        """Count, unless that was done a moment ago.

        What has outlived its deadline for long is in nobody's way: nobody evicts it.
        """
        if not self._is_settled:
            return
        if self._counted_at is not None and now - self._counted_at < COUNTED_FOR:
            return
        self._counted_at = now
        self._is_compared = False
        self._margins = count_margins(
            {
                key: Leaving(
                    {at: n for at, n in each.going.items() if now <= at + TRIED_BEYOND}, each.left
                )
                for key, each in self._leaving.items()
            }
        )
        self._longest = longest(self._margins.values())


def _is_longer(margin: Margin, planned: Margin) -> bool:
    return (
        margin.replaced > planned.replaced + OVERTAKEN_BY
        or margin.unreplaced > planned.unreplaced + OVERTAKEN_BY
    )
