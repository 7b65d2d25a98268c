"""Breaks modules in every way that cosmic-ray knows; run in .venv-mutations, which has it.

    .venv-mutations/bin/python -m tests.mutations.making SIZE SEED MODULE ...

Prints the mutants as a JSON list: module, its text, and the first line that differs, as its number,
as it was and as it is. SIZE: so many of those in functions alone, or all for 0. Which these are a
hash of SEED and of what is broken says: where the code is the same, they are the same.
"""

import ast
import json
import os
import pickle
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import chain, islice
from multiprocessing import Pool
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator
from parso.python.tree import Module

from tests.mutations.naming import around, place

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


@dataclass(frozen=True)
class Spot:
    """Where an operator can break a module: in which of its statements, at which node of that."""

    module: str
    part: int
    node: int
    operator: str
    index: int
    line: int

    @property
    def is_in_function(self) -> bool:
        """Whether it is in the body of a function, which does not run at import."""
        blocks = around(Path(self.module), self.line)
        return (
            bool(blocks)
            and not isinstance(blocks[-1], ast.ClassDef)
            and self.line >= blocks[-1].body[0].lineno
        )


type Made = dict[str, str | int]


def all_of(module: str) -> list[Made]:
    """All mutants of a module, each once."""
    return list(made(spots(module)))


def sample(modules: Iterable[str], size: int, seed: str) -> list[Made]:
    """So many mutants of what functions do."""
    keys: dict[Spot, bytes] = {}
    for module in modules:
        times: Counter[str] = Counter()
        lines = Path(module).read_text().splitlines()
        for spot in spots(module):
            if spot.is_in_function:
                where = place(Path(module), spot.line)
                what = f"{seed} {where}: {lines[spot.line - 1].strip()} {spot.operator}"
                times[what] += 1
                keys[spot] = sha256(f"{what} {times[what]}".encode()).digest()
    return list(islice(made(sorted(keys, key=keys.__getitem__)), size))


def made(spots: Iterable[Spot]) -> Iterator[Made]:
    """The mutants, each once."""
    seen: set[tuple[str, str]] = set()
    for spot in spots:
        source = Path(spot.module).read_text()
        text = broken(spot)
        if text is None or text == source or (spot.module, text) in seen:
            continue
        seen.add((spot.module, text))
        if _parses(text) and all(text.count(word) == source.count(word) for word in KEPT):
            yield {"module": spot.module, "text": text, **_difference(source, text)}


def _parses(text: str) -> bool:
    """Whether it is Python at all: there is no `not` before an assignment expression."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def spots(module: str) -> Iterator[Spot]:
    """Where each operator can break a module."""
    for number, part in enumerate(_trees(module)):
        for node_number, node in enumerate(ast_nodes(part)):
            for name, operator in _operators():
                for index, _ in enumerate(operator.mutation_positions(node)):
                    yield Spot(module, number, node_number, name, index, node.start_pos[0])


def broken(spot: Spot) -> str | None:
    """The module's text, broken there; None where cosmic-ray cannot.

    An operator breaks the tree that it is given: one is loaded for each mutant, of its statement of
    the module alone, which takes less than to parse the module.
    """
    copy = pickle.loads(_wholes(spot.module)[spot.part])  # noqa: S301 - it was made here
    node = next(islice(ast_nodes(copy), spot.node, None))
    siblings = node.parent.children
    place = next(place for place, each in enumerate(siblings) if each is node)
    try:
        new = dict(_operators())[spot.operator].mutate(node, spot.index)
    except AttributeError:  # cosmic-ray knows no exception with a dot in its name
        return None
    if new is None and place + 1 < len(siblings):  # the comment above it stays
        above, newline, _ = node.get_first_leaf().prefix.rpartition("\n")
        following = siblings[place + 1].get_first_leaf()
        following.prefix = above + newline + following.prefix
    siblings[place : place + 1] = [] if new is None else [new]
    texts = [*_texts(spot.module)]
    texts[spot.part] = copy.get_code()
    return "".join(texts)


@cache
def _operators() -> Sequence[tuple[str, Operator]]:
    return [(name, get_operator(f"core/{name}")()) for name in OPERATORS]


@cache
def _trees(module: str) -> Sequence[Module]:
    """The statements of a module, each alone in a tree."""
    return [Module([part]) for part in get_ast(Path(module).read_text()).children]


@cache
def _texts(module: str) -> Sequence[str]:
    return [part.get_code() for part in _trees(module)]


@cache
def _wholes(module: str) -> Sequence[bytes]:
    return [pickle.dumps(part) for part in _trees(module)]


def _difference(before: str, after: str) -> dict[str, str | int]:
    """The first line that differs, blank ones aside."""
    pairs = zip(_lines(before), _lines(after), strict=False)
    (number, old), (_, new) = next((old, new) for old, new in pairs if old[1] != new[1])
    return {"line": number, "before": old.strip(), "after": new.strip()}


def _lines(text: str) -> list[tuple[int, str]]:
    lines = enumerate(text.splitlines(), start=1)
    return [(number, line) for number, line in lines if line.strip()]


def main(size: int, seed: str, modules: Sequence[str]) -> None:
    """Print them."""
    if size:
        json.dump(sample(modules, size, seed), sys.stdout)
        return
    with Pool(os.process_cpu_count()) as pool:
        json.dump(list(chain(*pool.map(all_of, modules, chunksize=1))), sys.stdout)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
