"""``python -m bench.pairs COMMIT A``: measure, print a table, keep the figures."""

import argparse
import sys
from collections.abc import Sequence

import msgspec

from bench import store
from bench.pairs.results import Sittings
from bench.pairs.run import run
from bench.report import pairs as report
from bench.say import since_now
from bench.storm.scenario import SCENARIOS


def main(arguments: Sequence[str]) -> int:
    """``COMMIT [SCENARIO] [--pairs N] [--bare] [--nodes N]``."""
    parser = argparse.ArgumentParser(prog="bench.pairs")
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("scenario", nargs="?", default="A", choices=SCENARIOS)
    parser.add_argument("--pairs", type=int, default=1, help="how many")
    parser.add_argument("--bare", action="store_true", help="a bare deletion with each pair, too")
    parser.add_argument("--nodes", type=int, default=100, help="spot nodes, an even number")
    options = parser.parse_args(arguments)
    scenario = SCENARIOS[options.scenario].of(options.nodes)
    measured = run(scenario, options.base, options.pairs, since_now(), beside=options.bare)
    print(report.plain(measured))
    before = store.read("pairs", Sittings) or Sittings()
    kept = dict(sorted({**before.scenarios, options.scenario: measured}.items()))
    sittings = msgspec.structs.replace(before, scenarios=kept)
    return store.keep("pairs", sittings, report.table(sittings), ())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
