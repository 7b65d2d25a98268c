"""``python -m bench.gate``: measure, print what is seen, keep the results and their table."""

import argparse
import sys
from collections.abc import Sequence

from bench import store
from bench.gate.results import Extent
from bench.gate.run import run
from bench.report import gate as report
from bench.say import since_now


def main(arguments: Sequence[str]) -> int:
    """``[--rounds N] [--seconds N] [--rate N]``; exit code 1 if it is not as wanted."""
    parser = argparse.ArgumentParser(prog="bench.gate")
    parser.add_argument("--rounds", type=int, default=3, help="how many")
    parser.add_argument("--seconds", type=int, default=20, help="of evictions at the rate")
    parser.add_argument("--rate", type=float, default=50.0, help="evictions a second")
    options = parser.parse_args(arguments)
    extent = Extent(rounds=options.rounds, seconds=options.seconds, rate=options.rate)
    gating = run(extent, since_now())
    return store.keep("gate", gating, report.table(gating), gating.missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
