"""Small random worlds, each beside a plain drain.

The worlds of `tests/property/dominance`: nodes, one workload with its rules, and when which node
goes. Each is played three times on simulated time: nobody acts, a plain drain does, and Evenkeel
does. A workload fares worse that does so in any measure, but for the exceptions that
[docs/notices.md](notices.md#worse-than-without-evenkeel) names.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from bench.figure import NONE, Figure
from bench.lab.lab import Lab
from tests.property.dominance.judging import Verdict, judged
from tests.property.dominance.worlds import world

NOTES: Final = ""
SIZES: Final = ("1000", "5000")
FIRST: Final = 20_000
"""The tests play others."""


def measure(lab: Lab, size: str) -> Sequence[Figure]:
    """So many worlds, but for those whose workload was not whole before its storm."""
    number, counts = int(size), Counter[Verdict]()
    for seed in range(FIRST, FIRST + number):
        found = judged(world(seed))
        if found is not None:
            counts[found.verdict] += 1
            if found.verdict is Verdict.WORSE:
                lab.say(f"world {seed}: {found}")
    marks = {Verdict.WORSE: NONE}
    return [Figure(f"fare {each}", counts[each], mark=marks.get(each)) for each in Verdict]
