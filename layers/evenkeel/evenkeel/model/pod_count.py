"""How many pods of a workload are available, of how many wanted."""

from datetime import datetime

import msgspec

from evenkeel.model.meta import Reference


class PodCount(msgspec.Struct, frozen=True, kw_only=True):
    """What was counted at a time of a workload, released pods among the available ones.

    ``wanted`` are the replicas that its owner asks for.
    """

    at: datetime
    workload: Reference
    available: int
    wanted: int

    def says_as(self, other: "PodCount | None") -> bool:
        """Whether another one has the same numbers."""
        mine = self.available, self.wanted
        return other is not None and mine == (other.available, other.wanted)
