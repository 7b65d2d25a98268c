"""A second kube-scheduler as a process, with the rights and the configuration of manifests/."""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.e2e.accounts import SYSTEM, applied, kubeconfig_of
from tests.e2e.placement.webhook import Ground, printed
from tests.kit.control_plane import ROOT, ControlPlane
from tests.kit.processes import awaited, ended

ACCOUNT = "evenkeel-scheduler"
LEASES = "coordination.k8s.io/v1"
SERVE = "evenkeel-serve"
PROFILE = Path("manifests", "scheduler", "profile")
EXTENDER = Path("scheduler", "extender")

type Config = Mapping[str, Any]
"""A KubeSchedulerConfiguration."""


class Scheduler:
    """One at work. It plays the container of manifests/scheduler."""

    def __init__(self, control_plane: ControlPlane, config: Config, folder: Path) -> None:
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


@contextmanager
def running(control_plane: ControlPlane, config: Config, folder: Path) -> Iterator[Scheduler]:
    """A scheduler that schedules; its account is there already."""
    scheduler = Scheduler(control_plane, config, folder)

    def leads() -> bool:
        """It lists everything before it takes its Lease."""
        leases = control_plane.items(LEASES, "Lease", SYSTEM)
        return any(each["metadata"]["name"] == ACCOUNT for each in leases)

    try:
        awaited(scheduler.process, scheduler.log, leads)
        yield scheduler
    finally:
        ended(scheduler.process)
        control_plane.delete(LEASES, "Lease", ACCOUNT, SYSTEM)


@contextmanager
def profile_applied(control_plane: ControlPlane) -> Iterator[Config]:
    """manifests/scheduler/profile in the cluster, and its configuration."""
    folder = ROOT / PROFILE
    with applied(control_plane, folder):
        yield yaml.safe_load((folder / "config.yaml").read_text())


@contextmanager
def extender_applied(ground: Ground) -> Iterator[None]:
    """manifests/scheduler/extender in the cluster, with a configuration as docs say."""
    folder = ground.folder / "manifests"
    shutil.copytree(ROOT / "manifests", folder)
    url = f"https://{SERVE}.{SYSTEM}.svc/v1/{ground.token}"
    (folder / EXTENDER / "config.yaml").write_text(printed("scheduler-config", "--url", url))
    with applied(ground.control_plane, folder / EXTENDER):
        yield


def answering(ground: Ground) -> int:
    """Start ``evenkeel serve --extender`` as its account; its port, once all was listed."""
    account = kubeconfig_of(ground.control_plane, SERVE, ground.folder)
    port = ground.start(kubeconfig=account, options=("--extender",))
    ground.wait_for("all to be listed", lambda: "the scheduler is answered" in ground.log())
    return port


def asking(ground: Ground, port: int) -> Config:
    """The configuration of a scheduler that asks at this port."""
    authority = ground.folder / "ca.crt"
    authority.write_text(ground.authority.certificate)
    url = f"https://127.0.0.1:{port}/v1/{ground.token}"
    config: Config = yaml.safe_load(
        printed("scheduler-config", "--url", url, "--certificate-authority", str(authority))
    )
    return config
