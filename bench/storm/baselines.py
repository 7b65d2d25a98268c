"""What kubectl drain does with the same cluster, in the same run."""

import subprocess
import time
from collections.abc import Iterable

from bench.storm.site import Site

DRAIN_TIMEOUT = 150


def drain(site: Site, nodes: Iterable[str]) -> tuple[float, int]:
    """`kubectl drain` on all nodes in parallel; seconds until the last ended, and failures."""
    control_plane = site.control_plane
    command = [
        *(str(control_plane.binaries / "kubectl"), f"--kubeconfig={control_plane.kubeconfig}"),
        *("drain", "--ignore-daemonsets", "--delete-emptydir-data"),
        f"--timeout={DRAIN_TIMEOUT}s",
    ]
    began = time.monotonic()
    running = [
        subprocess.Popen(
            [*command, node],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for node in nodes
    ]
    failed = sum(process.wait(DRAIN_TIMEOUT + 60) != 0 for process in running)
    return time.monotonic() - began, failed
