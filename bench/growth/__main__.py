"""``python -m bench.growth``: measure, print what is seen, keep the results and their tables."""

import argparse
import sys
from collections.abc import Sequence

from bench import store
from bench.growth import fed, simulated
from bench.growth.run import run
from bench.report import fed as fed_table
from bench.report import functions, growth
from bench.say import since_now

CLUSTER, SIMULATED, FED = "cluster", "simulated", "fed"


def main(arguments: Sequence[str]) -> int:
    """``[cluster | simulated | fed] [--nodes N] [--sizes N...]``; exit code 1 if one is missed."""
    parser = argparse.ArgumentParser(prog="bench.growth")
    parser.add_argument("only", nargs="?", choices=(CLUSTER, SIMULATED, FED), help="not the others")
    parser.add_argument("--nodes", type=int, default=100, help="spot nodes, a multiple of 4")
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=simulated.SIZES, help="and those on simulated time"
    )
    options = parser.parse_args(arguments)
    codes = [0]
    if options.only in (None, FED):
        feeding = fed.run(fed.SIZES, since_now())
        codes.append(store.keep("fed", feeding, fed_table.table(feeding), feeding.missed))
    if options.only in (None, SIMULATED):
        cpu = simulated.run(options.sizes, since_now())
        codes.append(store.keep("functions", cpu, functions.table(cpu), cpu.missed))
    if options.only in (None, CLUSTER):
        times = run(options.nodes, store.new_log("growth"), since_now())
        codes.append(store.keep("growth", times, growth.table(times), times.missed))
    return max(codes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
