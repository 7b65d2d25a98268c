"""``python -m bench.extender``: measure, print what is seen, keep the results and their table."""

import argparse
import sys
from collections.abc import Sequence

from bench import conditions, store
from bench.extender import calls, scheduling
from bench.extender.results import Extending, Extent
from bench.report import extender as report
from bench.say import since_now


def main(arguments: Sequence[str]) -> int:
    """``[--pairs N]``; exit code 1 if it is not as wanted."""
    parser = argparse.ArgumentParser(prog="bench.extender")
    parser.add_argument("--pairs", type=int, default=3, help="how many")
    extent, say = Extent(pairs=parser.parse_args(arguments).pairs), since_now()
    found, peak = calls.measure(extent, say)
    pairs, placed = scheduling.measure(extent, say)
    extending = Extending(
        conditions=conditions.look(),
        extent=extent,
        calls=found,
        peak_mb=peak,
        pairs=pairs,
        floor=extent.pods * scheduling.PERCENT // 100,
        on_demand=placed,
    )
    return store.keep("extender", extending, report.table(extending), extending.missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
