"""Replaying on a simulated cluster: the built-in one, or a snapshot."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.drain.returning import WARNING
from evenkeel.model.interruption import Key
from evenkeel.model.meta import Reference
from evenkeel.model.notice import Concern
from evenkeel.model.pod import Pod
from evenkeel.model.request import Selection
from evenkeel.model.way import Way
from evenkeel.ports import Clock, Cluster
from evenkeel.settings import Mode
from evenkeel_cli import binding, namespaces, observed, words
from evenkeel_cli.output import Output
from evenkeel_cli.replay.output import Printer
from evenkeel_cli.replay.task import Task
from evenkeel_cli.simulation import PlainEviction, ReportedSimulation
from evenkeel_cli.ways import situations
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
    simulation = _prepared(task, build, now, output, ReportedSimulation)
    printer = Printer(output, simulation.clock)
    simulation.journal.listener = printer.decided
    simulation.on_event = printer.event
    simulation.on_loss = printer.lost
    _play(task, simulation)
    return simulation


def in_plain_eviction(task: Task, build: Builder, now: datetime) -> Mapping[Key, int]:
    """The fewest pods that each workload has where a plain eviction answers the same events."""
    quiet = replace(task, log=None)
    simulation = _prepared(quiet, build, now, None, PlainEviction)
    try:
        _play(quiet, simulation)
        return observed.lowest(simulation.observer)
    finally:
        simulation.close()


def _prepared(
    task: Task,
    build: Builder,
    now: datetime,
    output: Output | None,
    kind: type[ReportedSimulation],
) -> ReportedSimulation:
    """The cluster a moment before the first event. ``output`` is told which nodes were chosen."""
    beginning = now
    if task.keep_time:
        beginning = min((event.given_at for event in task.arriving), default=now)
    clock = SimulatedClock(beginning - BEFORE)
    cluster = build(clock)
    namespaces.check(cluster, task.namespace)
    telling = _most_telling(cluster, clock)
    nodes = sorted(nodes_of(cluster), key=lambda node: telling[node.name], reverse=True)
    bound = binding.bind(task.notices, nodes, task.wish, lend=True)
    lent = {each: node for each, node in bound.items() if each not in task.wish.bound}
    if output is not None and lent:
        for instance_id, node in lent.items():
            output.say(_lent(instance_id, node, telling[node]), hang=2)
        output.say()
    rebind(cluster, bound)
    clock.advance(beginning - LOOKING_AROUND - clock.now())
    recorders = task.recorders(clock, Mode.ACT)
    simulation = kind(
        clock,
        cluster,
        *recorders,
        labels=task.wish.labels,
        spot=task.of(Concern.SPOT, bound),
        reserved=task.of(Concern.RESERVED, bound),
    )
    clock.advance(beginning - clock.now())
    return simulation


def _play(task: Task, simulation: ReportedSimulation) -> None:
    """Send the events, and let everything that follows happen."""
    clock = simulation.clock
    last = clock.now()
    for event in task.arriving:
        last = max(last, event.given_at) if task.keep_time else last
        clock.call_at(event.given_at if task.keep_time else last, _sending(simulation, event, task))
    while clock.now() <= last or not simulation.is_over:
        if clock.now() - last > LONGEST:
            break
        simulation.advance(STEP)
    simulation.advance(AFTERWARDS)


def _most_telling(cluster: Cluster, clock: Clock) -> Mapping[str, tuple[int, int]]:
    """In how many ways the pods of each node would go, and of how many workloads they are."""
    ways, workloads = defaultdict[str, set[Way]](set), defaultdict[str, set[Reference]](set)
    for each in situations(cluster, [Selection(Pod)], clock):
        way = each.way_for(WARNING).way
        if way is not Way.STAY:
            ways[each.pod.spec.node_name].add(way)
            workloads[each.pod.spec.node_name].add(each.workload)
    found = {name: (len(ways[name]), len(workloads[name])) for name in ways}
    return defaultdict(lambda: (0, 0), found)


def _lent(instance_id: str, node: str, telling: tuple[int, int]) -> str:
    """Which node an instance is that the cluster does not have, and why that one."""
    ways, workloads = telling
    return (
        f"{words.short_node(node)} is taken for instance {instance_id}: it shows most,"
        f" {words.counted(workloads, 'workload')} whose pods go in {words.counted(ways, 'way')}."
        f" --instance {instance_id}=NODE names another."
    )


def _sending(simulation: ReportedSimulation, event: Arriving, task: Task) -> Callable[[], None]:
    def send() -> None:
        now = simulation.clock.now()
        simulation.send(event if task.keep_time else freshened(event, now))

    return send
