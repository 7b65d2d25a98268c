"""``python -m bench.readme``: measure all that README's table and picture show, within an hour.

What Evenkeel does is measured three times, what it is compared with once, and floors with half of
the storm's nodes: three of everything would take two hours. Each bench keeps its own figures, as
when it runs alone.
"""

import subprocess
import sys
from typing import Final

from bench.report.readme import DRAINS
from bench.say import since_now
from bench.store import ROOT

RUNS: Final = ("--runs", "3")
ROUNDS: Final = ("--rounds", "3")

BENCHES: Final = (
    ("bench.storm", "A", *ROUNDS, "--beside", "deletion", "drain"),
    ("bench.storm", "D", *ROUNDS, "--beside"),
    ("bench.drainers", *DRAINS, *RUNS),
    ("bench.floors", *RUNS, "--nodes", "50"),
    ("bench.placement", *ROUNDS),
    ("bench.gate", "--rounds", "1"),
    ("bench.placement.growth",),
    ("bench.cost",),
)
"""Cost is reckoned from the others, of which two are there for it alone."""


def main() -> int:
    """Exit code 1 if one is not as wanted, or could not be measured; the others are."""
    say, failed = since_now(), []
    for bench in BENCHES:
        say(" ".join(bench))
        if subprocess.run([sys.executable, "-m", *bench], cwd=ROOT, check=False).returncode:
            failed.append(bench[0])
    say(f"not as wanted: {', '.join(failed)}" if failed else "all as wanted")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
