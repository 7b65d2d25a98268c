"""``python -m bench.growth``: measure, print what is seen, keep the results and their table."""

import argparse
import sys
from collections.abc import Sequence

from bench import store
from bench.growth.run import run
from bench.report import growth as report
from bench.say import since_now


def main(arguments: Sequence[str]) -> int:
    """``[--nodes N]``; exit code 1 if it is not as wanted."""
    parser = argparse.ArgumentParser(prog="bench.growth")
    parser.add_argument("--nodes", type=int, default=100, help="spot nodes, a multiple of 4")
    options = parser.parse_args(arguments)
    growth = run(options.nodes, store.new_log("growth"), since_now())
    return store.keep("growth", growth, report.table(growth), growth.missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
