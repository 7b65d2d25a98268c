"""Replaying on a simulated cluster: the built-in one, or a snapshot."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from evenkeel.model.notice import Concern
from evenkeel.settings import Mode
from evenkeel_cli import binding
from evenkeel_cli.output import Output
from evenkeel_cli.replay.output import Printer
from evenkeel_cli.replay.task import Task
from evenkeel_cli.simulation import ReportedSimulation
from evenkeel_sandbox.events import Arriving, freshened
from evenkeel_sandbox.simulation import nodes_of, rebind
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster

type Builder = Callable[[SimulatedClock], SimulatedCluster]

BEFORE: Final = timedelta(minutes=10)
"""A cluster is brought up so long before the first event."""

LOOKING_AROUND: Final = timedelta(seconds=10)
STEP: Final = timedelta(seconds=1)
LONGEST: Final = timedelta(minutes=30)
AFTERWARDS: Final = timedelta(seconds=30)
"""For replacements of what died without a warning."""


def run(task: Task, build: Builder, now: datetime, output: Output) -> ReportedSimulation:
    """Send the events, let everything that follows happen, and answer what was seen.

    Each event is given at its own time with ``keep_time``; else all are given at once, stale
    ones as if they were new. Raises BadInputError where an instance cannot be bound.
    """
    beginning = now
    if task.keep_time:
        beginning = min((event.given_at for event in task.arriving), default=now)
    clock = SimulatedClock(beginning - BEFORE)
    cluster = build(clock)
    bound = binding.bind(task.notices, nodes_of(cluster), task.wish, lend=True)
    rebind(cluster, bound)
    clock.advance(beginning - LOOKING_AROUND - clock.now())
    recorders = task.recorders(clock, Mode.ACT)
    simulation = ReportedSimulation(
        clock,
        cluster,
        *recorders,
        labels=task.wish.labels,
        spot=task.of(Concern.SPOT, bound),
        reserved=task.of(Concern.RESERVED, bound),
    )
    clock.advance(beginning - clock.now())
    printer = Printer(output, clock)
    simulation.journal.listener = printer.decided
    simulation.on_event = printer.event
    simulation.on_loss = printer.lost
    last = clock.now()
    for event in task.arriving:
        last = max(last, event.given_at) if task.keep_time else last
        clock.call_at(event.given_at if task.keep_time else last, _sending(simulation, event, task))
    while clock.now() <= last or not simulation.is_over:
        if clock.now() - last > LONGEST:
            break
        simulation.advance(STEP)
    simulation.advance(AFTERWARDS)
    return simulation


def _sending(simulation: ReportedSimulation, event: Arriving, task: Task) -> Callable[[], None]:
    def send() -> None:
        now = simulation.clock.now()
        simulation.send(event if task.keep_time else freshened(event, now))

    return send
