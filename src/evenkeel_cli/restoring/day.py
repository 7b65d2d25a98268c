"""A day of restore's scheduled runs over a copy of a cluster, in which nothing else happens."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from evenkeel.decisions.floor.standing import Standing
from evenkeel.model import names
from evenkeel.model.capacity import CapacityLabels
from evenkeel.model.decision import Verb
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason
from evenkeel_cli import words
from evenkeel_cli.journal import Entry
from evenkeel_cli.restoring.listing import Row, Split, WorkloadDay, WorkloadRestore
from evenkeel_cli.simulate import trial
from evenkeel_cli.simulation import ReportedSimulation
from evenkeel_cli.status.gather import Found, gather
from evenkeel_sandbox.built_in import placing

LENGTH: Final = timedelta(days=1)
BETWEEN_RUNS: Final = timedelta(minutes=1)
LATE: Final = timedelta(seconds=55)
"""So long after a run one looks what has come of it, before the next."""

MOVED: Final = frozenset({Reason.ABOVE_FLOOR, Reason.FLOOR_MISSING, Reason.POOL_TOO_FULL})
"""What restore gives as the reason of a move."""

SEED: Final = 0
NAMED: Final = 5
"""So many workloads are named."""


class Day:
    """The runs of a day, and what came of them."""

    def __init__(
        self, objects: trial.Objects, labels: CapacityLabels, *, everywhere: bool = False
    ) -> None:
        """Bring a copy of the cluster to life. ``everywhere``: all namespaces take part."""
        if everywhere:
            objects = [_managed(each) for each in objects]
        clock, cluster = trial.copied(trial.Ground.of(objects), SEED)
        placing.install(cluster)
        self._labels = labels
        self._simulation = ReportedSimulation(clock, cluster, labels=labels)
        self._first = self._last = self._look()
        self.rows = [self._row(timedelta(), [])]
        self.is_at_rest = False

    def pass_by(self) -> None:
        """Let restore run, once a minute, until it has nothing left to do or the day is over."""
        simulation = self._simulation
        began, known = simulation.clock.now(), len(simulation.journal.entries)
        simulation.application.begin_restore()
        simulation.advance(LATE)
        while not self.is_at_rest and simulation.clock.now() - began < LENGTH:
            simulation.advance(BETWEEN_RUNS)
            new = simulation.journal.entries[known:]
            known += len(new)
            if new or len(self.rows) == 1:  # a run of which nothing is told has changed nothing
                self._last = self._look()
            self.rows.append(self._row(simulation.clock.now() - began - LATE, new))
            self.is_at_rest = not has_work(self._last)

    def close(self) -> None:
        """End everything that still waits on the clock."""
        self._simulation.close()

    def of_workloads(self, planned: Iterable[WorkloadRestore]) -> Sequence[WorkloadDay]:
        """What the first run does about workloads, with what became of each in the day."""
        entries = self._simulation.journal.entries
        first, last = _standings(self._first), _standings(self._last)
        return [
            WorkloadDay(
                **{name: getattr(each, name) for name in WorkloadRestore.__struct_fields__},
                floor=last[each.subject].wanted,
                first=_split(first[each.subject]),
                last=_split(last[each.subject]),
                moved=sum(_is_move(entry) for entry in entries if _is_about(entry, each.subject)),
                went_back=sum(_is_return(e) for e in entries if _is_about(e, each.subject)),
            )
            for each in planned
            if each.subject in last and each.subject in first
        ]

    def sentences(self) -> Iterator[str]:
        """What came of the day, in words."""
        rows = self.rows[1:]
        moved, back = sum(each.moved for each in rows), sum(each.went_back for each in rows)
        runs = words.counted(len(rows), "run")
        yield f"{words.counted(moved, 'pod')} moved in {runs}, {back} went back."
        if self.is_at_rest:
            yield f"From {rows[-1].time} on nothing is left to do: each later run finds the same."
        else:
            yield f"After a day {words.counted(rows[-1].off, 'pod')} were still to move."
        dipped = [words.workload_name(each) for each in self.dipped]
        if dipped:
            yield f"Meanwhile {words.listed(dipped, NAMED)} had fewer Ready pods at times."
        else:
            yield "Meanwhile no workload had fewer Ready pods than before."

    @property
    def dipped(self) -> Sequence[Reference]:
        """The workloads that had fewer Ready pods at some time than they began with."""
        observer = self._simulation.observer
        return [
            reference
            for reference, health in observer.workloads.items()
            if not health.gone and health.lowest < min(health.before, health.wanted or 0)
        ]

    def _look(self) -> Found:
        simulation = self._simulation
        return gather(simulation.cluster, clock=simulation.clock, labels=self._labels)

    def _row(self, after: timedelta, entries: Sequence[Entry]) -> Row:
        managed = [each for each in self._last.standings if each.is_managed]
        return Row(
            seconds=round(after.total_seconds()),
            moved=sum(map(_is_move, entries)),
            went_back=sum(map(_is_return, entries)),
            on_demand=sum(each.on_demand for each in managed),
            spot=sum(each.spot for each in managed),
            off=sum(each.missing + each.surplus for each in managed),
        )


def has_work(found: Found) -> bool:
    """Whether restore would do something about a workload, or waits for something."""
    return any(
        decision.write is not None or decision.verb is Verb.WAIT
        for decision in found.restores.values()
    )


def moves(entries: Iterable[Entry]) -> int:
    """How many pods restore set out to move."""
    return sum(map(_is_move, entries))


def _is_move(entry: Entry) -> bool:
    return entry.decision.reason in MOVED and entry.decision.write is not None


def _is_return(entry: Entry) -> bool:
    return entry.decision.verb is Verb.ROLL_BACK


def _is_about(entry: Entry, workload: Reference) -> bool:
    return entry.decision.workload == workload


def _standings(found: Found) -> Mapping[Reference, Standing]:
    return {each.workload.reference: each for each in found.standings}


def _split(standing: Standing) -> Split:
    return Split(on_demand=standing.on_demand, spot=standing.spot)


def _managed(each: Mapping[str, Any]) -> Mapping[str, Any]:
    """A namespace that takes part."""
    if each["kind"] != "Namespace":
        return each
    metadata = each["metadata"]
    labels = {**(metadata.get("labels") or {}), names.MANAGED: "true"}
    return {**each, "metadata": {**metadata, "labels": labels}}
