"""What goes wrong beside a storm, as values."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from bench.storm.feed import Dispatch, evenly


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong.

    ``copies`` of every notice are sent, and as many of every wake-up if there is more than one.
    ``foreign`` notices of other clusters' instances for each of this one's, all within
    ``spread`` seconds. ``kills``: at these shares of the evictions Evenkeel is killed and
    started anew. ``down`` seconds without an API server, from a quarter of the evictions on.
    ``share`` of the API server's answers are refusals or resets.
    """

    name: str
    title: str
    copies: int = 1
    foreign: int = 0
    spread: float = 0.0
    kills: Sequence[float] = ()
    down: float = 0.0
    share: float = 0.0

    def plan(self, own: Sequence[str], foreign: Sequence[str], seed: int) -> Sequence[Dispatch]:
        """Which notices are sent when: instances of this cluster and of others, in any order."""
        instance_ids = [*own, *foreign] * self.copies
        if self.copies > 1 or foreign:
            Random(seed).shuffle(instance_ids)  # noqa: S311 - an order, no secret
        return evenly(instance_ids, self.spread)


FAULTS: Final = {
    each.name: each
    for each in (
        Fault("twice", "every message delivered twice, shuffled", copies=2),
        Fault(
            "foreign", "nine foreign notices for each own, within a minute", foreign=9, spread=60
        ),
        Fault(
            "killed",
            "killed with -9 at 25, 50 and 75 % of the evictions, and started anew",
            kills=(0.25, 0.5, 0.75),
        ),
        Fault("down", "API server refuses all connections for 30 s, from 25 % on", down=30),
        Fault("refused", "20 % of the API server's answers 429, 409, 5xx or reset", share=0.2),
    )
}
