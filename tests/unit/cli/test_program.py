"""The program calls itself what a person typed to start it."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from evenkeel_cli.groups import COMMANDS
from tests.kit.control_plane import ROOT

CLI = ROOT / "src" / "evenkeel_cli"
OWN_LINE = re.compile(rf"(?<!kubectl )\bevenkeel (?:{'|'.join(COMMANDS)})\b")

ALL_HELP = """
import sys
sys.argv = ["/somewhere/kubectl-evenkeel"]
from click.testing import CliRunner
from evenkeel_cli.groups import COMMANDS
from evenkeel_cli.main import main
for arguments in ([], *([name] for name in COMMANDS)):
    print(CliRunner().invoke(main, [*arguments, "--help"], terminal_width=80).output)
"""


def test_all_help_of_the_plugin_names_the_plugin() -> None:
    told = subprocess.run(
        [sys.executable, "-c", ALL_HELP], capture_output=True, text=True, timeout=180, check=True
    ).stdout

    for name in COMMANDS:
        assert f"\nUsage: kubectl evenkeel {name} " in told
        assert f"\n  kubectl evenkeel {name}" in told, "its example"
    assert OWN_LINE.findall(told) == []
    assert max(map(len, told.splitlines())) <= 80


def test_no_message_has_a_name_of_its_own_for_the_program() -> None:
    """But for files that are written for others, who may call it otherwise."""
    written = CLI / "install" / "render.py"
    found = [
        (path.name, text)
        for path in CLI.rglob("*.py")
        if path != written
        for text in messages(path)
        if OWN_LINE.search(text)
    ]
    assert found == [], "say f'{program.NAME} ...'"


def messages(path: Path) -> Iterator[str]:
    """All strings that are no docstrings."""
    tree = ast.parse(path.read_text())
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in docstrings:
            yield str(node.value)
