"""What mutants are called, and the survivors that are known by these names.

A name is `MODULE FUNCTION: LINE => LINE`, the first line that differs before and after, such as
`decisions/gate/gate.py decide: return True => return False`. FUNCTION has the classes around it,
and is left out of what stands in none. A name holds wherever in its function the line stands.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
LAYER = ROOT / "layers/evenkeel/evenkeel"
COMMAND = ROOT / "src"
REASONS = Path(__file__).with_name("survivors.txt")

type Block = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def found(name: str) -> Path:
    """The path of a module or package: of the layer's as in `decisions/gate`, or of src."""
    return next((path for top in (LAYER, COMMAND) if (path := top / name).exists()), LAYER / name)


def called(path: Path) -> str:
    """What a module or package is called, the other way round."""
    return str(path.relative_to(LAYER if path.is_relative_to(LAYER) else COMMAND))


def importable(path: Path) -> str:
    """What Python calls a module."""
    top = LAYER.parent if path.is_relative_to(LAYER) else COMMAND
    return ".".join(path.relative_to(top).with_suffix("").parts).removesuffix(".__init__")


def place(path: Path, line: int) -> str:
    """The module and function of a line, as in names."""
    return f"{called(path)} {_function(path, line)}".rstrip()


def stands(name: str) -> bool:
    """Whether the line that a mutant changes is in its function."""
    where, _, change = name.partition(": ")
    module, _, function = where.partition(" ")
    before = change.partition(" => ")[0]
    path = found(module)
    if not path.is_file():
        return False
    lines = enumerate(path.read_text().splitlines(), start=1)
    return any(text.strip() == before and _function(path, line) == function for line, text in lines)


def around(path: Path, line: int) -> list[Block]:
    """The classes and functions that a line stands in, the outermost first.

    A decorator is in what it decorates.
    """
    return [each for each in _blocks(path) if _first(each) <= line <= (each.end_lineno or 0)]


def reasons() -> dict[str, str]:
    """Why each known survivor may survive: its name on one line, the reason indented below."""
    known: dict[str, str] = {}
    name = ""
    for line in REASONS.read_text().splitlines():
        if line.startswith(" "):
            known[name] += line.strip()
        elif line and not line.startswith("#"):
            name = line
            known[name] = ""
    return known


def _function(path: Path, line: int) -> str:
    return ".".join(each.name for each in around(path, line))


@cache
def _blocks(path: Path) -> list[Block]:
    return list(_within(ast.parse(path.read_text())))


def _within(node: ast.AST) -> Iterator[Block]:
    """Outer ones first."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield each
        yield from _within(each)


def _first(block: Block) -> int:
    return min(each.lineno for each in (block, *block.decorator_list))
