"""Breaks packages in every way that cosmic-ray knows, and runs their tests against it.

    .venv/bin/python -m tests.mutations [PACKAGE] [--sample N] [--seed WORD]

PACKAGE is `decisions`, one that packages.py samples, or one below, such as decisions/floor; without
it all are tried. No mutant is ever written to the work tree. With PYTHON_CPU_COUNT=1 one is tried
at a time.

All mutants of decisions are tried: one that no test catches has to stand in survivors.txt with the
reason. Of other packages a sample is tried, of what functions do and not of constants and fields.
Which mutants are in it depends on their names and the seed: it is the same where the code is the
same, and a change elsewhere takes few out. Tests have to catch 85 of 100. One that stands in
survivors.txt does not count.

Exits with 1 if a package fails that, or if a mutant is caught that stands in survivors.txt.
"""

import argparse
import ast
import json
import subprocess
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from tests.mutations.naming import REASONS, ROOT, around, found, place, reasons
from tests.mutations.packages import SAMPLED, Package, packages
from tests.mutations.trying import Mutant, survivors


def main(arguments: Sequence[str]) -> int:
    """Try the mutants of packages. Answers the exit code."""
    parser = argparse.ArgumentParser(prog="tests.mutations")
    parser.add_argument("package", nargs="?", default="")
    parser.add_argument("--sample", type=int, default=0, help="so many mutants of each package")
    parser.add_argument("--seed", default="", help="a word: another one takes another sample")
    given = parser.parse_args(arguments)
    named = list(packages(given.package, given.sample))
    if not named:
        names = ", ".join(each.name for each in SAMPLED)
        tell(f"{given.package!r} is not known: name decisions, a package below it, or of {names}")
        return 2
    return max(try_package(each, given.seed) for each in named)


def try_package(package: Package, seed: str) -> int:
    """Try mutants of one package. Answers the exit code."""
    found_in = found(package.name)
    modules = found_in.glob("*.py") if package.is_whole else found_in.rglob("*.py")
    there = made(sorted(map(str, modules)))
    mutants = there if package.is_whole else sample(there, package.sample, seed)
    if not mutants:
        return 0
    tell(f"{len(mutants)} of {len(there)} mutants of {package.name}")
    known = reasons()
    survived: set[str] = set()
    for mutant in survivors(mutants, package.tests, package.most):
        survived.add(name := name_of(mutant))
        if not known.get(name):
            tell(f"SURVIVED: {name}")
    tried = {name_of(mutant) for mutant in mutants}
    caught = sorted(tried - survived)
    struck = [name for name in caught if name in known]
    for name in struck:
        tell(f"CAUGHT, so strike it from {REASONS.name}: {name}")
    listed = survived & known.keys()
    share = len(caught) / (len(tried - listed) or 1)
    tell(
        f"{package.name}: {len(caught)} caught, {len(survived - listed)} survived, "
        f"{len(listed)} more with a reason: {share:.1%}"
    )
    return int(bool(struck) or share < package.wanted)


def made(modules: Sequence[str]) -> list[Mutant]:
    """All mutants of modules, sorted."""
    made = subprocess.run(
        [".venv-mutations/bin/python", "tests/mutations/making.py", *modules],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return sorted(Mutant(**each) for each in json.loads(made.stdout))


def sample(mutants: Sequence[Mutant], size: int, seed: str) -> list[Mutant]:
    """So many of those in functions, by a hash of their names, in the order given."""
    inside = [each for each in mutants if is_inside(each)]
    drawn = sorted(inside, key=lambda each: sha256(f"{seed} {name_of(each)}".encode()).digest())
    return sorted(drawn[:size])


def is_inside(mutant: Mutant) -> bool:
    """Whether it is in the body of a function, which runs when it is called and not at import."""
    blocks = around(Path(mutant.module), mutant.line)
    innermost = blocks[-1] if blocks else None
    return (
        innermost is not None
        and not isinstance(innermost, ast.ClassDef)
        and mutant.line >= innermost.body[0].lineno
    )


def name_of(mutant: Mutant) -> str:
    """What survivors.txt calls it."""
    where = place(Path(mutant.module), mutant.line)
    return f"{where}: {mutant.before} => {mutant.after}"


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
