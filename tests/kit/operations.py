"""Which operations of AWS the sources name.

A module that makes a client of a service, or asks one by the name of a service, calls those of its
operations that it names, as an attribute or in a text: ``client.describe_instances(...)``,
``aws.ask("eks", "describe_cluster", ...)``.
"""

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.kit import iam
from tests.kit.control_plane import ROOT

type Operation = tuple[str, str]
"""A service by boto3's name, and an operation of it as AWS names it."""

LAYER = ROOT / "layers" / "evenkeel" / "evenkeel"
SOURCES = ROOT / "src"
BY_SERVICE = ("ask", "pages", "client", "Client")
"""Methods, and a class, whose first argument is a service."""

ADAPTERS = "evenkeel.adapters.aws."


def named_in(*places: Path) -> set[Operation]:
    """The operations that the modules of these folders name, or that single modules do."""
    return {operation for module in _modules(places) for operation in _named(module)}


def adapters_of(*places: Path) -> set[Path]:
    """The modules of adapters for AWS that these import."""
    found = set[Path]()
    for module in _modules(places):
        for node in ast.walk(_tree(module)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(ADAPTERS):
                name = (node.module or "").removeprefix(ADAPTERS)
                found.add(LAYER / "adapters" / "aws" / f"{name}.py")
    return found


def reached_in(shared: Path, *places: Path) -> set[Operation]:
    """The operations of a folder's functions that these places name, or that such a function does.

    The places import their modules. Functions of one name are one: it may find more than is called.
    """
    imported = {name for module in _modules(places) for name in _imported(_tree(module))}
    known = [
        (module, node)
        for module in _modules([shared])
        if module.stem in imported
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.FunctionDef)
    ]
    names = {name for module in _modules(places) for name in _identifiers(_tree(module))}
    while more := {
        name
        for _, node in known
        if node.name in names
        for name in _identifiers(node)
        if name not in names
    }:
        names |= more
    return {
        operation
        for module, node in known
        if node.name in names
        for operation in _named(module, node)
    }


def _imported(tree: ast.AST) -> Iterator[str]:
    """The last parts of the modules' names that are imported, and all names that are."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield (node.module or "").rpartition(".")[2]
            yield from (each.name for each in node.names)


def _identifiers(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id


def _modules(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        yield from place.rglob("*.py") if place.is_dir() else [place]


def _named(module: Path, part: ast.AST | None = None) -> Iterator[Operation]:
    """The operations of the services that a module is about which it names, or a part of it."""
    nodes = list(ast.walk(part or _tree(module)))
    texts = {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    methods = texts | {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    for service in {each for node in ast.walk(_tree(module)) for each in _services(node)}:
        known = iam.operations(service)
        yield from ((service, known[method]) for method in methods & known.keys())


def _services(node: ast.AST) -> Iterator[str]:
    """The service that a call is about, if it is one about a service."""
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        func = node.func
        name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        if name in BY_SERVICE:
            yield str(node.args[0].value)


@cache
def _tree(module: Path) -> ast.Module:
    return ast.parse(module.read_text())
