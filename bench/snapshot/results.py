"""What a snapshot of a large cluster took."""

from collections.abc import Sequence
from typing import Final

import msgspec

from bench.conditions import Conditions

SECONDS: Final = 20.0
MEGABYTES: Final = 1024.0


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """What a command took, its process's start included; ``peak_mb`` is it at its largest."""

    command: str
    seconds: float
    cpu: float
    peak_mb: float


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One file of so many ``pods`` and ``megabytes``, and what was done with it."""

    conditions: Conditions
    pods: int
    megabytes: float
    taken: Sequence[Taken]

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted."""
        return [
            f"{each.command}: {value:.0f} {unit}, wanted at most {bound:g}"
            for each in self.taken
            for value, unit, bound in (
                (each.seconds, "s", SECONDS),
                (each.peak_mb, "MB", MEGABYTES),
            )
            if value > bound
        ]
