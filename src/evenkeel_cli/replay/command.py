"""The three kinds of replay as the command runs them, and what each of them prints."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import click

from evenkeel.decisions.drain.returning import Drain
from evenkeel.model.notice import NodeNotice
from evenkeel.ports import Clock
from evenkeel.settings import Mode
from evenkeel_cli import pausing, planned_moves, report, snapshot
from evenkeel_cli.console import note
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.history.incident import Incident
from evenkeel_cli.journal import Journal
from evenkeel_cli.output import Output
from evenkeel_cli.program import NAME
from evenkeel_cli.replay import simulated
from evenkeel_cli.replay.listing import (
    ReplayPlan,
    ReplayPlanList,
    ReplayResult,
    ReplayResultList,
)
from evenkeel_cli.replay.output import Printer
from evenkeel_cli.replay.real import Replay
from evenkeel_cli.replay.task import Task
from evenkeel_cli.targets import Target
from evenkeel_sandbox.application import CLUSTER_NAME
from evenkeel_sandbox.built_in import cluster as built_in
from evenkeel_sandbox.events import freshened
from evenkeel_sandbox.snapshot_cluster import build

INTERRUPTED: Final = (
    "interrupted: marks and releases stay as they are, and the next run goes on from there;"
    f" {NAME} cancel NODE --apply takes them back"
)
HINTS_EXPIRE: Final = (
    "a recommendation expires after 15 min, with the next run after that, or when"
    f" {NAME} cancel NODE --apply takes it back"
)


@dataclass(frozen=True, slots=True)
class Run:
    """One call of the command."""

    output: Output
    clock: Clock

    def simulate(self, task: Task, snapshot_file: str | None) -> int:
        """On the built-in cluster, or on a snapshot. Answers the exit code."""
        builder: simulated.Builder = built_in.build
        if snapshot_file is not None:
            objects = snapshot.read(snapshot_file)
            builder = lambda clock: build(objects, clock)  # noqa: E731 - a Builder of this snapshot
        now = self.clock.now()
        simulation = simulated.run(task, builder, now, self.output)
        try:
            account = simulation.account(simulated.in_plain_eviction(task, builder, now))
            match simulation.application.errors:
                case [BrokenPipeError() as error, *_]:  # a function prints its decisions
                    raise error
                case [error, *_]:
                    raise UnmetError(f"a function failed: {error}")
            return self._show(account, task, simulation.journal, Mode.ACT)
        finally:
            simulation.close()

    def plan(self, task: Task, target: Target) -> int:
        """What would be done to a real cluster. Answers the exit code."""
        with target.connect() as cluster:
            replay = Replay(self._updated(task), cluster, self.clock, Mode.OBSERVE)
            self._warn_of_strangers(replay, target)
            replay.plan(self._printer())
        shown = [s for s in replay.situations if task.namespace in ("", s.pod.namespace)]
        plan = planned_moves.listing(shown, _drains(replay).__getitem__)
        self.output.say()
        self.output.table(plan.columns, plan.items, namespace=task.namespace)
        self.output.say()
        self.output.say(f"Nothing was written to {target}: add --apply to do it.")
        made = replay.journal.records(CLUSTER_NAME, Mode.OBSERVE)
        item = ReplayPlan(decisions=made, moves=plan.items)
        self.output.dump(ReplayPlanList(items=[item]))
        return 0

    def act(self, task: Task, target: Target) -> int:
        """Do it to a real cluster, until all is quiet. Answers the exit code."""
        with target.connect() as cluster:
            present = pausing.find(cluster)
            if present is not None:
                raise UnmetError(f"{target} is {present}: {NAME} resume --apply ends it")
            replay = Replay(self._updated(task), cluster, self.clock, Mode.ACT)
            self._warn_of_strangers(replay, target)
            try:
                account = replay.act(self._printer())
            except KeyboardInterrupt:
                note(INTERRUPTED)
                raise click.Abort from None
        hints = [name for name, notice in replay.doomed.items() if notice.is_hint]
        if hints:
            note(f"{', '.join(hints)} stays marked for now: {HINTS_EXPIRE}")
        return self._show(account, task, replay.journal, Mode.ACT)

    def _updated(self, task: Task) -> Task:
        """The task with stale events as if they were given now, unless they keep their time."""
        if task.keep_time:
            return task
        now = self.clock.now()
        arriving = [freshened(event, now) for event in task.arriving]
        return replace(task, arriving=arriving)

    def _printer(self) -> Printer:
        return Printer(self.output, self.clock)

    def _show(self, account: Incident, task: Task, journal: Journal, mode: Mode) -> int:
        self.output.say()
        report.show(self.output, account, task.namespace)
        failed = report.failures(account)
        item = ReplayResult(
            decisions=journal.records(CLUSTER_NAME, mode),
            workloads=report.workloads(account, task.namespace),
            moves=report.moves(account, task.namespace),
            failed=[each.subject for each in failed],
        )
        self.output.dump(ReplayResultList(items=[item]))
        return 1 if failed else 0

    def _warn_of_strangers(self, replay: Replay, target: Target) -> None:
        note(
            *(
                f"{instance_id} is no node of {target}: bind it with --instance {instance_id}=NODE"
                for instance_id in replay.strangers
            )
        )


def _drains(replay: Replay) -> Mapping[str, Drain]:
    """For what each node would be drained."""
    return {
        name: Drain.of(NodeNotice(since=notice.time, **notice.announced))
        for name, notice in replay.doomed.items()
    }
