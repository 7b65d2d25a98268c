"""Breaks modules in every way that cosmic-ray knows; run in .venv-mutations, which has it.

    .venv-mutations/bin/python tests/mutations/making.py MODULE ...

Prints the mutants as a JSON list: module, its text, and the first line that differs, as its number,
as it was and as it is.
"""

import json
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
            if text not in seen and all(text.count(w) == source.count(w) for w in KEPT):
                seen.add(text)
                yield {"module": module, "text": text, **_difference(source, text)}


def _difference(before: str, after: str) -> dict[str, str | int]:
    """The first line that differs."""
    pairs = enumerate(zip(before.splitlines(), after.splitlines(), strict=False), start=1)
    line, old, new = next((line, old, new) for line, (old, new) in pairs if old != new)
    return {"line": line, "before": old.strip(), "after": new.strip()}


if __name__ == "__main__":
    json.dump([mutant for module in sys.argv[1:] for mutant in mutants(module)], sys.stdout)
