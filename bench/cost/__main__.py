"""``python -m bench.cost``: reckon from the last results, keep, print. Nothing is run for it."""

import sys

from bench import store
from bench.cost import prices as price_file
from bench.cost.bill import Bill
from bench.cost.month import month, times
from bench.cost.prices import MEMORY_MB
from bench.cost.storms import bytes_of_line, scenarios
from bench.gate.results import Gating
from bench.placement.planned import PlanGrowth
from bench.placement.results import Placement
from bench.report import cost, storm
from tests.template.cloudformation import load


def main() -> int:
    """Exit code 1 if there is nothing to reckon from."""
    storms = storm.read()
    plan, placement, gate = (
        store.read("plan", PlanGrowth),
        store.read("placement", Placement),
        store.read("gate", Gating),
    )
    if not storms or plan is None or placement is None or gate is None:
        print(
            "error: results are missing: make bench, bench-plan, bench-placement and bench-gate",
            file=sys.stderr,
        )
        return 1
    prices, line_bytes = price_file.read(), bytes_of_line()
    found = Bill(
        prices=prices,
        memory_mb=MEMORY_MB,
        line_bytes=line_bytes,
        scenarios=scenarios(storms, prices, line_bytes),
        month=month(times(storms, plan, placement, gate), load(), prices),
    )
    store.write("cost", found)
    print(cost.table(found), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
