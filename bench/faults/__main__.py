"""``python -m bench.faults``: measure, print what is seen, keep the results and their table.

Where only some faults are named, in files of their own: README shows all or none.
"""

import argparse
import sys
from collections.abc import Sequence

from bench import store
from bench.faults.fault import FAULTS
from bench.faults.run import run
from bench.report import faults as report
from bench.say import since_now


def main(arguments: Sequence[str]) -> int:
    """``[--nodes N] [FAULT...]``; exit code 1 if it is not as wanted."""
    parser = argparse.ArgumentParser(prog="bench.faults")
    parser.add_argument("--nodes", type=int, default=100, help="spot nodes, an even number")
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=f"of {', '.join(FAULTS)}")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.faults if name not in FAULTS]:
        parser.error(f"no fault {unknown[0]}: name some of {', '.join(FAULTS)}")
    names = options.faults or FAULTS
    faults = run([FAULTS[name] for name in names], options.nodes, since_now())
    kept = "-".join(["faults", *options.faults])
    return store.keep(kept, faults, report.table(faults), faults.missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
