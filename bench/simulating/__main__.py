"""``python -m bench.simulating``: run it, print what is seen, keep the results and their table."""

import argparse
import sys
from collections.abc import Sequence

from bench import store
from bench.report import simulating as report
from bench.say import since_now
from bench.simulating.results import STORMS
from bench.simulating.run import run


def main(arguments: Sequence[str]) -> int:
    """``[--storms N]``; exit code 1 if it is not as wanted."""
    parser = argparse.ArgumentParser(prog="bench.simulating")
    parser.add_argument("--storms", type=int, default=STORMS, help="how many are measured")
    found = run(parser.parse_args(arguments).storms, since_now())
    return store.keep("simulating", found, report.table(found), found.missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
