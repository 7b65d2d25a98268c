"""Whether a workload fares worse with Evenkeel than with the better of the other two runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from evenkeel.decisions.drain.deadlines import A_FEW_SECONDS, LONGEST_GRACE
from tests.property.dominance.runs import ALIKE, Loss, Run, losses
from tests.property.dominance.worlds import Workload, World

AT_LEAST = 2 * A_FEW_SECONDS.total_seconds() + 1
"""Seconds that pods are told to go before their node ends: a few, and the first a few ahead."""


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
        """Of each number the better of the two runs without Evenkeel.

        A pod that takes turns asks for the next one by going, as in a drain: if no node ever takes
        that, it would have served until its node ends.
        """
        nothing, drain = self.losses[Run.NOTHING], self.losses[Run.DRAIN]
        best = Loss(
            fewest=min(nothing.fewest, drain.fewest),
            lasting=min(nothing.lasting, drain.lasting),
            below=min(nothing.below, drain.below),
            at_zero=min(nothing.at_zero, drain.at_zero),
        )
        return best._replace(below=drain.below) if self.workload.takes_turns else best

    @property
    def _told_before(self) -> float:
        """Seconds that a pod may be told to go before its node ends: what it may take to stop."""
        return min(self.workload.grace, LONGEST_GRACE.total_seconds()) + AT_LEAST

    @property
    def worse_in(self) -> list[str]:
        """The measures in which it fares worse with Evenkeel, beyond what docs/notices.md excepts.

        Of several pods the first shows how long the others take to stop.
        """
        own, best, number = self.losses[Run.EVENKEEL], self.best, self.workload.replicas
        early = self._told_before if number == 1 else AT_LEAST
        found = {
            "lasting": own.lasting > best.fewest,
            "below": own.below > best.below + number * (ALIKE + self._told_before),
            "at_zero": own.at_zero > best.at_zero + ALIKE + early,
        }
        return [name for name, is_worse in found.items() if is_worse]

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
        told = f"{', '.join(self.worse_in)}: {own} beside {best}"
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
