"""A storm's scenario on simulated time: its nodes and its pods."""

from typing import Final

from bench.storm.scenario import Scenario
from tests.kit.manifests import deployment
from tests.kit.scene import Scene

FILLING: Final = 600.0
"""Simulated seconds in which all pods get Ready."""


def spot_nodes(scenario: Scenario) -> list[str]:
    """The names of the nodes that are noticed."""
    return [f"spot-{number}" for number in range(scenario.spot)]


def fill(scene: Scene, scenario: Scenario, *, apart: bool = False) -> None:
    """All pods on spot nodes, and room for them on others.

    ``apart``: each workload has a namespace of its own, of its name.
    """
    for name in spot_nodes(scenario):
        scene.add_node(name, room=_room(scenario.per_spot))
    for name, size in scenario.replicas.items():
        manifest = deployment(name, size)
        if apart:
            manifest["metadata"]["namespace"] = name
        scene.apply(manifest)
    scene.settle(FILLING)
    for number in range(scenario.idle):
        scene.add_node(f"idle-{number}", spot=False, room=_room(scenario.per_idle))


def _room(pods: int) -> str:
    """The CPUs of a node with room for so many pods; each asks for a tenth."""
    return f"{100 * pods}m"
