"""What became of a workload by each option."""

from collections.abc import Sequence

import msgspec

from bench.conditions import Conditions


class Stood(msgspec.Struct, frozen=True, kw_only=True):
    """A workload in one situation.

    ``on_demand`` of its ``ready`` pods were on on-demand nodes in the end, where ``wanted`` of
    ``replicas`` belong; ``lowest`` is the fewest Ready on on-demand at any time meanwhile.
    ``pending``: pods without a node in the end; ``most_pending``: at any time. ``rollouts`` are
    those that nobody asked for. ``seconds`` until all was as it stayed. ``moved``: how many pods
    restore replaced, None where it did not run; ``before``: how many of them were on on-demand
    nodes when it began. ``refusals`` are the scheduler's own words about pods without a node.
    """

    situation: str
    replicas: int
    wanted: int
    on_demand: int
    ready: int
    lowest: int
    pending: int
    most_pending: int
    rollouts: int
    seconds: float
    before: int | None = None
    moved: int | None = None
    refusals: Sequence[str] = ()

    @property
    def off(self) -> int:
        """How far the pods on on-demand nodes are from what was wanted."""
        return abs(self.on_demand - self.wanted)

    @property
    def is_exact(self) -> bool:
        """Whether all are Ready, and as many on on-demand nodes as wanted."""
        return (self.ready, self.on_demand) == (self.replicas, self.wanted)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One option. ``objects``: how many its owner writes for one workload."""

    conditions: Conditions
    option: str
    title: str
    objects: int
    stood: Sequence[Stood]


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """All options, on so many nodes of each kind."""

    spot: int
    on_demand: int
    rows: Sequence[Row]

    @property
    def missed(self) -> Sequence[str]:
        """Nothing is wanted of it: it compares."""
        return ()
