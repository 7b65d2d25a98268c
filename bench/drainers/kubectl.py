"""`kubectl drain` of a node."""

import os
import subprocess
from pathlib import Path
from typing import Final

from bench.drainers.drainer import ended, started
from bench.drainers.site import Site

OLD: Final = "old"
NEW: Final = "new"
OPTIONS: Final = ("--ignore-daemonsets", "--delete-emptydir-data")


class KubectlDrain:
    """One `kubectl drain`, while another node has room for all."""

    def __init__(self, log: Path) -> None:
        """It writes to this log."""
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._command: list[str | Path] = []

    def prepare(self, site: Site) -> None:
        """One node."""
        control_plane = site.control_plane
        site.add_node(OLD)
        kubeconfig = f"--kubeconfig={control_plane.kubeconfig}"
        self._command = [control_plane.binaries / "kubectl", kubeconfig, "drain", OLD, *OPTIONS]
        self._site = site

    def begin(self) -> None:
        """Another node, and the drain."""
        self._site.add_node(NEW)
        self._process = started(self._command, self._log, os.environ)  # noqa: TID251 - a child's

    def is_done(self) -> bool:
        """Whether the command has ended."""
        return self._process is not None and self._process.poll() is not None

    def close(self) -> None:
        """End the command."""
        ended(self._process)
