"""``python -m bench.placement.growth``: what restore's plan takes of a cluster and of a tenth."""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

import msgspec

from bench import conditions, store
from bench.placement.planned import PlanGrowth, Planned
from bench.report import plan as report
from bench.say import since_now

NODES: Final = 5_000
LONGEST: Final = 240.0


def run(nodes: int) -> PlanGrowth:
    """Measure, each in a process of its own."""
    say = since_now()
    found = []
    for size in (nodes // 10, nodes):
        done = subprocess.run(
            [sys.executable, "-m", "bench.placement.planning", str(size)],
            capture_output=True,
            timeout=LONGEST,
            check=True,
            cwd=store.ROOT,
        )
        each = msgspec.json.decode(done.stdout, type=Planned)
        say(
            f"{size} nodes, {each.pods:,} pods: read {each.read:.1f} s, planned {each.plan:.1f} s,"
            f" {each.peak_mb:.0f} MB; {each.steps} steps, {each.left} left"
        )
        found.append(each)
    return PlanGrowth(conditions=conditions.look(simulated=True), tenth=found[0], whole=found[1])


def main(arguments: Sequence[str]) -> int:
    """``[--nodes N]``; exit code 1 if it is not as wanted."""
    parser = argparse.ArgumentParser(prog="bench.placement.growth")
    parser.add_argument("--nodes", type=int, default=NODES, help="a multiple of 100")
    growth = run(parser.parse_args(arguments).nodes)
    return store.keep("plan", growth, report.table(growth), growth.missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
