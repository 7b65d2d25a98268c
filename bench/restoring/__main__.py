"""``python -m bench.restoring``: measure, print what is seen, keep the results and their table."""

import argparse
import sys
from collections.abc import Sequence

from bench import store
from bench.report import restoring as report
from bench.restoring.run import run
from bench.say import since_now


def main(arguments: Sequence[str]) -> int:
    """``[--nodes N] [--seconds N]``; exit code 1 if it is not as wanted."""
    parser = argparse.ArgumentParser(prog="bench.restoring")
    parser.add_argument("--nodes", type=int, default=100, help="spot nodes, an even number")
    parser.add_argument("--seconds", type=float, default=900, help="no run begins after them")
    options = parser.parse_args(arguments)
    restored = run(options.nodes, options.seconds, store.new_log("restoring"), since_now())
    return store.keep("restoring", restored, report.table(restored), restored.missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
