"""What the functions' sources name: the clients of AWS that they make, the settings they read."""

import ast
import re
from collections.abc import Iterator

from tests.kit.control_plane import ROOT

FOLDERS = ("layers/evenkeel/evenkeel", "functions")
VARIABLE = re.compile(r"(EVENKEEL|AWS)(_[A-Z0-9]+)+")


def services() -> set[str]:
    """The services that the code makes clients of, by boto3's names."""
    return {
        ast.literal_eval(node.args[0])
        for node in _nodes()
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Client"
    }


def variables() -> set[str]:
    """The environment variables that the code names."""
    return {
        node.value
        for node in _nodes()
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and VARIABLE.fullmatch(node.value)
    }


def _nodes() -> Iterator[ast.AST]:
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            yield from ast.walk(ast.parse(path.read_text()))
