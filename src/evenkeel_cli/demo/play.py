"""Playing the demo: setting the scene, letting the storm come, waiting until all is over."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Final

import msgspec

from evenkeel.decisions.notice import mark
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.settings import Mode
from evenkeel_cli import event_files, events
from evenkeel_cli.decision_file import DecisionLog, Lines
from evenkeel_cli.simulation import PlainEviction, ReportedSimulation
from evenkeel_cli.status.gather import Found, gather
from evenkeel_hosting import files
from evenkeel_sandbox import storm
from evenkeel_sandbox.application import CLUSTER_NAME
from evenkeel_sandbox.built_in import cluster as built_in
from evenkeel_sandbox.events import freshened
from evenkeel_sandbox.simulation import nodes_of, rebind
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.storm import Blow, Storm

BEGINNING: Final = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
STEP: Final = timedelta(seconds=0.5)
LONG_STEP: Final = timedelta(seconds=10)
LONGEST: Final = timedelta(minutes=30)
AFTERWARDS: Final = timedelta(seconds=60)
"""For replacements of what died without a warning, and for the last scheduled run."""


class Phase(Enum):
    """Where the story is. The value is how much faster than real time a person can follow."""

    STORM = 8
    AFTERMATH = 30
    EXPIRY = 120
    RESTORE = 240


@dataclass(frozen=True, slots=True)
class Scene:
    """The cluster before anything happens, where its workloads stand, and what will happen."""

    simulation: ReportedSimulation
    storm: Storm
    nodes: list[Node]
    found: Found


def prepare(log: Lines | None = None, kind: type[ReportedSimulation] = ReportedSimulation) -> Scene:
    """Set the scene, with the sample events. ``log`` is where the decision log goes."""
    samples, _ = events.understand(event_files.read_all([str(f) for f in files.sample_events()]))
    clock = SimulatedClock(BEGINNING)
    cluster = built_in.build(clock)
    pods = [msgspec.convert(obj, Pod) for obj in cluster.objects("Pod")]
    planned = storm.plan(samples, nodes_of(cluster), pods)
    rebind(cluster, planned.nodes)
    nodes = nodes_of(cluster)
    found = gather(cluster, clock=clock)
    logs = [] if log is None else [DecisionLog(log, clock, cluster=CLUSTER_NAME, mode=Mode.ACT)]
    simulation = kind(clock, cluster, *logs)
    for blow in planned.blows:
        clock.call_in(blow.after, _sending(simulation, blow))
    return Scene(simulation, planned, nodes, found)


def in_plain_eviction() -> ReportedSimulation:
    """The same storm where a plain eviction answers the events, after it is over."""
    scene = prepare(kind=PlainEviction)
    try:
        for _ in steps(scene):
            pass
        return scene.simulation
    finally:
        scene.simulation.close()


def steps(scene: Scene) -> Iterator[Phase]:
    """Let time pass, a step at a time, until nothing is left to happen.

    That is when every instance that EC2 announced is gone, Evenkeel has nothing left to do,
    and the last hint has expired.
    """
    simulation = scene.simulation
    clock = simulation.clock
    last_blow = simulation.started + scene.storm.last
    end = simulation.started + LONGEST
    while clock.now() <= last_blow or not simulation.is_over:
        if clock.now() >= end:
            return
        simulation.advance(STEP)
        yield Phase.STORM
    quiet_from = clock.now()
    while clock.now() < quiet_from + AFTERWARDS:
        simulation.advance(STEP)
        yield Phase.AFTERMATH
    while _has_hints(simulation) and clock.now() < end:
        simulation.advance(LONG_STEP)
        yield Phase.EXPIRY


def _has_hints(simulation: ReportedSimulation) -> bool:
    notices = (mark.read(node) for node in simulation.observer.nodes.values())
    return any(notice is not None and notice.is_hint for notice in notices)


def _sending(simulation: ReportedSimulation, blow: Blow) -> Callable[[], None]:
    return lambda: simulation.send(freshened(blow.arriving, simulation.clock.now()))
