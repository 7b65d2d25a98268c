"""How good a node is for a pod."""

from itertools import product

import pytest

from evenkeel.decisions.scheduling.rank import FEWEST, Tier, base, tier_of
from evenkeel.model.capacity import Capacity
from evenkeel.model.scheduling import MOST

SPOT, ON_DEMAND = Capacity.SPOT, Capacity.ON_DEMAND


@pytest.mark.parametrize(
    ("capacity", "wanted", "is_short", "tier"),
    [
        (SPOT, SPOT, False, Tier.WANTED),
        (ON_DEMAND, SPOT, False, Tier.OTHER),
        (SPOT, ON_DEMAND, False, Tier.OTHER),
        (ON_DEMAND, ON_DEMAND, False, Tier.WANTED),
        (SPOT, None, False, Tier.WANTED),
        (ON_DEMAND, None, False, Tier.WANTED),
        (SPOT, SPOT, True, Tier.SHORT),
        (SPOT, None, True, Tier.SHORT),
    ],
)
def test_a_pool_that_is_short_comes_last_and_the_wanted_capacity_first(
    capacity: Capacity,
    wanted: Capacity | None,
    is_short: bool,  # noqa: FBT001 - a table
    tier: Tier,
) -> None:
    assert tier_of(capacity, wanted, is_short=is_short) is tier


def scores(tier: Tier) -> set[int]:
    """Every score that a node of this kind can have."""
    return {base(tier, is_idle=idle) + more for idle, more in product((True, False), (0, FEWEST))}


def test_the_kind_of_node_never_gives_way_to_anything_else() -> None:
    assert max(scores(Tier.SHORT)) < min(scores(Tier.OTHER))
    assert max(scores(Tier.OTHER)) < min(scores(Tier.WANTED))
    every = scores(Tier.SHORT) | scores(Tier.OTHER) | scores(Tier.WANTED)
    assert (min(every), max(every)) == (0, MOST)


@pytest.mark.parametrize("tier", [Tier.OTHER, Tier.WANTED])
def test_nor_the_number_of_the_workload_s_pods_to_how_full_a_node_is(tier: Tier) -> None:
    assert base(tier, is_idle=False) + FEWEST > base(tier, is_idle=True) > base(tier, is_idle=False)
