"""How long the evictions take that have to come before a pod's last moment."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from evenkeel.decisions.drain.deadlines import Going, Margins, count_margins
from evenkeel.decisions.drain.refusal import TRIED_BEYOND

COUNTED_FOR = timedelta(seconds=1)
"""How long a count of all pods is good."""


class MarginKeeper:
    """The margins of all deadlines, counted every second from what was planned for.

    Until all replacements could be seen there are none: whoever has one would be counted
    among those that have none, and take others away long before their time.
    """

    def __init__(self) -> None:
        """Nothing was seen yet."""
        self._going: dict[str, Mapping[datetime, Going]] = {}
        self._margins: Margins = {}
        self._counted_at: datetime | None = None
        self._is_settled = False

    def see(self, controller_key: str, going: Mapping[datetime, Going]) -> None:
        """So many of a controller's pods go, by their nodes' deadlines."""
        self._going[controller_key] = going

    def forget(self, controller_key: str) -> None:
        """A controller has no pods any more."""
        self._going.pop(controller_key, None)

    def settle(self) -> None:
        """All that there is was seen and planned for: from now on there are margins."""
        self._is_settled = True
        self._counted_at = None

    def margins(self, now: datetime) -> Margins:
        """The margins as counted last."""
        if not self._is_settled:
            return {}
        if self._counted_at is None or now - self._counted_at >= COUNTED_FOR:
            self._counted_at = now
            self._margins = self._count(now)
        return self._margins

    def _count(self, now: datetime) -> Margins:
        """What has outlived its deadline for long is in nobody's way: nobody evicts it."""
        total: dict[datetime, Going] = {}
        for going in self._going.values():
            for deadline, number in going.items():
                if now <= deadline + TRIED_BEYOND:
                    so_far = total.get(deadline, Going(0, 0))
                    total[deadline] = Going(
                        so_far.everybody + number.everybody, so_far.unreplaced + number.unreplaced
                    )
        return count_margins(total)
