"""A second kube-scheduler as a process, with the rights and the configuration of manifests/."""

import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.e2e.accounts import SYSTEM, kubeconfig_of
from tests.fixtures.control_plane import ControlPlane

ACCOUNT = "evenkeel-scheduler"
LEASES = "coordination.k8s.io/v1"
STARTING = 60.0


class Scheduler:
    """One at work. It plays the container of manifests/scheduler."""

    def __init__(
        self, control_plane: ControlPlane, config: Mapping[str, Any], folder: Path
    ) -> None:
        account = kubeconfig_of(control_plane, ACCOUNT, folder)
        file, self.log = folder / "scheduler.yaml", folder / "scheduler.log"
        connection = {"clientConnection": {"kubeconfig": str(account)}}
        file.write_text(yaml.safe_dump({**config, **connection}))
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [control_plane.binaries / "kube-scheduler", "--config", file, "--secure-port=0"],
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def stop(self) -> None:
        """End it as a kubelet would."""
        self.process.terminate()
        try:
            self.process.wait(15)
        finally:
            self.process.kill()
            self.process.wait(15)


@contextmanager
def running(
    control_plane: ControlPlane, config: Mapping[str, Any], folder: Path
) -> Iterator[Scheduler]:
    """A scheduler that schedules; its account is there already."""
    scheduler = Scheduler(control_plane, config, folder)
    try:
        _await_leadership(control_plane, scheduler)
        yield scheduler
    finally:
        scheduler.stop()
        control_plane.delete(LEASES, "Lease", ACCOUNT, SYSTEM)


def _await_leadership(control_plane: ControlPlane, scheduler: Scheduler) -> None:
    """Wait until a scheduler holds its Lease: it lists everything before."""
    give_up = time.monotonic() + STARTING
    while time.monotonic() < give_up and scheduler.process.poll() is None:
        leases = control_plane.items(LEASES, "Lease", SYSTEM)
        if any(each["metadata"]["name"] == ACCOUNT for each in leases):
            return
        time.sleep(0.1)  # noqa: TID251 - another process has its own clock
    raise AssertionError(f"it does not schedule: {scheduler.log.read_text()}")
