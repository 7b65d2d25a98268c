"""The nodes of a world are drained on purpose: with the gate and without it."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from random import Random
from typing import Final, NamedTuple, override

from evenkeel.decisions.gate.gate import LONGEST_RETRY
from evenkeel.model import names
from evenkeel_cli.simulate.trial import STEP
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.api.webhooks import Webhook
from evenkeel_sandbox.simulator.webhook import HandlerWebhook
from tests.kit.drainer import Drainer
from tests.kit.manifests import resource
from tests.kit.reviews import TOKEN, answering
from tests.property.dominance.runs import ALIKE, Loss, Played, Run
from tests.property.dominance.worlds import World, world

LONGEST: Final = timedelta(minutes=40)
"""So long each world is watched: the gate waits for a replacement for ten minutes at most."""


class Drained(NamedTuple):
    """What the workload of a world lost when its nodes were drained."""

    world: World
    plain: Loss
    gated: Loss

    @property
    def worse_in(self) -> list[str]:
        """The measures in which it fares worse behind the gate.

        A drainer that was put off asks again after ten seconds at most. A pod that crashes while
        another one stops rests for as long again, and ten seconds.
        """
        plain, own, workload = self.plain, self.gated, self.world.workload
        alike = ALIKE + LONGEST_RETRY.total_seconds() + workload.is_locked * (workload.stop + 10)
        found = {
            "lasting": own.most_missing(alike) > plain.most_missing(),
            "below": own.below > plain.below + workload.replicas * alike,
            "at_zero": own.at_zero > plain.at_zero + alike,
        }
        return [name for name, is_worse in found.items() if is_worse]

    @override
    def __str__(self) -> str:
        told = f"{', '.join(self.worse_in)}: {self.gated} beside {self.plain}"
        return f"{self.world.workload}, pods after {self.world.pod_start:g} s: {told}"


def drained(seed: int) -> Drained | None:
    """The workload after both runs; None for a Job, and if it was not whole before."""
    chance = Random(seed)  # noqa: S311 - nothing is kept secret by it
    found = replace(world(seed), pod_start=chance.choice([2, 10, 40, 100, 420]))
    if found.workload.kind == "Job":
        return None
    objects = found.at_rest()
    plain, gated = (_Drain(found, objects, run).loss() for run in (Run.DRAIN, Run.EVENKEEL))
    return Drained(found, plain, gated) if plain and gated else None


class _Drain(Played):
    """Nodes that are drained, one by one or at once, and live."""

    watched = LONGEST

    @override
    def steps(self) -> Iterator[None]:
        if self._run is Run.EVENKEEL:
            gate = HandlerWebhook(
                self.cluster, TOKEN, answering(InMemoryRecorder()), name="evictions"
            )
            self.cluster.apply(resource("Namespace", "default", labels={names.GATE: "true"}))
            self.cluster.ask(Webhook.gate(gate))
        drainer, begins = Drainer(self.clock, self.cluster), self.clock.now()
        strikes = [each for each in self._world.warnings if not each.kind.is_hint]
        for each in strikes:
            self.clock.call_at(begins + each.after, partial(drainer.drain, each.node))
        last = begins + max(each.after for each in strikes) + STEP
        while self.clock.now() <= last or not (drainer.is_done and self._is_well()):
            if self.clock.now() > begins + self.watched:
                break
            self.advance(STEP)
            yield
        drainer.kill()
