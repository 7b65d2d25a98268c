"""The pool that a node belongs to."""

from collections.abc import Mapping

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.pool import AtMost, Pool, noted, pools_in, pools_of, read
from tests.kit import builders

M5: Mapping[str, str] = {names.INSTANCE_TYPE: "m5.large", names.ZONE: "eu-central-1a"}


def test_only_spot_nodes_have_a_pool() -> None:
    nodes = [builders.node("s", labels=M5), builders.node("o", spot=False, labels=M5)]
    assert pools_of(nodes, WELL_KNOWN) == {"s": Pool("m5.large", "eu-central-1a"), "o": None}


def test_nodes_without_the_labels_are_one_pool() -> None:
    found = pools_of([builders.node("a"), builders.node("b")], WELL_KNOWN)
    assert found == {"a": Pool(), "b": Pool()}


@pytest.mark.parametrize(
    ("pool", "said"),
    [
        (Pool("m5.large", "eu-central-1a"), "m5.large in eu-central-1a"),
        (Pool(), "no type in no zone"),
    ],
)
def test_a_pool_is_called_by_type_and_zone(pool: Pool, said: str) -> None:
    assert str(pool) == said


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2", AtMost(2)),
        (" 30% ", AtMost(30, is_percentage=True)),
        ("100%", AtMost(100, is_percentage=True)),
        *(
            (wrong, None)
            for wrong in ("", "0", "0%", "101%", "-1", "1.5", "30 %", "half", "all", "٣")
        ),
    ],
)
def test_an_owner_says_a_number_or_a_percentage_and_never_none(
    text: str, meant: AtMost | None
) -> None:
    assert read(text) == meant


@pytest.mark.parametrize(
    ("at_most", "wanted", "pods"),
    [
        (AtMost(30, is_percentage=True), 10, 3),
        (AtMost(30, is_percentage=True), 9, 2),
        (AtMost(30, is_percentage=True), 2, 1),
        (AtMost(30, is_percentage=True), 0, 1),
        (AtMost(4), 2, 4),
    ],
)
def test_percentages_round_down_but_not_to_none(at_most: AtMost, wanted: int, pods: int) -> None:
    assert at_most.of(wanted) == pods


@given(st.integers(1, 100), st.integers(1, 500))
def test_a_percentage_is_no_more_than_it_says_and_one_more_pod_would_be(
    percent: int, wanted: int
) -> None:
    pods = AtMost(percent, is_percentage=True).of(wanted)
    assert pods == 1 or 100 * pods <= percent * wanted
    assert 100 * (pods + 1) > percent * wanted


def test_a_note_says_which_pools() -> None:
    pools = [Pool("m5.large", "eu-central-1a"), Pool(), Pool("c5.large"), Pool(zone="b")]
    assert pools_in(noted(pools)) == tuple(pools)


@pytest.mark.parametrize(
    "note", [None, "", "{}", "[", '["m5"]', "[[1]]", '[["a","b","c"]]', '[["a b","z"],["x","-"]]']
)
def test_what_no_label_can_say_is_not_believed(note: str | None) -> None:
    assert pools_in(note) == ()


def test_a_note_names_sixteen_pools_at_most() -> None:
    many = [Pool(str(number), "z") for number in range(40)]
    assert pools_in(noted(many)) == tuple(many[:16])
    assert pools_in(msgspec.json.encode(many).decode()) == tuple(many[:16])
