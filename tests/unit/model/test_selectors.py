"""Selectors fit into an address, whatever labels tenants write."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.model.meta import LabelSelector, LabelSelectorRequirement
from evenkeel.model.selectors import LONGEST, any_of, chunks, fitting, size

VALUES = st.lists(st.text("abc09-._é", min_size=0, max_size=63), max_size=60)


@given(values=VALUES, limit=st.integers(1, 500))
def test_chunks_hold_each_value_once_and_none_is_longer_than_its_limit(
    values: list[str], limit: int
) -> None:
    parts = list(chunks(values, limit))
    assert [value for part in parts for value in part] == sorted(set(values))
    assert all(len(part) == 1 or sum(size(f"{v},") for v in part) <= limit for part in parts)
    for part, following in pairwise(parts):
        assert sum(size(f"{v},") for v in (*part, following[0])) > limit


def test_thousands_of_labels_are_asked_for_in_addresses_of_8_kb() -> None:
    parts = list(chunks(f"{'h' * 59}{number:04}" for number in range(5_000)))
    assert len(parts) == 48
    assert all(size(any_of("pod-template-hash", part)) <= LONGEST + 100 for part in parts)
    assert list(chunks([])) == []


def test_a_selector_that_fits_is_the_same_text() -> None:
    some = LabelSelectorRequirement(key="tier", operator="In", values=("b", "a"))
    none = LabelSelectorRequirement(key="track", operator="NotIn", values=("x",))
    there = LabelSelectorRequirement(key="there", operator="Exists")
    gone = LabelSelectorRequirement(key="gone", operator="DoesNotExist")
    selector = LabelSelector(
        match_labels={"b": "2", "a": "1"}, match_expressions=(some, none, there, gone)
    )
    text = "a=1,b=2,tier in (a,b),track notin (x),there,!gone"
    assert fitting(selector) == text


def test_a_clause_without_room_is_left_out() -> None:
    values = tuple(f"value-{number}" for number in range(2_000))
    long = LabelSelectorRequirement(key="tier", operator="In", values=values)
    there = LabelSelectorRequirement(key="there", operator="Exists")
    selector = LabelSelector(match_labels={"app": "web"}, match_expressions=(long, there))
    assert fitting(selector) == "app=web,there"


def test_an_operator_that_kubernetes_does_not_know_is_refused() -> None:
    odd = LabelSelectorRequirement(key="a", operator="Near")
    with pytest.raises(ValueError, match="Near"):
        fitting(LabelSelector(match_expressions=(odd,)))
