"""One world in one run: what each workload lost."""

from collections import Counter
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


ALIKE: Final = 11.0
"""Seconds that are no difference, for each pod: a step of a storm is a second, and the
scheduler lets a pod rest for up to 10 s before it looks for a node again."""


class Run(StrEnum):
    """Who acts on the warnings."""

    NOTHING = "nothing"
    DRAIN = "drain"
    EVENKEEL = "evenkeel"


class Loss(NamedTuple):
    """What a workload lost in a run: each number is the better the lower it is.

    ``fewest``: so many of the wanted pods were missing at most; ``lasting``: for longer than is
    alike. ``below``: Ready-seconds below what
    is wanted. ``at_zero``: seconds without a Ready pod.
    """

    fewest: int
    lasting: int
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
    below, at_zero, longest, now = 0.0, 0.0, Counter[int](), Counter[int]()
    for look, until in zip(seen, [*(each.at for each in seen[1:]), end], strict=True):
        seconds, wanted = max(0.0, (min(until, end) - look.at).total_seconds()), look.wanted or 0
        missing = max(0, wanted - look.ready)
        now = Counter({number: now[number] + seconds for number in range(1, missing + 1)})
        longest |= now
        below += missing * seconds
        at_zero += seconds if wanted and not look.ready else 0
    lasting = (number for number, lasted in longest.items() if lasted > ALIKE)
    return Loss(max(longest, default=0), max(lasting, default=0), below, at_zero)
