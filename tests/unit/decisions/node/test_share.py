"""At most a share of the spot nodes is cordoned for recommendations at a time."""

import math
from datetime import datetime
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.node.share import admitted
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice
from tests.kit import builders
from tests.kit.builders import NOW, seconds

type Hinted = tuple[Node, NodeNotice]


def hinted(name: str, *, cordoned: bool = False, since: datetime = NOW) -> Hinted:
    notice = builders.hint(cordoned=cordoned, since=since)
    return builders.node(name, notice=notice), notice


def names_of(nodes: object) -> list[str]:
    assert isinstance(nodes, list)
    return [node.name for node in nodes]


def cordoned(number: int) -> list[Hinted]:
    return [hinted(f"c{i}", cordoned=True) for i in range(number)]


def waiting(number: int) -> list[Hinted]:
    return [hinted(f"w{i:03}") for i in range(number)]


@pytest.mark.parametrize(
    ("spot_nodes", "share", "already", "expected"),
    [
        (100, 0.10, 0, 10),
        (100, 0.10, 4, 6),
        (100, 0.10, 10, 0),
        (100, 0.10, 15, 0),
        (109, 0.10, 0, 10),
        (100, 0.29, 0, 29),
        (100, 0.57, 0, 57),
        (30, 1 / 3, 0, 10),
        (5, 0.10, 0, 1),
        (5, 0.10, 1, 0),
        (0, 0.10, 0, 1),
        (50, 1.0, 0, 50),
        (50, 0.0, 0, 0),
        (50, 0.0, 2, 0),
    ],
)
def test_what_the_share_leaves_room_for_is_cordoned(
    spot_nodes: int, share: float, already: int, expected: int
) -> None:
    found = admitted([*cordoned(already), *waiting(100)], spot_nodes, share)
    assert names_of(found) == [f"w{i:03}" for i in range(expected)]


def test_the_oldest_recommendation_comes_first_and_then_the_name() -> None:
    nodes = [
        hinted("b"),
        hinted("young", since=NOW + seconds(1)),
        hinted("a"),
        hinted("old", since=NOW - seconds(1)),
    ]
    assert names_of(admitted(nodes, 100, 0.04)) == ["old", "a", "b", "young"]
    assert names_of(admitted(nodes, 100, 0.02)) == ["old", "a"]


def test_no_node_is_cordoned_when_none_waits() -> None:
    assert admitted(cordoned(2), 100, 0.5) == []
    assert admitted([], 100, 0.5) == []


@given(
    percent=st.integers(1, 100),
    spot_nodes=st.integers(0, 5000),
    already=st.integers(0, 20),
    waits=st.integers(0, 60),
    order=st.randoms(use_true_random=False),
)
def test_the_share_is_never_exceeded_and_the_same_nodes_are_chosen_in_any_order(
    percent: int, spot_nodes: int, already: int, waits: int, order: Random
) -> None:
    nodes = [*cordoned(already), *waiting(waits)]
    first = names_of(admitted(nodes, spot_nodes, percent / 100))
    allowed = max(1, math.floor(Fraction(percent * spot_nodes, 100)))
    assert len(first) == min(waits, max(0, allowed - already))
    order.shuffle(nodes)
    assert names_of(admitted(nodes, spot_nodes, percent / 100)) == first


def test_each_kind_of_event_has_a_share_of_its_own() -> None:
    change = builders.hint(cordoned=True, cause="scheduled-change")
    changing = (builders.node("a", notice=change), change)
    waits = builders.hint(cordoned=False, cause="scheduled-change")
    waiting_change = (builders.node("b", notice=waits), waits)
    recommended = hinted("c")
    assert names_of(admitted([changing, waiting_change, recommended], 10, 0.1)) == ["c"]
    assert names_of(admitted([waiting_change, recommended], 10, 0.1)) == ["c", "b"]
