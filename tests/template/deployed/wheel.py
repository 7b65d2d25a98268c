"""The wheel of this checkout, installed where nothing else of the checkout is."""

import subprocess
import sys
import venv
from pathlib import Path

from tests.fixtures.control_plane import ROOT

LIBRARIES = ROOT / ".venv-command"
"""An environment with the libraries that requirements/command.txt pins, and nothing else."""


def installed(folder: Path) -> Path:
    """The programs of an environment that has the wheel, and the libraries that it needs."""
    build = ("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT)
    _pip(*build)
    (wheel,) = folder.glob("*.whl")
    environment = folder / "environment"
    venv.create(environment, symlinks=True)
    (packages,) = environment.glob("lib/*/site-packages")
    (libraries,) = LIBRARIES.glob("lib/*/site-packages")
    (packages / "libraries.pth").write_text(f"{libraries}\n")
    _pip("--python", environment, "install", "--no-deps", wheel)
    return environment / "bin"


def _pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"]
    subprocess.run(command, check=True, timeout=300)
