"""The bill, reckoned from the benches' last results and the price file."""

from bench import store
from bench.cost import prices as price_file
from bench.cost.bill import Bill
from bench.cost.month import month, times
from bench.cost.prices import MEMORY_MB
from bench.cost.storms import bytes_of_line, scenarios
from bench.gate.results import Gating
from bench.placement.planned import PlanGrowth
from bench.placement.results import Placement
from bench.report import storm
from tests.stack.cloudformation import load


def reckon() -> Bill | None:
    """What everything costs; None while results are missing."""
    storms = storm.read()
    plan, placement, gate = (
        store.read("plan", PlanGrowth),
        store.read("placement", Placement),
        store.read("gate", Gating),
    )
    if not storms or plan is None or placement is None or gate is None:
        return None
    prices, line_bytes = price_file.read(), bytes_of_line()
    return Bill(
        measured=[
            *(each.conditions for each in storms),
            *(each.conditions for each in (plan, placement, gate)),
        ],
        prices=prices,
        memory_mb=MEMORY_MB,
        line_bytes=line_bytes,
        scenarios=scenarios(storms, prices, line_bytes),
        month=month(times(storms, plan, placement, gate), load(), prices),
    )
