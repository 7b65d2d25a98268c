"""What kubectl drain does with the same cluster, in the same run."""

import subprocess
from collections.abc import Iterable

from bench.storm.site import Site

DRAIN_TIMEOUT = 150
GATED_TIMEOUT = 600


def drain(site: Site, nodes: Iterable[str], timeout: int = DRAIN_TIMEOUT) -> int:
    """`kubectl drain` on all nodes in parallel; how many of them failed in so many seconds."""
    control_plane = site.control_plane
    command = [
        *(str(control_plane.binaries / "kubectl"), f"--kubeconfig={control_plane.kubeconfig}"),
        *("drain", "--ignore-daemonsets", "--delete-emptydir-data"),
        f"--timeout={timeout}s",
    ]
    running = [
        subprocess.Popen(
            [*command, node],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for node in nodes
    ]
    return sum(process.wait(timeout + 60) != 0 for process in running)
