"""Drainers of others, which tools/control-plane builds."""

import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.kit.control_plane import BUILDING, ROOT


@cache
def binaries() -> Path:
    """The directory of the drainers' binaries; they are built if they are not there."""
    command = [sys.executable, str(ROOT / "tools" / "control-plane"), "--drainers"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=BUILDING, check=True)
    return Path(done.stdout.strip())
