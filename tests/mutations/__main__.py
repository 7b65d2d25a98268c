"""Breaks decisions/ in every way that cosmic-ray knows, and runs their unit tests against it.

    .venv/bin/python -m tests.mutations [PACKAGE]

PACKAGE is one of evenkeel's packages, such as decisions/floor. No mutant is ever written to the
work tree. One that no test catches has to stand in survivors.txt with the reason. Exits with 1 if
one does not, or if one stands there that is caught, or is made no more. With PYTHON_CPU_COUNT=1 one
is tried at a time.
"""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.mutations.trying import Mutant, survivors

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "layers/evenkeel/evenkeel"
REASONS = Path(__file__).with_name("survivors.txt")


def main(name: str = "decisions") -> int:
    """Try all mutants of a package. Answers the exit code."""
    folders = sorted({path.parent for path in (PACKAGES / name).rglob("*.py")})
    if not folders:
        tell(f"no package of evenkeel is called {name!r}: name one such as decisions/floor")
        return 2
    return max(try_package(str(folder.relative_to(PACKAGES))) for folder in folders)


def try_package(package: str) -> int:
    """Try the mutants of one package, without those below it. Answers the exit code."""
    modules = sorted(map(str, (PACKAGES / package).glob("*.py")))
    found = made(modules)
    if not found:
        return 0
    tell(f"{len(found)} mutants of {package}")
    names = {name_of(mutant) for mutant in survivors(found, tests_of(package))}
    known = reasons()
    listed = {each for each in known if each.rpartition("/")[0] == package}
    unknown = sorted(name for name in names if not known.get(name))
    for name in unknown:
        tell(f"SURVIVED: {name}")
    for name in sorted(listed - names):
        tell(f"CAUGHT, or made no more, so strike it from {REASONS.name}: {name}")
    tell(f"{len(unknown)} survived, {len(names & listed)} more with a reason")
    return 1 if unknown or listed - names else 0


def made(modules: Sequence[str]) -> list[Mutant]:
    """All mutants of modules, sorted."""
    made = subprocess.run(
        [".venv-mutations/bin/python", "tests/mutations/making.py", *modules],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(Mutant(**each) for each in json.loads(made.stdout))


def name_of(mutant: Mutant) -> str:
    """What survivors.txt calls it: it holds while the line stands anywhere in the module."""
    module = Path(mutant.module).relative_to(PACKAGES)
    return f"{module}: {mutant.before} => {mutant.after}"


def tests_of(package: str) -> str:
    """The folder of a package's tests."""
    return str(ROOT / "tests/unit" / package)


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


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
