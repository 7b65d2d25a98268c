"""``python -m bench.cost``: reckon from the last results, keep, print. Nothing is run for it."""

import sys

from bench import store
from bench.cost.reckoning import reckon
from bench.report import cost


def main() -> int:
    """Exit code 1 if there is nothing to reckon from."""
    found = reckon()
    if found is None:
        print(
            "error: results are missing: make bench, bench-plan, bench-placement and bench-gate",
            file=sys.stderr,
        )
        return 1
    store.write("cost", found)
    print(cost.table(found), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
