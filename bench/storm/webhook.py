"""A storm's cluster whose API server asks the webhook: about new pods, or about evictions."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.storm.worker import Worker
from bench.storm.workloads import NAMESPACE
from tests.e2e.placement.webhook import Ground
from tests.kit.control_plane import ControlPlane

SYSTEM = "evenkeel-system"
CONFIGURATION = "evenkeel-gate"


@contextmanager
def asking(control_plane: ControlPlane) -> Iterator[Worker]:
    """Let the API server ask a webhook about the storm's pods, in a process that is watched."""
    labels = {"metadata": {"labels": {"evenkeel.dev/managed": "true"}}}
    control_plane.merge("v1", "Namespace", NAMESPACE, labels)
    with _ground(control_plane) as ground:
        ground.serve()
        (started,) = ground.webhooks
        yield Worker(started.process, started.log)


@contextmanager
def gating(control_plane: ControlPlane, log: Path) -> Iterator[Worker]:
    """Let it ask about evictions of the storm's pods alone, until the end of the with statement.

    Pods of the storm have to be Ready. What the gate wrote is in ``log`` afterwards.
    """
    with _ground(control_plane) as ground:
        ground.start()
        ground.gate()
        (started,) = ground.webhooks
        try:
            yield Worker(started.process, started.log)
        finally:
            log.write_bytes(started.log.read_bytes())
            control_plane.kubectl("delete", "validatingwebhookconfiguration", CONFIGURATION)


@contextmanager
def _ground(control_plane: ControlPlane) -> Iterator[Ground]:
    control_plane.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}})
    with tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as folder:
        ground = Ground(control_plane, NAMESPACE, Path(folder))
        try:
            yield ground
        finally:
            for webhook in ground.webhooks:
                webhook.kill()
