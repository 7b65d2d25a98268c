"""Which nodes a storm takes, and when."""

from datetime import timedelta

import pytest

from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.pool import Pool
from evenkeel_sandbox.storms.shapes import Nodes, OnePool, Shape, Share, pools_among
from tests.kit import builders

SPREAD = timedelta(seconds=180)
POOLS = {Pool("m5", "a"): [f"m{n}" for n in range(6)], Pool("c5", "a"): ["c0", "c1", "c2", "c3"]}
SHAPES: list[Shape] = [Share(0.5, SPREAD), Nodes(3, SPREAD), OnePool(SPREAD)]


def test_only_spot_nodes_have_a_pool() -> None:
    nodes = [
        builders.node("s1", spot=True),
        builders.node("o1", spot=False),
        builders.node("s2", spot=True),
    ]
    assert pools_among(nodes, WELL_KNOWN) == {Pool(): ["s1", "s2"]}


@pytest.mark.parametrize(
    ("shape", "nodes"),
    [
        (Share(1.0, SPREAD), 10),
        (Share(0.3, SPREAD), 3),
        (Share(0.01, SPREAD), 1),
        (Nodes(4, SPREAD), 4),
        (Nodes(99, SPREAD), 10),
    ],
)
def test_so_many_nodes_go_each_once_within_the_spread(shape: Shape, nodes: int) -> None:
    strikes = shape.strikes(POOLS, 7)
    assert len({strike.node for strike in strikes}) == len(strikes) == nodes
    times = [strike.after for strike in strikes]
    assert times == sorted(times)
    assert timedelta() <= times[0] <= times[-1] <= SPREAD


def test_with_each_seed_the_next_pool_goes_whole() -> None:
    taken = [{each.node for each in OnePool(SPREAD).strikes(POOLS, seed)} for seed in range(3)]
    assert taken == [set(POOLS[Pool("c5", "a")]), set(POOLS[Pool("m5", "a")]), taken[0]]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_seed_is_one_storm(shape: Shape) -> None:
    assert shape.strikes(POOLS, 4) == shape.strikes(POOLS, 4)
    assert shape.strikes(POOLS, 4) != shape.strikes(POOLS, 6)
