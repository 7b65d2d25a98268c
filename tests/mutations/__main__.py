"""Breaks decisions/ in every way that cosmic-ray knows, and runs their unit tests against it.

    .venv-mutations/bin/python -m tests.mutations PYTHON [PACKAGE]

PYTHON has what the tests need; PACKAGE is one of evenkeel's packages, such as decisions/floor. Each
mutant is made in a copy in a temporary directory, never in the work tree. A mutant that no test
catches has to stand in survivors.txt with the reason. Exits with 1 where one does not, or where
one stands there that is caught, or is made no more.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from queue import SimpleQueue

from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).parents[2]
LAYER = ROOT / "layers/evenkeel"
REASONS = Path(__file__).with_name("survivors.txt")

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

NOT_BROKEN = ("frozen=True", "kw_only=True", "*,")
"""No test tries to change a frozen value, nor to call by position what is called by name: mypy sees
to both."""

AT_ONCE = 2
"""Mutants that are tried at the same time, each in a copy of its own."""

LONGEST = 300
"""Seconds that the tests of one mutant may take: one that never ends is caught."""


@dataclass(frozen=True, order=True)
class Mutant:
    """One module of the package, broken in one place."""

    module: str
    before: str
    after: str
    text: str

    @property
    def name(self) -> str:
        """What survivors.txt calls it: it holds while the line stands anywhere in the module."""
        return f"{self.module}: {self.before} => {self.after}"


def mutants(module: str) -> Iterator[Mutant]:
    """All mutants of a module, each once."""
    source = (LAYER / "evenkeel" / module).read_text()
    seen = {source}
    for name in OPERATORS:
        operator = get_operator(f"core/{name}")()
        for place in count():
            text = mutate_code(source, operator, place)
            if text is None:
                break
            if text not in seen and all(text.count(w) == source.count(w) for w in NOT_BROKEN):
                seen.add(text)
                yield Mutant(module, *_difference(source, text), text)


def _difference(before: str, after: str) -> tuple[str, str]:
    """The first line that differs, as it was and as it is."""
    pairs = zip(before.splitlines(), after.splitlines(), strict=False)
    old, new = next((old, new) for old, new in pairs if old != new)
    return old.strip(), new.strip()


def tests_of(module: str) -> str:
    """The folder of the tests of a module's package."""
    package = Path(module).parent
    mirrored = Path("tests/unit") / package
    return str(mirrored if (ROOT / mirrored).is_dir() else Path("tests/unit") / package.name)


def survives(mutant: Mutant, python: str, copy: Path) -> bool:
    """Whether the tests of its package pass with it. ``copy`` has the layer, and has it after."""
    module = copy / "evenkeel" / mutant.module
    source = module.read_text()
    module.write_text(mutant.text)
    try:
        finished = subprocess.run(
            [python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", tests_of(mutant.module)],
            cwd=ROOT,
            # A mutant may be as long and as old as the module: what was compiled is not believed.
            env={**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"},  # noqa: TID251 - the child needs what this process has
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        return False
    finally:
        module.write_text(source)
    return finished.returncode == 0


def tried(found: list[Mutant], python: str) -> Iterator[Mutant]:
    """Try mutants; those that survive."""
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(AT_ONCE) as threads:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(AT_ONCE):
            copy = Path(scratch) / str(number)
            leave = shutil.ignore_patterns("__pycache__")
            shutil.copytree(LAYER / "evenkeel", copy / "evenkeel", ignore=leave)
            copies.put(copy)

        def attempt(mutant: Mutant) -> bool:
            copy = copies.get()
            try:
                return survives(mutant, python, copy)
            finally:
                copies.put(copy)

        for mutant, survived in zip(found, threads.map(attempt, found), strict=True):
            if survived:
                yield mutant


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


def main(python: str, package: str = "decisions") -> int:
    """Try all mutants of a package. Answers the exit code."""
    layer = LAYER / "evenkeel"
    modules = sorted(str(path.relative_to(layer)) for path in (layer / package).rglob("*.py"))
    if not modules:
        tell(f"no package of evenkeel is called {package!r}: name one such as decisions/floor")
        return 2
    found = sorted(mutant for module in modules for mutant in mutants(module))
    tell(f"{len(found)} mutants of {package}")
    names: set[str] = set()
    unknown = 0
    known = reasons()
    for mutant in tried(found, python):
        names.add(mutant.name)
        if not known.get(mutant.name):
            unknown += 1
            tell(f"SURVIVED: {mutant.name}")
    listed = {name for name in known if name.startswith(f"{package}/")}
    for name in sorted(listed - names):
        tell(f"CAUGHT, or made no more, so strike it from {REASONS.name}: {name}")
    tell(f"{unknown} survived, {len(names & listed)} more with a reason")
    return 1 if unknown or listed - names else 0


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
