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
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.mutations.naming import REASONS, ROOT, found, place, reasons
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
    folder = found(package.name)
    modules = folder.glob("*.py") if package.is_whole else folder.rglob("*.py")
    mutants = made(sorted(map(str, modules)), package.sample, seed)
    if not mutants:
        return 0
    tell(f"{len(mutants)} mutants of {package.name}")
    known = reasons()
    survived: set[str] = set()
    for mutant in survivors(mutants, package.tests, package.most):
        survived.add(name := name_of(mutant))
        if not known.get(name):
            tell(f"SURVIVED: {name}")
    tried = {name_of(mutant) for mutant in mutants}
    listed = {name for name in known if name in tried or package.has_all_of(name)}
    for name in sorted(listed - survived):
        tell(f"CAUGHT, or made no more, so strike it from {REASONS.name}: {name}")
    missed, caught = len(survived - listed), len(tried - survived)
    share = caught / (caught + missed) if missed else 1.0
    tell(f"{package.name}: {caught} caught, {missed} survived: {share:.1%}")
    tell(f"{len(survived & listed)} more survived, with a reason")
    return int(bool(listed - survived) or share < package.wanted)


def made(modules: Sequence[str], size: int, seed: str) -> list[Mutant]:
    """Mutants of modules, sorted: a sample of this size, or all for 0."""
    made = subprocess.run(
        [".venv-mutations/bin/python", "-m", "tests.mutations.making", str(size), seed, *modules],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return sorted(Mutant(**each) for each in json.loads(made.stdout))


def name_of(mutant: Mutant) -> str:
    """What survivors.txt calls it."""
    where = place(Path(mutant.module), mutant.line)
    return f"{where}: {mutant.before} => {mutant.after}"


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
