"""Whether a workload fares worse with Evenkeel than with the better of the other two runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from tests.property.dominance.runs import Loss, Run, losses
from tests.property.dominance.worlds import Workload, World

ALIKE = 3.0
"""Seconds, for each pod of a workload, that are no difference: a step of a storm is a second."""


class Verdict(StrEnum):
    """How a workload fares with Evenkeel, beside the better of the other two."""

    BETTER = "better"
    ALIKE = "alike"
    WORSE = "worse"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What a workload of a world lost in each run, and what follows."""

    world: World
    workload: Workload
    losses: dict[Run, Loss]

    @property
    def best(self) -> Loss:
        """Of each number the better of the two runs without Evenkeel."""
        nothing, drain = self.losses[Run.NOTHING], self.losses[Run.DRAIN]
        return Loss(
            fewest=min(nothing.fewest, drain.fewest),
            below=min(nothing.below, drain.below),
            at_zero=min(nothing.at_zero, drain.at_zero),
        )

    @property
    def worse_in(self) -> list[str]:
        """The measures in which it fares worse with Evenkeel."""
        own, best, slack = self.losses[Run.EVENKEEL], self.best, ALIKE * self.workload.replicas
        room = {"fewest": 0.0, "below": slack, "at_zero": ALIKE}
        return [
            name for name in Loss._fields if getattr(own, name) > getattr(best, name) + room[name]
        ]

    @property
    def verdict(self) -> Verdict:
        """Worse if it is in one measure."""
        if self.worse_in:
            return Verdict.WORSE
        own, best = self.losses[Run.EVENKEEL], self.best
        is_better = own.fewest < best.fewest or own.below < best.below - ALIKE
        return Verdict.BETTER if is_better else Verdict.ALIKE

    def __str__(self) -> str:
        own, best = self.losses[Run.EVENKEEL], self.best
        of = self.workload
        told = ", ".join(
            f"{name} {getattr(own, name):g} > {getattr(best, name):g}" for name in self.worse_in
        )
        warnings = self.world.warnings
        when = " ".join(f"{each.node}@{each.after.total_seconds():g}" for each in warnings)
        apart = f", apart by {of.apart.rpartition('/')[2]}" if of.apart else ""
        budget = f", {of.budget}" if of.budget else ""
        return (
            f"{of.app} {of.kind} of {of.replicas}{apart}{budget}, grace {of.grace},"
            f" {of.more or 'surge 25 %'}, pods after {self.world.pod_start:g} s,"
            f" nodes after {self.world.node_start:g} s, {when}: {told}"
        )


def judged(world: World) -> Iterator[Judged]:
    """Each workload that was whole before, after all three runs."""
    objects = world.at_rest()
    found = {run: losses(world, objects, run) for run in Run}
    for workload in world.workloads:
        if all(workload.app in each for each in found.values()):
            yield Judged(
                world=world,
                workload=workload,
                losses={run: each[workload.app] for run, each in found.items()},
            )
