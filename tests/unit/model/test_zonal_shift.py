"""Zones that traffic is shifted away from: what is noted on the Lease, and who believes it."""

from datetime import timedelta

import msgspec
import pytest

from evenkeel.model.zonal_shift import (
    COUNTS_FOR,
    MOST,
    ZonalShift,
    is_known,
    noted,
    shifts_in,
    zones_of,
)
from tests.kit.builders import NOW, seconds

A, B = ZonalShift("euc1-az1", NOW + timedelta(hours=3)), ZonalShift("euc1-az2")


def test_what_is_noted_is_read() -> None:
    text = noted([A, B], NOW)
    assert text == (
        '{"at":"2026-11-21T06:00:00Z",'
        '"shifts":[["euc1-az1","2026-11-21T09:00:00Z"],["euc1-az2",null]]}'
    )
    assert shifts_in(text, NOW) == (A, B)
    assert zones_of(shifts_in(text, NOW)) == {"euc1-az1", "euc1-az2"}
    assert shifts_in(noted([], NOW), NOW) == ()


def test_a_note_counts_for_ten_minutes_and_no_shift_after_its_end() -> None:
    soon = ZonalShift("euc1-az3", NOW + seconds(60))
    text = noted([soon, B], NOW)
    assert shifts_in(text, NOW + seconds(59)) == (soon, B)
    assert shifts_in(text, NOW + seconds(60)) == (B,)
    assert shifts_in(text, NOW + COUNTS_FOR - seconds(1)) == (B,)
    assert shifts_in(text, NOW + COUNTS_FOR) == ()


def test_that_nothing_is_shifted_is_known_for_ten_minutes() -> None:
    text = noted([], NOW)
    assert is_known(text, NOW + COUNTS_FOR - seconds(1))
    assert not is_known(text, NOW + COUNTS_FOR)
    assert not is_known(None, NOW)


def test_clocks_may_be_apart_but_not_for_ever() -> None:
    assert shifts_in(noted([B], NOW + timedelta(minutes=5)), NOW) == (B,)
    assert shifts_in(noted([B], NOW + timedelta(minutes=6)), NOW) == ()


def test_no_more_are_noted_nor_read_than_a_note_has() -> None:
    many = [ZonalShift(f"z{number}") for number in range(40)]
    assert shifts_in(noted(many, NOW), NOW) == tuple(many[:MOST])
    longer = msgspec.json.encode({"at": NOW, "shifts": many}).decode()
    assert shifts_in(longer, NOW) == tuple(many[:MOST])


@pytest.mark.parametrize(
    "note",
    [
        None,
        "",
        "[",
        '{"at":"yesterday","shifts":[["z",null]]}',
        '{"at":"2026-11-21T06:00:00","shifts":[["z",null]]}',
        '{"at":"2026-11-21T06:00:00Z","shifts":[["z z",null],["",null]]}',
        '{"at":"2026-11-21T06:00:00Z","shifts":[["z","2026-11-21T07:00:00"]]}',
        '{"at":"2026-11-21T06:00:00Z","shifts":[["z","9999-12-31T23:59:59Z"]]}',
    ],
)
def test_what_makes_no_sense_is_not_believed(note: str | None) -> None:
    assert shifts_in(note, NOW) == ()
