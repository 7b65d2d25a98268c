"""Pools of which a node was warned of its interruption: for a while none may last.

The reconciler notes them on its Lease, because a warned node is gone before that while is over.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from evenkeel.model.notes import read_note
from evenkeel.model.pool import MOST, Pool
from evenkeel.model.release import CLOCK_SKEW
from evenkeel.model.times import is_sound

COUNTS_FOR: Final = timedelta(minutes=10)
"""So long after a warning its pool is avoided."""


class Loss(NamedTuple):
    """A node of this pool was warned at this time, the last of its pool."""

    pool: Pool
    at: datetime

    def counts(self, now: datetime) -> bool:
        """Whether it was a short while ago, and not later than now, as far as clocks agree."""
        return is_sound(self.at) and -CLOCK_SKEW <= now - self.at < COUNTS_FOR


def noted(losses: Iterable[Loss]) -> str:
    """The last of these as the Lease has them: JSON, ``[[["m5.large", "eu-central-1a"], <time>]]``.

    Empty if there are none.
    """
    last = {loss.pool: loss for loss in sorted(losses, key=lambda loss: loss.at)}
    latest = sorted(last.values(), key=lambda loss: loss.at, reverse=True)[:MOST]
    return msgspec.json.encode(latest).decode() if latest else ""


def losses_in(note: str | None, now: datetime) -> tuple[Loss, ...]:
    """Those that the Lease has, that still count and that can be true."""
    found = read_note(note, tuple[Loss, ...]) or ()
    return tuple(loss for loss in found[:MOST] if loss.pool.can_be and loss.counts(now))


def lost_pools(losses: Iterable[Loss]) -> frozenset[Pool]:
    """The pools to avoid: nodes without both labels may be of any, and are avoided by nobody."""
    return frozenset(loss.pool for loss in losses if all(loss.pool))
