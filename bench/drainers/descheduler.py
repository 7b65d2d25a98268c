"""The descheduler, run once: it evicts the pods of a node that got a taint."""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from bench.drainers import binaries
from bench.drainers.drainer import ended, started
from bench.drainers.site import Site

OLD: Final = "old"
NEW: Final = "new"
PLUGIN: Final = "RemovePodsViolatingNodeTaints"


class Descheduler:
    """One run of it, while another node has room for all."""

    def __init__(self, log: Path, *, in_background: bool = False) -> None:
        """It writes to this log.

        ``in_background``: it leaves pods whose owners say so to whoever refused their eviction.
        """
        self._options = ["--feature-gates=EvictionsInBackground=true"] if in_background else []
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="evenkeel-bench-")

    def prepare(self, site: Site) -> None:
        """One node."""
        self._site = site
        site.add_node(OLD)

    def begin(self) -> None:
        """Another node, a taint on the first, and the run."""
        control_plane = self._site.control_plane
        self._site.add_node(NEW)
        taint = {"key": "evenkeel-bench/moved", "value": "true", "effect": "NoSchedule"}
        control_plane.merge("v1", "Node", OLD, {"spec": {"taints": [taint]}})
        policy = Path(self._folder.name) / "policy.json"
        policy.write_text(json.dumps(_policy()))
        command: list[str | Path] = [
            *(binaries.folder() / "descheduler", f"--kubeconfig={control_plane.kubeconfig}"),
            *(f"--policy-config-file={policy}", "--descheduling-interval=0"),
            *("--secure-port=0", "--v=3", *self._options),
        ]
        self._process = started(command, self._log, os.environ)  # noqa: TID251 - a child's

    def is_done(self) -> bool:
        """Whether its run has ended."""
        return self._process is not None and self._process.poll() is not None

    def close(self) -> None:
        """End it."""
        ended(self._process)
        self._folder.cleanup()


def _policy() -> object:
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        "profiles": [
            {
                "name": "taints",
                "pluginConfig": [
                    {"name": PLUGIN, "args": {}},
                    {"name": "DefaultEvictor", "args": {}},
                ],
                "plugins": {"deschedule": {"enabled": [PLUGIN]}},
            }
        ],
    }
