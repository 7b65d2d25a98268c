"""``python -m bench storm A --rounds 3``: measure, keep, write the tables.

With ``--against HEAD~1`` both commits' figures are printed, and none is kept.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import msgspec

from bench import conditions, pages, tables
from bench.book import Book, Measurement
from bench.cases import CASES, checked, load
from bench.conditions import ROOT
from bench.figure import Figure

WRITE = "tables"


def main(arguments: Sequence[str]) -> int:
    """Exit code 1 if a figure is not as wanted, 2 for a case or a size that there is not."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measure a case, keep its figures, and write the tables.",
        epilog="Cases: " + ", ".join(CASES) + f"; `{WRITE}` writes the tables alone.",
    )
    parser.add_argument("case", metavar="CASE", choices=[*CASES, WRITE])
    parser.add_argument("sizes", metavar="SIZE", nargs="*", help="all of the case's without")
    parser.add_argument("--rounds", metavar="N", type=int, default=1, help="so many of each")
    parser.add_argument("--against", metavar="COMMIT", default="", help="print both, keep none")
    options = parser.parse_args(arguments)
    if options.case == WRITE:
        pages.write(Book())
        return 0
    case = load(options.case)
    try:
        sizes = [checked(case, size) for size in options.sizes] or case.SIZES
    except ValueError as error:
        parser.error(str(error))
    status = 0
    for size in sizes:
        measured = _measured(options.case, size, options.rounds, options.against)
        if options.against:
            print(tables.compared(measured), end="", flush=True)
        else:
            Book().keep(measured)
            print(tables.table([measured]), end="", flush=True)
        for miss in tables.missed(measured):
            status = 1
            print(f"not as wanted: {miss}", file=sys.stderr)
    pages.write(Book())
    return status


def _measured(case: str, size: str, rounds: int, against: str) -> Measurement:
    """So many rounds; with a commit as many of that in turn, which of both goes first changes."""
    base = conditions.name_of(against) if against else ""
    with conditions.checked_out(base) if base else nullcontext() as other:
        trees = [ROOT, *([other] if other else [])]
        done: dict[Path, list[Sequence[Figure]]] = {tree: [] for tree in trees}
        for number in range(rounds):
            for tree in trees if number % 2 == 0 else reversed(trees):
                done[tree].append(_round(case, size, tree))
    return Measurement(
        case=case,
        size=size,
        conditions=conditions.look(),
        rounds=done[ROOT],
        base=base,
        against=done[other] if other else (),
    )


def _round(case: str, size: str, tree: Path) -> Sequence[Figure]:
    """One round, in a process of its own that imports the product of this checkout."""
    product = [str(tree / "src"), str(tree / "layers" / "evenkeel")]
    with tempfile.NamedTemporaryFile(prefix="evenkeel-bench-") as file:
        subprocess.run(
            [sys.executable, "-m", "bench.round", case, size, str(tree), file.name],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(product)},  # noqa: TID251 - a child's
            cwd=ROOT,
            check=True,
        )
        return msgspec.json.decode(Path(file.name).read_bytes(), type=list[Figure])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
