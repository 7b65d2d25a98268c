"""How good a node is for a pod."""

from itertools import pairwise, product

import pytest

from evenkeel.model.capacity import Capacity
from evenkeel_extender.decisions.rank import FEWEST, Tier, base, beside_full_pools, tier_of
from evenkeel_extender.messages import MOST

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


@pytest.mark.parametrize("tier", [Tier.OTHER, Tier.WANTED])
def test_nodes_of_full_pools_come_after_all_others_of_their_kind(tier: Tier) -> None:
    full = {beside_full_pools(score, is_ahead=False) for score in scores(tier)}
    others = {beside_full_pools(score, is_ahead=True) for score in scores(tier)}
    assert max(full) < min(others)


def test_beside_full_pools_the_kind_of_node_still_gives_way_to_nothing() -> None:
    ascending = [
        {beside_full_pools(score, is_ahead=it) for score in scores(tier) for it in (True, False)}
        for tier in sorted(Tier)
    ]
    assert all(max(worse) < min(better) for worse, better in pairwise(ascending))
    assert set().union(*ascending) <= set(range(MOST + 1))


@pytest.mark.parametrize("tier", Tier)
@pytest.mark.parametrize("is_ahead", [True, False])
def test_beside_full_pools_the_fewest_pods_still_count(
    tier: Tier,
    is_ahead: bool,  # noqa: FBT001 - a table
) -> None:
    few, more = (
        {beside_full_pools(base(tier, is_idle=i) + p, is_ahead=is_ahead) for i in (True, False)}
        for p in (FEWEST, 0)
    )
    assert min(few) > max(more)
