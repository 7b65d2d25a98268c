"""The fixtures of the scheduler's end-to-end tests."""

import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.accounts import SYSTEM, applied, kubeconfig_of
from tests.e2e.placement.webhook import EVENKEEL, Ground, opened
from tests.e2e.scheduling.scheduler import Scheduler, running
from tests.fixtures.control_plane import ROOT, ControlPlane

SERVE = "evenkeel-serve"
FOLDER = Path("scheduler", "extender")


@pytest.fixture
def ground(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Iterator[Ground]:
    """A managed namespace; at the end no webhook is left, nor a claim."""
    with opened(control_plane, namespace, tmp_path) as made:
        yield made


@pytest.fixture
def profile(ground: Ground) -> Iterator[Scheduler]:
    """The scheduler of manifests/scheduler/profile."""
    folder = ROOT / "manifests" / "scheduler" / "profile"
    config = yaml.safe_load((folder / "config.yaml").read_text())
    plane = ground.control_plane
    with applied(plane, folder), running(plane, config, ground.folder) as scheduler:
        yield scheduler


@pytest.fixture
def in_cluster(ground: Ground, rights: None) -> Iterator[None]:
    """What docs/placement.md applies for the extender: accounts and rights are those of users."""
    del rights
    folder = ground.folder / "manifests"
    shutil.copytree(ROOT / "manifests", folder)
    url = f"https://{SERVE}.{SYSTEM}.svc/v1/{ground.token}"
    (folder / FOLDER / "config.yaml").write_text(_config("--url", url))
    with applied(ground.control_plane, folder / FOLDER):
        yield


@pytest.fixture
def extended(ground: Ground, in_cluster: None) -> Iterator[Scheduler]:
    """The scheduler of manifests/scheduler/extender, answered by ``evenkeel serve``."""
    del in_cluster
    account = kubeconfig_of(ground.control_plane, SERVE, ground.folder)
    port = ground.start(kubeconfig=account, options=("--extender",))
    ground.wait_for("all to be listed", lambda: "the scheduler is answered" in ground.log())
    with running(ground.control_plane, asking(ground, port), ground.folder) as scheduler:
        yield scheduler


def asking(ground: Ground, port: int) -> Mapping[str, Any]:
    """The configuration of a scheduler that asks at this port."""
    authority = ground.folder / "ca.crt"
    authority.write_text(ground.authority.certificate)
    url = f"https://127.0.0.1:{port}/v1/{ground.token}"
    config: Mapping[str, Any] = yaml.safe_load(_config("--url", url, "--ca", str(authority)))
    return config


def _config(*arguments: str) -> str:
    return subprocess.run(
        [*EVENKEEL, "scheduler-config", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=ROOT,
    ).stdout
