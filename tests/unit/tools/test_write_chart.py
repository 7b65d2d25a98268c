"""The chart's templates are what tools/write-chart makes of manifests/ now."""

import subprocess
import sys

from tests.kit.control_plane import ROOT


def test_the_templates_are_current() -> None:
    done = subprocess.run(
        [sys.executable, "tools/write-chart", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
