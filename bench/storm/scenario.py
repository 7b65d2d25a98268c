"""The storms that are measured, as values."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final


class Limit(StrEnum):
    """What bounds the cluster's own controllers."""

    NONE = "no QPS limit"
    DEFAULT = "the controller manager's default (20 requests/s, burst 30)"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One storm.

    ``spot`` nodes with room for ``per_spot`` pods each, all noticed within ``spread``
    seconds. ``large`` Deployments of ``size`` replicas and ``large`` of one. ``idle`` on-demand
    nodes with room for ``per_idle`` pods each; ``late`` of them appear only ``late_after``
    seconds after pods are Pending. ``classes`` PriorityClasses are dealt out in turn.
    With ``ordinals`` there are StatefulSets of so many instead of the Deployments of one. Of the
    large Deployments ``percent`` are annotated to be on on-demand nodes.
    ``bystanders`` further pods run on ``further`` nodes of their own, which get no notice.
    ``headroom`` pause pods hold places on on-demand nodes that are there from the beginning;
    ``reserved``: places for the single replicas alone.
    """

    name: str
    title: str
    spot: int = 100
    per_spot: int = 30
    idle: int = 60
    per_idle: int = 55
    large: int = 50
    size: int = 59
    spread: float = 0.0
    late: bool = False
    late_after: float = 60.0
    classes: int = 1
    limit: Limit = Limit.NONE
    bystanders: int = 0
    further: int = 0
    ordinals: int = 0
    percent: int = 0
    headroom: int = 0
    reserved: bool = False

    @property
    def pods(self) -> int:
        """How many pods there are."""
        return self.large * (self.size + self._small)

    @property
    def has_room(self) -> bool:
        """Whether all pods have a place off the spot nodes, sooner or later."""
        return self.idle * self.per_idle >= self.pods

    def of(self, nodes: int) -> "Scenario":
        """The same with so many spot nodes, an even number, and all else in proportion."""
        share = nodes / self.spot
        return replace(
            self,
            spot=nodes,
            idle=math.ceil(self.idle * share),
            large=round(self.large * share),
            bystanders=round(self.bystanders * share),
            further=math.ceil(self.further * share),
        )

    @property
    def replicas(self) -> Mapping[str, int]:
        """How many replicas each workload has, by its name."""
        small = "set" if self.ordinals else "one"
        return self._each({"large": self.size, small: self._small})

    @property
    def floors(self) -> Mapping[str, int]:
        """How many of each workload have to be on on-demand nodes.

        A StatefulSet's default is a majority, that of a Deployment none.
        """
        large = math.ceil(self.size * self.percent / 100)
        return self._each(
            {"large": large, "set": self.ordinals // 2 + 1}
            if self.ordinals
            else {"large": large, "one": 0}
        )

    @property
    def _small(self) -> int:
        return self.ordinals or 1

    def _each(self, amounts: Mapping[str, int]) -> Mapping[str, int]:
        """So many for every workload of a kind, one of each kind in turn."""
        return {
            f"{kind}-{number:02d}": amount
            for number in range(self.large)
            for kind, amount in amounts.items()
        }


SCENARIOS: Final = {
    each.name: each
    for each in (
        Scenario("A", "idle capacity, controllers without a QPS limit"),
        Scenario(
            "B",
            "nodes appear 60 s after pods are Pending; notices over 180 s",
            spread=180.0,
            late=True,
        ),
        Scenario("C", "room for half of the pods, three priorities", per_idle=25, classes=3),
        Scenario("D", "as A, controller manager at its default rate", limit=Limit.DEFAULT),
    )
}
