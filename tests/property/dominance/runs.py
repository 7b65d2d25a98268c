"""One world in one run: what each workload lost."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, NamedTuple, override

from evenkeel.model.capacity import WELL_KNOWN
from evenkeel_cli.simulate.trial import Ground, Policy, Setting, Storm, copied
from evenkeel_hosting.functions import Ports
from evenkeel_sandbox.observer.health import Look
from evenkeel_sandbox.simulation import Responder
from tests.property.dominance.worlds import World

WATCHED: Final = timedelta(minutes=15)
"""So long after its first warning a world is watched, in each run."""


class Run(StrEnum):
    """Who acts on the warnings."""

    NOTHING = "nothing"
    DRAIN = "drain"
    EVENKEEL = "evenkeel"


class Loss(NamedTuple):
    """What a workload lost in a run: each number is the better the lower it is.

    ``fewest``: so many of the wanted pods were missing at most. ``below``: Ready-seconds below what
    is wanted. ``at_zero``: seconds without a Ready pod.
    """

    fewest: int
    below: float
    at_zero: float


class _Nobody:
    """Leaves all nodes to their end."""

    is_idle = True

    def send(self, event: Mapping[str, Any]) -> None:
        """Nothing."""


class _Unheeded(Storm):
    """A storm of which nobody takes notice."""

    @override
    def _deploy(self, ports: Ports) -> Responder:
        return _Nobody()


def losses(world: World, objects: Sequence[Mapping[str, Any]], run: Run) -> Mapping[str, Loss]:
    """What each workload lost that was whole before, by its name."""
    ground = Ground.of(objects)._replace(pod_starts={}, node_starts={})
    setting = Setting(
        shape=world,
        policy=Policy.EVENKEEL if run is Run.EVENKEEL else Policy.EVICT,
        pod_start=(world.pod_start, world.pod_start),
        node_start=timedelta(seconds=world.node_start),
        labels=WELL_KNOWN,
    )
    kind = _Unheeded if run is Run.NOTHING else Storm
    storm = kind(*copied(ground, setting, 0), setting, ground, 0)
    end = storm.clock.now() + WATCHED
    for _ in storm.steps():
        pass
    storm.clock.advance(max(timedelta(), end - storm.clock.now()))
    healths = {ref.name: health for ref, health in storm.observer.workloads.items()}
    found = {
        each.app: _loss(healths[each.app].seen, end)
        for each in world.workloads
        if healths[each.app].before == each.replicas
    }
    storm.close()
    return found


def _loss(seen: Sequence[Look], end: datetime) -> Loss:
    fewest, below, at_zero = 0, 0.0, 0.0
    for look, until in zip(seen, [*(each.at for each in seen[1:]), end], strict=True):
        seconds, wanted = max(0.0, (min(until, end) - look.at).total_seconds()), look.wanted or 0
        fewest = max(fewest, wanted - look.ready)
        below += max(0, wanted - look.ready) * seconds
        at_zero += seconds if wanted and not look.ready else 0
    return Loss(fewest, below, at_zero)
