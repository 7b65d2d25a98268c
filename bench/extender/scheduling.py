"""Many pods at once through a real scheduler, without the extender and with it, in turn."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench import conditions
from bench.extender.results import Extent, Pair
from bench.say import Say
from bench.storm.site import launched
from evenkeel.model import names
from evenkeel_cli.schedulers import PROFILE
from tests.e2e.manifests import deployment
from tests.e2e.placement.webhook import Ground, on_demand, opened
from tests.e2e.scheduling.scheduler import (
    Config,
    answering,
    asking,
    extender_applied,
    running,
)
from tests.kit.control_plane import ROOT

PERCENT: Final = 30
EVERY: Final = 0.2
"""Seconds between two looks; how exact a time is."""


def measure(extent: Extent, say: Say) -> tuple[list[Pair], list[int]]:
    """The pairs, and of each how many pods went to on-demand with the extender."""
    pairs, placed = [], []
    with _prepared(extent) as ground:
        asks = asking(ground, answering(ground))
        bare = {key: value for key, value in asks.items() if key != "extenders"}
        for number in range(extent.pairs):
            without, _ = _run(ground, bare, f"bare-{number}", extent)
            extended, floor = _run(ground, asks, f"asked-{number}", extent)
            pairs.append(Pair(without=without, extended=extended, load=conditions.load()))
            placed.append(floor)
            say(
                f"{extent.pods} pods: {without:.1f} s without, {extended:.1f} s with;"
                f" {floor} on on-demand"
            )
    return pairs, placed


@contextmanager
def _prepared(extent: Extent) -> Iterator[Ground]:
    with (
        tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as folder,
        launched() as control_plane,
        control_plane.namespace() as namespace,
        opened(control_plane, namespace, Path(folder)) as ground,
    ):
        control_plane.kubectl("apply", "-k", str(ROOT / "manifests" / "rbac"))
        spot = extent.small * 4 // 5
        ground.add_nodes(spot=spot, on_demand=extent.small - spot)
        with extender_applied(ground):
            yield ground


def _run(ground: Ground, config: Config, name: str, extent: Extent) -> tuple[float, int]:
    """Seconds until all pods of a new Deployment have a node; how many on on-demand."""
    with running(ground.control_plane, config, ground.folder):
        # Lists and watches are there, and the pods' owner is the first that the extender sees.
        manifest = deployment(
            name,
            extent.pods,
            cpu="10m",
            annotations={names.ON_DEMAND: f"{PERCENT}%"},
            schedulerName=PROFILE,
        )
        began = time.monotonic()
        ground.apply(manifest)

        def bound() -> list[dict[str, object]] | None:
            pods = ground.pods()
            done = len(pods) == extent.pods and all(pod["spec"].get("nodeName") for pod in pods)
            return pods if done else None

        pods = ground.wait_for(f"{extent.pods} pods on nodes", bound, every=EVERY)
        took = time.monotonic() - began
    ground.control_plane.delete("apps/v1", "Deployment", name, ground.namespace)
    ground.wait_for("no pods to be left", lambda: not ground.pods(), every=EVERY)
    return took, len(on_demand(pods))
