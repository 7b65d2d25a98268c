import subprocess
import sys

import pytest

LOADED = """
import sys
from evenkeel_cli.main import main
assert main.get_command(None, "{command}") is not None
print(*sorted({{name.partition(".")[0] for name in sys.modules}} & {{"{package}"}}))
"""


@pytest.mark.parametrize(
    ("command", "package"),
    [
        pytest.param("poll", "evenkeel_sandbox", id="no sandbox where functions run"),
        pytest.param("serve", "evenkeel_sandbox", id="no sandbox where the webhook is served"),
        pytest.param("demo", "kubernetes", id="no client library before a cluster is asked"),
    ],
)
def test_a_command_does_without(command: str, package: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(command=command, package=package)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert done.stdout.split() == []
