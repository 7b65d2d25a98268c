"""Whether a workload fares worse with Evenkeel than with the better of the other two runs."""

from dataclasses import dataclass
from enum import StrEnum

from evenkeel.decisions.drain.deadlines import A_FEW_SECONDS, LONGEST_GRACE
from tests.property.dominance.runs import ALIKE, HEALTHY_AFTER, Loss, Run, loss
from tests.property.dominance.worlds import WARNED, Workload, World

AT_LEAST = 2 * A_FEW_SECONDS.total_seconds() + 1
"""Seconds that pods are told to go before their node ends: a few, and the first a few ahead."""


A_MOMENT = 0.5
"""Seconds that a pod lacks to stop, and that are no difference."""


class Verdict(StrEnum):
    """How a workload fares with Evenkeel, beside the better of the other two."""

    BETTER = "better"
    ALIKE = "alike"
    WORSE = "worse"


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What the workload of a world lost in each run, and what follows."""

    world: World
    losses: dict[Run, Loss]

    @property
    def workload(self) -> Workload:
        """The world's."""
        return self.world.workload

    @property
    def best(self) -> Loss:
        """Of each number the better of the two runs without Evenkeel.

        A pod that takes turns asks for the next one by going, as in a drain: if no node ever takes
        that, it would have served until its node ends.
        """
        nothing, drain = self.losses[Run.NOTHING], self.losses[Run.DRAIN]
        best = Loss(
            missing=min(nothing.missing, drain.missing, key=lambda each: max(each, default=0)),
            below=min(nothing.below, drain.below),
            at_zero=min(nothing.at_zero, drain.at_zero),
            refused=min(nothing.refused, drain.refused),
            cut=min(nothing.cut, drain.cut),
            late=min(nothing.late, drain.late),
        )
        return best._replace(below=drain.below) if self.workload.takes_turns else best

    @property
    def _told_before(self) -> float:
        """Seconds that a pod may be told to go before its node ends: what it may take to stop."""
        workload = self.workload
        at_once = len({each.after for each in self.world.warnings}) == 1
        takes = workload.stop if workload.replicas > 1 and at_once else workload.grace
        return min(takes, LONGEST_GRACE.total_seconds()) + AT_LEAST

    @property
    def worse_in(self) -> list[str]:
        """The measures in which it fares worse with Evenkeel, beyond what docs/notices.md excepts.

        Of several pods the first shows how long the others take to stop.
        """
        own, best, workload = self.losses[Run.EVENKEEL], self.best, self.workload
        number = workload.replicas
        if workload.kind == "Job":
            found = {
                "late": self._finishes and own.late > best.late + ALIKE,
                "cut": own.cut > best.cut + A_MOMENT,
            }
        else:
            early = ALIKE + self._told_before
            waits = ALIKE + min(workload.grace, LONGEST_GRACE.total_seconds()) + AT_LEAST
            waits += self.world.pod_start if workload.makes_in_order else 0
            stalls = workload.makes_in_order and workload.stop > AT_LEAST
            found = {
                "lasting": own.most_missing(early) > best.most_missing() and not stalls,
                "below": own.below > best.below + number * waits and not stalls,
                "at_zero": own.at_zero > best.at_zero + early,
                "refused": own.refused > best.refused + early + HEALTHY_AFTER.total_seconds(),
                "cut": own.cut > best.cut + self._cut + A_MOMENT,
            }
        return [name for name, is_worse in found.items() if is_worse]

    @property
    def _finishes(self) -> bool:
        """Whether a Job's pods finish before the first of them is told, so that its grace fits."""
        warnings = (each for each in self.world.warnings if not each.kind.is_hint)
        first = min(each.after.total_seconds() for each in warnings)
        return self.workload.runs_on <= first + WARNED - self.workload.grace - AT_LEAST

    @property
    def _cut(self) -> float:
        """Seconds that pods may lack to stop because others replace them.

        None is told more than 45 s before its node ends, and those that stand last 5 s before.
        """
        workload = self.workload
        longest = LONGEST_GRACE.total_seconds()
        over = workload.replicas * max(0.0, workload.stop - longest)
        last = workload.replicas * max(0.0, min(workload.stop, longest) - 5)
        return over + last

    @property
    def verdict(self) -> Verdict:
        """Worse if it is in one measure."""
        if self.worse_in:
            return Verdict.WORSE
        own, best = self.losses[Run.EVENKEEL], self.best
        is_better = own.most_missing() < best.most_missing() or own.below < best.below - ALIKE
        return Verdict.BETTER if is_better else Verdict.ALIKE

    def __str__(self) -> str:
        own, best = self.losses[Run.EVENKEEL], self.best
        of = self.workload
        told = f"{', '.join(self.worse_in)}: {own} beside {best}"
        when = " ".join(
            f"{each.node}{'?' if each.kind.is_hint else ''}@{each.after.total_seconds():g}"
            for each in self.world.warnings
        )
        apart = f", apart by {of.apart.rpartition('/')[2]}" if of.apart else ""
        budget = "".join(f", {each}" for each in of.budgets)
        return (
            f"{of.app} {of.kind} of {of.replicas}{apart}{budget}, grace {of.grace}, stop {of.stop},"
            f"{' locked,' if of.is_locked else ''}{' gated,' if of.is_gated else ''}"
            f"{' balanced,' if of.is_balanced else ''}"
            f"{' seats,' if self.world.seats else ''}"
            f"{' hooks,' if self.world.has_hooks else ''}"
            f"{' quota,' if of.has_quota else ''}"
            f"{f' runs on {of.runs_on} of {of.runs},' if of.kind == 'Job' else ''}"
            f"{f' sold out {self.world.sold_out},' if self.world.sold_out else ''}"
            f" {of.more or 'surge 25 %'}, pods after {self.world.pod_start:g} s,"
            f" nodes after {self.world.node_start:g} s, {when}: {told}"
        )


def judged(world: World) -> Judged | None:
    """The workload after all three runs; None if it was not whole before."""
    objects, found = world.at_rest(), dict[Run, Loss]()
    for run in Run:
        lost = loss(world, objects, run)
        if lost is None:
            return None
        found[run] = lost
    return Judged(world=world, losses=found)
