"""Plays worlds and prints which workloads fare worse with Evenkeel than without it.

    .venv/bin/python -m tests.property.dominance [FIRST] [LAST]

Exits with 1 if one does.
"""

import sys
from collections import Counter
from collections.abc import Sequence

from tests.property.dominance.judging import Verdict, judged
from tests.property.dominance.worlds import world


def main(arguments: Sequence[str]) -> int:
    """Play the worlds with these numbers."""
    first, last = (int(each) for each in (*arguments, *("0", "100")[len(arguments) :]))
    counts = Counter[str]()
    for seed in range(first, last):
        found = judged(world(seed))
        if found is None:
            continue
        counts[found.verdict] += 1
        if found.verdict is Verdict.WORSE:
            sys.stdout.write(f"{seed}: {found}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{dict(counts)}\n")
    return int(bool(counts[Verdict.WORSE]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
