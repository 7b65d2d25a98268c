"""Storms on simulated time: how much CPU Evenkeel's functions take for a pod."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from bench import conditions
from bench.growth.inside import Outside, Stopwatch, counted
from bench.growth.results import Functions, Inside
from bench.say import Say
from bench.simulated import fill, spot_nodes
from bench.storm.scenario import SCENARIOS
from bench.storm.storm import LEAD
from evenkeel.handlers import Handler
from tests.kit.scene import CALM, Scene

SIZES: Final = (30, 100, 300)
PORTS: Final = ("cluster", "instances", "notices", "wake_ups", "clock", "recorder")
OPTIONS: Final = replace(CALM, start_seconds=(2.0, 3.0))


def run(sizes: Sequence[int], say: Say) -> Functions:
    """A storm for each number of doomed nodes."""
    return Functions(
        conditions=conditions.look(simulated=True), points=[measure(each, say) for each in sizes]
    )


def measure(nodes: int, say: Say) -> Inside:
    """All spot nodes are noticed at once; every workload has a namespace of its own."""
    scenario = SCENARIOS["A"].of(nodes)
    scene = _CountedScene(options=OPTIONS)
    try:
        fill(scene, scenario, apart=True)
        say(f"{scenario.pods:,} pods are on {scenario.spot} spot nodes")
        scene.begin()
        scene.interrupt(*spot_nodes(scenario))
        scene.run(until=LEAD)
        serving = sum(health.ready for health in scene.observer.workloads.values())
        assert serving == scenario.pods, f"only {serving} of {scenario.pods} pods are Ready"
        seconds = scene.stopwatch.seconds
        say(f"{seconds:.1f} s of CPU inside the functions")
        return Inside(doomed=nodes, pods=scenario.pods, seconds=seconds)
    finally:
        scene.close()


class _CountedScene(Scene):
    """A scene whose handlers' CPU time is counted."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.stopwatch = Stopwatch()

    def _interruption(self) -> Handler:
        return self._counted(super()._interruption)

    def _handover(self) -> Handler:
        return self._counted(super()._handover)

    def _counted(self, build: Callable[[], Handler]) -> Handler:
        """A handler that is counted, and acts on ports that are not."""
        ports = {name: getattr(self, name) for name in PORTS}
        try:
            for name, port in ports.items():
                setattr(self, name, Outside(port, self.stopwatch))
            return counted(build(), self.stopwatch)
        finally:
            for name, port in ports.items():
                setattr(self, name, port)
