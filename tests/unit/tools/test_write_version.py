"""The version of the rights stands in the manifests and in the template as it is."""

import subprocess
import sys

from tests.kit.control_plane import ROOT


def test_the_version_of_the_rights_is_written_down() -> None:
    done = subprocess.run(
        [sys.executable, "tools/write-version", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
