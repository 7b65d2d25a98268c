"""The policy and the chart's templates are what their tools make now."""

import subprocess
import sys

import pytest

from tests.kit.control_plane import ROOT


@pytest.mark.parametrize("tool", ["write-policy", "write-chart"])
def test_what_a_tool_writes_is_current(tool: str) -> None:
    done = subprocess.run(
        [sys.executable, f"tools/{tool}", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
