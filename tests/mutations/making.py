"""Breaks modules in every way that cosmic-ray knows; run in .venv-mutations, which has it.

    .venv-mutations/bin/python tests/mutations/making.py MODULE ...

Prints the mutants as a JSON list: module, its text, and the first line that differs, as its number,
as it was and as it is.
"""

import json
import os
import pickle
import sys
from collections.abc import Iterator
from itertools import chain, islice
from multiprocessing import Pool
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator
from parso.python.tree import Module
from parso.tree import NodeOrLeaf

COMPARISONS = (
    *(("Eq", "NotEq"), ("NotEq", "Eq"), ("Is", "IsNot"), ("IsNot", "Is")),
    *(("Lt", "LtE"), ("LtE", "Lt"), ("Gt", "GtE"), ("GtE", "Gt")),
)
"""Of what cosmic-ray puts for a comparison, its opposite or its neighbour: who notices these
notices the others, and between `is` and `==` nothing can be noticed of enums and None."""

ARITHMETIC = (
    *(("Add", "Sub"), ("Sub", "Add"), ("Mul", "Div"), ("Div", "Mul"), ("FloorDiv", "Mul")),
    *(("Mod", "Mul"), ("BitAnd", "BitOr")),
)
"""As of comparisons, one for each. None for `|`: it is of types, which Python mostly does not look
into, and of dicts, which have no other."""

OPERATORS = (
    *("AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "NumberReplacer"),
    *("ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceUnaryOperator_Delete_Not"),
    *("ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "ZeroIterationForLoop"),
    *("ExceptionReplacer", "RemoveDecorator", "ReplaceUnaryOperator_Delete_USub"),
    *(f"ReplaceComparisonOperator_{a}_{b}" for a, b in COMPARISONS),
    *(f"ReplaceBinaryOperator_{a}_{b}" for a, b in ARITHMETIC),
)

KEPT = ("frozen=True", "kw_only=True", "slots=True", "*,")
"""What is not broken: mypy sees to values that are frozen, to what is called by name, and to fields
that there are not."""


def mutants(module: str) -> list[dict[str, str | int]]:
    """All mutants of a module, each once."""
    source = Path(module).read_text()
    seen = {source}
    found = []
    for text in _broken(source):
        if text not in seen and all(text.count(w) == source.count(w) for w in KEPT):
            seen.add(text)
            found.append({"module": module, "text": text, **_difference(source, text)})
    return found


def _broken(source: str) -> Iterator[str]:
    """The source, broken by each operator in each place that it has.

    An operator breaks the tree that it is given: of the class or function around the place a tree
    is loaded for each, which takes a fiftieth of what it takes to parse the module.
    """
    operators = [get_operator(f"core/{name}")() for name in OPERATORS]
    parts = get_ast(source).children
    texts = [part.get_code() for part in parts]
    for place, part in enumerate(parts):
        top = Module([part])
        whole = pickle.dumps(top)
        before, after = "".join(texts[:place]), "".join(texts[place + 1 :])
        for number, node in enumerate(ast_nodes(top)):
            for operator in operators:
                for index, _ in enumerate(operator.mutation_positions(node)):
                    copy = pickle.loads(whole)  # noqa: S301 - it was made above
                    if _break(next(islice(ast_nodes(copy), number, None)), operator, index):
                        yield f"{before}{copy.get_code()}{after}"


def _break(node: NodeOrLeaf, operator: Operator, index: int) -> bool:
    """Put what an operator makes of a node in its place, or nothing. Answers whether it could."""
    siblings = node.parent.children
    place = next(place for place, each in enumerate(siblings) if each is node)
    try:
        made = operator.mutate(node, index)
    except AttributeError:  # cosmic-ray knows no exception with a dot in its name
        return False
    siblings[place : place + 1] = [] if made is None else [made]
    return True


def _difference(before: str, after: str) -> dict[str, str | int]:
    """The first line that differs, blank ones aside."""
    pairs = zip(_lines(before), _lines(after), strict=False)
    (number, old), (_, new) = next((old, new) for old, new in pairs if old[1] != new[1])
    return {"line": number, "before": old.strip(), "after": new.strip()}


def _lines(text: str) -> list[tuple[int, str]]:
    lines = enumerate(text.splitlines(), start=1)
    return [(number, line) for number, line in lines if line.strip()]


if __name__ == "__main__":
    with Pool(os.process_cpu_count()) as pool:
        json.dump(list(chain(*pool.map(mutants, sys.argv[1:], chunksize=1))), sys.stdout)
