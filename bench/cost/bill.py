"""Everything that docs/cost.md shows."""

from collections.abc import Sequence

import msgspec

from bench.conditions import Conditions
from bench.cost.month import Month
from bench.cost.prices import Prices
from bench.cost.storms import ScenarioCost


class Bill(msgspec.Struct, frozen=True, kw_only=True):
    """What results/cost.json holds. ``measured``: under which conditions each part was."""

    measured: Sequence[Conditions]
    prices: Prices
    memory_mb: int
    line_bytes: int
    scenarios: Sequence[ScenarioCost]
    month: Month
