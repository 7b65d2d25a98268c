"""Helm, which tools/control-plane builds, with charts/evenkeel."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.kit.control_plane import BUILDING, ROOT, ControlPlane

CHART: Final = ROOT / "charts" / "evenkeel"
NAMESPACE: Final = "evenkeel-system"
LONGEST: Final = 120.0
"""Seconds that a call of Helm may take."""


@dataclass(frozen=True, slots=True)
class Helm:
    """The program, and where it renders and installs."""

    program: Path

    @classmethod
    def built(cls) -> "Helm":
        """The Helm of tools/helm/go.mod, built if it is not there."""
        command = [sys.executable, str(ROOT / "tools" / "control-plane"), "--helm"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=BUILDING, check=False
        )
        if done.returncode:
            pytest.fail(f"there is no Helm: {done.stderr}", pytrace=False)
        return cls(Path(done.stdout.strip(), "helm"))

    def run(self, *arguments: str | Path, values: Mapping[str, Any] | None = None) -> str:
        """What Helm prints; an AssertionError with what it says if it fails."""
        done = self.tried(*arguments, values=values)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def tried(
        self, *arguments: str | Path, values: Mapping[str, Any] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run Helm, with these values of the chart if it is given some."""
        given = [] if values is None else ["--values", "-"]
        return subprocess.run(
            [self.program, *arguments, "--namespace", NAMESPACE, *given],
            input="" if values is None else yaml.safe_dump(dict(values)),
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )

    def on(
        self, plane: ControlPlane, *arguments: str, values: Mapping[str, Any] | None = None
    ) -> str:
        """Run Helm on a cluster, for the release evenkeel."""
        where = f"--kubeconfig={plane.kubeconfig}"
        return self.run(*arguments, where, values=values)

    def rendered(self, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The objects that the chart comes to."""
        text = self.run("template", "evenkeel", CHART, values=values)
        return [each for each in yaml.safe_load_all(text) if each]
