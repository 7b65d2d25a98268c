"""``python -m bench.drainers``: measure, print what is seen, keep the results and their table."""

import argparse
import sys
from collections.abc import Sequence

import msgspec

from bench import machine, store
from bench.drainers.results import Drains
from bench.drainers.run import LONGEST, WAYS, pair
from bench.drainers.site import REPLICAS, START
from bench.report import drainers as report
from bench.say import since_now


def main(arguments: Sequence[str]) -> int:
    """``[WAY...]``, all without; exit code 1 if one is not as wanted."""
    parser = argparse.ArgumentParser(prog="bench.drainers")
    parser.add_argument("ways", nargs="*", choices=[[], *WAYS], help="which; all without")
    options = parser.parse_args(arguments)
    say = since_now()
    measured = {name: pair(name, say) for name in options.ways or WAYS}
    before = store.read("drainers", Drains)
    found = {**(before.pairs if before else {}), **measured}
    drains = Drains(
        machine=machine.look(),
        replicas=REPLICAS,
        start=START,
        longest=LONGEST,
        pairs={name: found[name] for name in WAYS if name in found},
    )
    return store.keep(
        "drainers",
        drains,
        report.table(drains),
        msgspec.structs.replace(drains, pairs=measured).missed,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
