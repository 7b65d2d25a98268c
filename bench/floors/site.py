"""A storm's cluster whose API server asks the webhook."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.storm.worker import Worker
from bench.storm.workloads import NAMESPACE
from tests.e2e.placement.webhook import Ground
from tests.fixtures.control_plane import ControlPlane

SYSTEM = "evenkeel-system"


@contextmanager
def asking(control_plane: ControlPlane) -> Iterator[Worker]:
    """Let the API server ask a webhook about the storm's pods, in a process that is watched."""
    labels = {"metadata": {"labels": {"evenkeel.dev/managed": "true"}}}
    control_plane.merge("v1", "Namespace", NAMESPACE, labels)
    control_plane.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SYSTEM}})
    with tempfile.TemporaryDirectory(prefix="evenkeel-bench-") as folder:
        ground = Ground(control_plane, NAMESPACE, Path(folder))
        try:
            ground.serve()
            (started,) = ground.webhooks
            yield Worker(started.process, started.log)
        finally:
            for webhook in ground.webhooks:
                webhook.kill()
