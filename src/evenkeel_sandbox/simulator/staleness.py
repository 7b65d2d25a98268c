"""How late a client may see what happens: watches lag, stall and break, and replies take long."""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

BETWEEN_STALLS = 20.0
"""So many seconds at most from the end of a watch's stall to its next one."""

CONNECTED = (10.0, 40.0)
"""For so many seconds a watch keeps its connection where connections break."""


@dataclass(frozen=True, kw_only=True)
class Staleness:
    """How late at most, in seconds. What happens to each watch and each reply is drawn by ``seed``.

    ``lag``: each watch lags by a time of its own; ``varying``: each change of it by another.
    ``stall``: now and then a watch shows nothing for up to so long, and then everything at once.
    ``breaks``: now and then it loses its connection, and goes on from where it was or lists
    again. ``reply``: so much later than its request is carried out a reply may arrive, whatever
    the watches have shown of it by then.

    What one watch shows stays in order, and nothing of it is lost.
    """

    seed: int = 0
    lag: float = 0.0
    varying: bool = False
    stall: float = 0.0
    breaks: bool = False
    reply: float = 0.0

    @property
    def longest(self) -> timedelta:
        """How long a change may take through a watch that loses its connection once meanwhile."""
        once = self.lag + self.stall
        return timedelta(seconds=2 * once + 0.1 if self.breaks else once)


NONE = Staleness()


class Lateness:
    """How late one watch is: when it shows what happens now, and how long it stays connected."""

    def __init__(self, staleness: Staleness, number: int, now: datetime) -> None:
        """``number``: which watch of the cluster it is."""
        self._staleness = staleness
        self._rng = random.Random(f"{staleness.seed}/{number}")
        self._lag = self._draw_lag()
        self._last = self._stalls_at = self._stalls_until = now

    @property
    def longest(self) -> timedelta:
        """How long a change may take while the connection lasts."""
        return timedelta(seconds=self._staleness.lag + self._staleness.stall)

    def due(self, earliest: datetime) -> datetime:
        """When something arrives that would do so now if the watch were not late."""
        if self._staleness.varying:
            self._lag = self._draw_lag()
        due = self._when_no_stall(earliest + timedelta(seconds=self._lag))
        self._last = max(self._last, due)
        return self._last

    def breaks_in(self) -> timedelta | None:
        """How long a connection lasts that begins now; None: as long as it is wanted."""
        return timedelta(seconds=self._rng.uniform(*CONNECTED)) if self._staleness.breaks else None

    def loses_thread(self) -> bool:
        """Whether a watch whose connection broke lists again."""
        return self._rng.random() < 0.5

    def _draw_lag(self) -> float:
        """The longer of two: what is nearly fresh shows little."""
        longest = self._staleness.lag
        return max(self._rng.uniform(0, longest), self._rng.uniform(0, longest))

    def _when_no_stall(self, due: datetime) -> datetime:
        if not self._staleness.stall:
            return due
        while self._stalls_until <= due:
            rest = timedelta(seconds=self._rng.uniform(0, BETWEEN_STALLS))
            self._stalls_at = self._stalls_until + rest
            lasts = timedelta(seconds=self._rng.uniform(0, self._staleness.stall))
            self._stalls_until = self._stalls_at + lasts
        return self._stalls_until if due >= self._stalls_at else due
