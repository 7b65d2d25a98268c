"""Pools that lost a node to a warning: what the reconciler notes, and who believes it."""

from datetime import timedelta

import msgspec
import pytest

from evenkeel.model.losses import COUNTS_FOR, Loss, losses_in, lost_pools, noted
from evenkeel.model.pool import MOST, Pool
from tests.kit.builders import NOW, seconds

A, B = Pool("m5.large", "a"), Pool("c5.large", "b")


def test_of_each_pool_the_last_warning_is_noted_and_the_latest_first() -> None:
    losses = [Loss(A, NOW), Loss(B, NOW - seconds(1)), Loss(A, NOW - seconds(9))]
    assert losses_in(noted(losses), NOW) == (Loss(A, NOW), Loss(B, NOW - seconds(1)))
    assert noted([]) == ""


def test_it_counts_for_ten_minutes() -> None:
    text = noted([Loss(A, NOW)])
    assert losses_in(text, NOW + COUNTS_FOR - seconds(1)) == (Loss(A, NOW),)
    assert losses_in(text, NOW + COUNTS_FOR) == ()
    assert timedelta(minutes=10) == COUNTS_FOR


def test_clocks_may_be_apart_but_not_for_ever() -> None:
    text = noted([Loss(A, NOW + timedelta(minutes=5)), Loss(B, NOW + timedelta(minutes=6))])
    assert [loss.pool for loss in losses_in(text, NOW)] == [A]


def test_no_more_are_noted_nor_read_than_a_note_has() -> None:
    many = [Loss(Pool(str(number), "z"), NOW - seconds(number)) for number in range(40)]
    assert losses_in(noted(reversed(many)), NOW) == tuple(many[:MOST])
    assert losses_in(msgspec.json.encode(many).decode(), NOW) == tuple(many[:MOST])


@pytest.mark.parametrize(
    "note",
    [
        None,
        "",
        "[",
        '[[["m5","a"],"yesterday"]]',
        '[[["m5","a"],"2026-11-21T06:00:00"]]',
        '[[["m 5","a"],"2026-11-21T06:00:00Z"]]',
        '[[["m5","a"],"9999-12-31T23:59:59Z"]]',
    ],
)
def test_what_makes_no_sense_is_not_believed(note: str | None) -> None:
    assert losses_in(note, NOW) == ()


def test_nodes_without_labels_may_be_of_any_pool_and_are_avoided_by_none() -> None:
    partly = [Loss(Pool(), NOW), Loss(Pool("m5"), NOW), Loss(Pool("", "a"), NOW)]
    assert lost_pools([*partly, Loss(A, NOW)]) == {A}
