"""The drainers' own binaries."""

import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

from bench.store import ROOT

BUILDING: Final = 1200.0


@cache
def folder() -> Path:
    """The directory of the drainers' binaries; they are built if they are not there."""
    command = [sys.executable, str(ROOT / "tools" / "control-plane"), "--drainers"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=BUILDING, check=True)
    return Path(done.stdout.strip())
