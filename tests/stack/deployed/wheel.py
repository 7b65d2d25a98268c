"""The wheel of this checkout, installed where nothing else of the checkout is."""

import subprocess
import sys
import venv
from pathlib import Path

from tests.kit.control_plane import ROOT

LIBRARIES = ROOT / ".venv-command"
"""An environment with the libraries that requirements/command.txt pins, and nothing else."""


PIP = ROOT / ".venv-uv" / "bin" / "python"
"""A Python that has pip: the wheel is installed by what everybody has."""


def installed(folder: Path) -> Path:
    """The programs of an environment that has the wheel, and the libraries that it needs."""
    _run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder)
    (wheel,) = folder.glob("*.whl")
    environment = folder / "environment"
    venv.create(environment, symlinks=True)
    (packages,) = environment.glob("lib/*/site-packages")
    (libraries,) = LIBRARIES.glob("lib/*/site-packages")
    (packages / "libraries.pth").write_text(f"{libraries}\n")
    _run(PIP, "-m", "pip", "--python", environment, "install", "--quiet", "--no-deps", wheel)
    return environment / "bin"


def _run(*command: str | Path) -> None:
    subprocess.run(command, check=True, cwd=ROOT, timeout=600)
