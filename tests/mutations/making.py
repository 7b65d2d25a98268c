"""Breaks modules in every way that cosmic-ray knows; run in .venv-mutations, which has it.

    .venv-mutations/bin/python tests/mutations/making.py MODULE ...

Prints the mutants as a JSON list: module, its text, and the first line that differs, as its number,
as it was and as it is.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

COMPARISONS = (
    *(("Eq", "NotEq"), ("NotEq", "Eq"), ("Is", "IsNot"), ("IsNot", "Is")),
    *(("Lt", "LtE"), ("LtE", "Lt"), ("Gt", "GtE"), ("GtE", "Gt")),
)
"""Of what cosmic-ray puts for a comparison, its opposite or its neighbour: who notices these
notices the others, and between `is` and `==` nothing can be noticed of enums and None."""

ARITHMETIC = (
    *(("Add", "Sub"), ("Sub", "Add"), ("Mul", "Div"), ("Div", "Mul"), ("FloorDiv", "Mul")),
    *(("Mod", "Mul"), ("BitOr", "BitAnd"), ("BitAnd", "BitOr")),
)
"""As of comparisons, one for each."""

OPERATORS = (
    *("AddNot", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "NumberReplacer"),
    *("ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceUnaryOperator_Delete_Not"),
    *("ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "ZeroIterationForLoop"),
    *("ExceptionReplacer", "RemoveDecorator", "ReplaceUnaryOperator_Delete_USub"),
    *(f"ReplaceComparisonOperator_{a}_{b}" for a, b in COMPARISONS),
    *(f"ReplaceBinaryOperator_{a}_{b}" for a, b in ARITHMETIC),
)

KEPT = re.compile(r"frozen=True|kw_only=True|slots=True|\*,|^type .+", re.MULTILINE)
"""What is not broken. Mypy sees to values that are frozen, to what is called by name, to fields
that there are not, and to types with a name, which Python never looks into."""


def mutants(module: str) -> Iterator[dict[str, str | int]]:
    """All mutants of a module, each once."""
    source = Path(module).read_text()
    seen = {source}
    for name in OPERATORS:
        operator = get_operator(f"core/{name}")()
        for place in count():
            text = mutate_code(source, operator, place)
            if text is None:
                break
            if text not in seen and _kept(text) == _kept(source) and _is_python(text):
                seen.add(text)
                yield {"module": module, "text": text, **_difference(source, text)}


def _kept(text: str) -> list[str]:
    return KEPT.findall(text)


def _is_python(text: str) -> bool:
    """Whether it compiles: `case int() & float()` does not."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _difference(before: str, after: str) -> dict[str, str | int]:
    """The first line that differs."""
    pairs = enumerate(zip(before.splitlines(), after.splitlines(), strict=False), start=1)
    line, old, new = next((line, old, new) for line, (old, new) in pairs if old != new)
    return {"line": line, "before": old.strip(), "after": new.strip()}


if __name__ == "__main__":
    json.dump([mutant for module in sys.argv[1:] for mutant in mutants(module)], sys.stdout)
