import subprocess
import sys

import pytest

LOADED = """
import sys
from evenkeel_cli.main import main
assert main.get_command(None, "{command}") is not None
print(*sorted({{name.partition(".")[0] for name in sys.modules}} & {{"sandbox", "simulator"}}))
"""


@pytest.mark.parametrize("command", ["poll", "serve"])
def test_no_sandbox_is_loaded_when_a_command_runs_the_functions(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED.format(command=command)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert done.stdout.split() == []
