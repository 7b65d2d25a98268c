"""Floors: what an owner may write, how many replicas that is, and which."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.model.floor import ALL, MAJORITY_OF_ALL, NONE, Floor, Unit, read

FLOORS = st.one_of(
    st.just(MAJORITY_OF_ALL),
    st.builds(Floor, st.just(Unit.PERCENT), st.integers(0, 100)),
    st.builds(Floor, st.just(Unit.REPLICAS), st.integers(0, 60)),
)


@pytest.mark.parametrize(
    ("text", "floor"),
    [
        ("none", NONE),
        ("all", ALL),
        ("majority", MAJORITY_OF_ALL),
        ("0", Floor(Unit.REPLICAS, 0)),
        ("2", Floor(Unit.REPLICAS, 2)),
        (" 3 ", Floor(Unit.REPLICAS, 3)),
        ("0%", NONE),
        ("30%", Floor(Unit.PERCENT, 30)),
        ("100%", ALL),
    ],
)
def test_an_owner_can_say_it_in_five_ways(text: str, floor: Floor) -> None:
    assert read(text) == floor


@pytest.mark.parametrize(
    "text",
    ["", "some", "-1", "1.5", "101%", "30 %", "%", "All", "1e3", "٣", "9999999", "12%%", "none,2"],
)
def test_anything_else_means_nothing(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    ("floor", "sizes"),
    [
        (NONE, [0, 0, 0, 0, 0, 0, 0, 0]),
        (ALL, [0, 1, 2, 3, 4, 5, 6, 7]),
        (MAJORITY_OF_ALL, [0, 1, 2, 2, 3, 3, 4, 4]),
        (Floor(Unit.REPLICAS, 3), [0, 1, 2, 3, 3, 3, 3, 3]),
        (Floor(Unit.PERCENT, 30), [0, 1, 1, 1, 2, 2, 2, 3]),
        (Floor(Unit.PERCENT, 50), [0, 1, 1, 2, 2, 3, 3, 4]),
    ],
)
def test_a_floor_of_each_size(floor: Floor, sizes: list[int]) -> None:
    assert [floor.of(size) for size in range(8)] == sizes
    assert floor.of(-1) == 0


@given(FLOORS, st.integers(0, 60))
def test_of_every_size_exactly_the_floor_is_included(floor: Floor, size: int) -> None:
    assert sum(floor.includes(index) for index in range(size)) == floor.of(size)


@given(FLOORS)
def test_a_replica_that_is_not_known_is_one_of_every_floor(floor: Floor) -> None:
    assert floor.includes(None)


@given(FLOORS)
def test_a_floor_is_read_as_it_is_written(floor: Floor) -> None:
    assert read(str(floor)) == floor
