"""``python -m bench.placement``: measure, print what is seen, keep the results and their table."""

import argparse
import sys
from collections.abc import Sequence

from bench import store
from bench.placement.results import Extent
from bench.placement.run import run
from bench.report import placement as report
from bench.say import since_now


def main(arguments: Sequence[str]) -> int:
    """``[--rounds N] [--seconds N] [--burst N]``; exit code 1 if it is not as wanted."""
    parser = argparse.ArgumentParser(prog="bench.placement")
    parser.add_argument("--rounds", type=int, default=3, help="each with and without the webhook")
    parser.add_argument("--seconds", type=int, default=10, help="of creations at the set rate")
    parser.add_argument("--burst", type=int, default=500, help="pods of a burst")
    options = parser.parse_args(arguments)
    extent = Extent(rounds=options.rounds, seconds=options.seconds, burst=options.burst)
    placement = run(extent, since_now())
    return store.keep("placement", placement, report.table(placement), placement.missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
