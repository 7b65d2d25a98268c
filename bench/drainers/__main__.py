"""``python -m bench.drainers``: measure, print what is seen, keep the results and their table."""

import argparse
import sys
from collections.abc import Sequence

import msgspec

from bench import store
from bench.drainers.results import Drains
from bench.drainers.run import LONGEST, WAYS, pair
from bench.drainers.site import REPLICAS, START
from bench.report import drainers as report
from bench.say import Say, since_now


def main(arguments: Sequence[str]) -> int:
    """``[WAY...] [--runs N]``, all ways without; exit code 1 if one is not as wanted."""
    parser = argparse.ArgumentParser(prog="bench.drainers")
    parser.add_argument("ways", nargs="*", choices=[[], *WAYS], help="which; all without")
    parser.add_argument("--runs", type=int, default=1, help="how many behind the gate")
    options = parser.parse_args(arguments)
    say = since_now()
    return max(_measure(name, options.runs, say) for name in options.ways or WAYS)


def _measure(name: str, runs: int, say: Say) -> int:
    """Measure one way, and keep it beside the others: a way that fails costs none of them."""
    measured = {name: pair(name, runs, say)}
    before = store.read("drainers", Drains)
    found = {**(before.pairs if before else {}), **measured}
    drains = Drains(
        replicas=REPLICAS,
        start=START,
        longest=LONGEST,
        pairs={each: found[each] for each in WAYS if each in found},
    )
    missed = msgspec.structs.replace(drains, pairs=measured).missed
    return store.keep("drainers", drains, report.table(drains), missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
