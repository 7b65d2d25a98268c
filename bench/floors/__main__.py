"""``python -m bench.floors``: measure, print what is seen, keep the results and their table."""

import argparse
import sys
from collections.abc import Sequence

from bench import store
from bench.floors.run import run
from bench.report import floors as report
from bench.say import since_now


def main(arguments: Sequence[str]) -> int:
    """``[--nodes N] [--runs N]``; exit code 1 if it is not as wanted."""
    parser = argparse.ArgumentParser(prog="bench.floors")
    parser.add_argument("--nodes", type=int, default=100, help="spot nodes, an even number")
    parser.add_argument("--runs", type=int, default=1, help="storms, each on a cluster of its own")
    options = parser.parse_args(arguments)
    floors = run(options.nodes, options.runs, store.new_log("floors"), since_now())
    return store.keep("floors", floors, report.table(floors), floors.missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
