"""Counting a floor by pods and claims."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.placement.floor_count import (
    FloorCount,
    Free,
    Full,
    Unconfirmed,
    count_floor,
)
from evenkeel.model.capacity import Capacity
from evenkeel.model.meta import Reference
from evenkeel.model.placement import Claim, Placed, claims_of, new_claim
from tests.kit.builders import NOW, placed_as

EXPIRY = timedelta(seconds=1.5)
CONTROLLER = Reference(kind="ReplicaSet", namespace="shop", name="web", uid="u1")


def claim(slot: int, age: float = 0.0) -> Claim:
    since = NOW - timedelta(seconds=age)
    (found,) = claims_of([new_claim(CONTROLLER, slot, f"claim-{slot}", since)], "u1")
    return found


def pod(slot: int | None) -> Placed:
    held = "" if slot is None else f"claim-{slot}"
    return placed_as(Capacity.ON_DEMAND, NOW, claim=held, slot=slot)


def count(floor: int, pods: Sequence[Placed | None], claims: Sequence[Claim] = ()) -> FloorCount:
    return count_floor(floor, pods, claims, NOW, EXPIRY)


def free(result: FloorCount) -> list[int]:
    assert isinstance(result, Free)
    return [result.slot(position) for position in range(result.offered)]


def test_live_pods_fill_a_floor_whatever_they_note() -> None:
    assert count(2, [pod(0), pod(1)]) == Full(2)
    assert count(2, [None, pod(None), pod(9)]) == Full(3)


@pytest.mark.parametrize(
    ("floor", "pods", "claims", "slots"),
    [
        pytest.param(3, [], [], [0, 1, 2], id="an empty floor"),
        pytest.param(3, [pod(None)], [], [0, 1], id="a pod without a claim takes the place of one"),
        pytest.param(3, [None, pod(2)], [], [0], id="or of none that can be read"),
        pytest.param(3, [pod(-1)], [], [0, 1], id="or of one that cannot be"),
        pytest.param(2, [], [claim(0, age=1)], [1], id="a claim keeps its slot"),
        pytest.param(1, [], [claim(0, age=1.5)], [0], id="until it expires"),
        pytest.param(1, [], [claim(0, age=-60)], [0], id="as one of the future has"),
        pytest.param(1, [], [claim(1), claim(5)], [0], id="claims above a floor that has sunk"),
    ],
)
def test_slots_are_free(
    floor: int, pods: Sequence[Placed | None], claims: Sequence[Claim], slots: Sequence[int]
) -> None:
    found = count(floor, pods, claims)
    assert free(found) == slots
    assert isinstance(found, Free)
    assert found.claims == {each.slot: each for each in claims}


@pytest.mark.parametrize("floor", [1, 3])
def test_a_claim_makes_a_floor_full_only_once_its_pod_is_there(floor: int) -> None:
    claims = [claim(slot, age=1) for slot in range(floor)]
    assert count(floor, [], claims) == Unconfirmed(floor)
    assert count(floor, [pod(slot) for slot in range(floor)], claims) == Full(floor)


@given(
    floor=st.integers(1, 6),
    pods=st.lists(st.one_of(st.none(), st.integers(0, 7)), max_size=6),
    claimed=st.sets(st.integers(0, 7), max_size=6),
    data=st.data(),
)
def test_however_many_look_they_take_no_more_than_there_are(
    floor: int, pods: list[int | None], claimed: set[int], data: st.DataObject
) -> None:
    """Each sees the claims so far, or fewer; a slot that is claimed cannot be claimed again."""
    live = [pod(slot) for slot in dict.fromkeys(pods)]
    claims = {slot: claim(slot) for slot in claimed}
    before = len(live) + len([s for s in claimed if s < floor and s not in pods])
    taken = 0
    for _ in range(floor + 2):
        seen = data.draw(st.sets(st.sampled_from(sorted(claims)))) if claims else set()
        result = count(floor, live, [claims[slot] for slot in seen | claimed])
        if isinstance(result, Free):
            slot = data.draw(st.sampled_from(free(result)))
            if slot not in claims:
                claims[slot] = claim(slot)
                taken += 1
    assert taken <= max(0, floor - before)


@given(
    floor=st.integers(1, 400),
    pods=st.lists(st.one_of(st.none(), st.integers(-3, 420)), max_size=8),
    claimed=st.sets(st.integers(0, 420), max_size=8),
)
def test_the_lowest_free_slots_are_offered_as_many_as_are_left_and_at_most_256(
    floor: int, pods: list[int | None], claimed: set[int]
) -> None:
    result = count(floor, [pod(slot) for slot in pods], [claim(slot) for slot in claimed])
    if isinstance(result, Free):
        open_slots = [slot for slot in range(floor) if slot not in {*pods, *claimed}]
        assert free(result) == open_slots[: min(result.left, 256)]


def test_a_floor_of_a_billion_is_counted_like_any_other() -> None:
    result = count(10**9, [pod(0), pod(10**30), None], [claim(1), claim(3)])
    assert isinstance(result, Free)
    assert result.left == 10**9 - 5
    assert free(result)[:3] == [2, 4, 5]
