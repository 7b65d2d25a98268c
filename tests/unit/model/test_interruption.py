"""What the Lease keeps of an interruption."""

from typing import Any

import msgspec
import pytest

from evenkeel.model.interruption import (
    DIPS_NOTED,
    MOST_UNTOLD,
    NODES_NOTED,
    NOTHING,
    QUIET,
    Account,
    Dip,
    Interruption,
    Tally,
    Untold,
    account_in,
    dip_of,
)
from evenkeel.model.meta import Reference
from evenkeel.model.pod_count import PodCount
from tests.kit.builders import NOW, seconds

LONGEST = "n" * 253
ANNOTATIONS = 262_144
"""All annotations of an object together have so many bytes at most."""


def dip(name: str = "web", lowest: int = 1, wanted: int = 3, available: int = 3) -> Dip:
    return Dip(
        kind="Deployment",
        namespace="shop",
        name=name,
        lowest=lowest,
        wanted=wanted,
        available=available,
    )


def count(available: int | None, wanted: int = 3) -> PodCount:
    web = Reference(kind="Deployment", name="web", namespace="shop", uid="1")
    return PodCount(at=NOW, workload=web, available=available, wanted=wanted)


ONE = Interruption(
    began_at=NOW,
    active_at=NOW + seconds(20),
    deadline=NOW + seconds(120),
    until=NOW + seconds(120),
    to_move=4,
    nodes=1,
    named=("a",),
    tallies={0: Tally(pods=4, worst=(dip(),)), 2: Tally(late=1)},
)


def test_it_is_read_as_it_was_written() -> None:
    account = Account(open=ONE, untold=(Untold(at=NOW, is_over=True, about=ONE),))
    assert account_in(account.note) == account
    assert account_in(NOTHING.note) == NOTHING
    assert NOTHING.note == ""


@pytest.mark.parametrize("note", [None, "", "no JSON", "3", '{"open": 3}'])
def test_what_is_no_account_is_nothing(note: str | None) -> None:
    assert account_in(note) == NOTHING


@pytest.mark.parametrize(
    "spoilt",
    [
        {"began_at": NOW.replace(year=9999)},
        {"until": NOW.replace(tzinfo=None)},
        {"named": ("a\nb",)},
        {"named": tuple(f"n{n}" for n in range(NODES_NOTED + 1))},
        {"tallies": {0: Tally(worst=(dip("<b>"),))}},
        {"tallies": {0: Tally(worst=(dip(),) * (DIPS_NOTED + 1))}},
        {"tallies": {0: Tally(worst=(msgspec.structs.replace(dip(), kind="A b"),))}},
    ],
)
def test_one_that_evenkeel_cannot_have_written_is_left_out(spoilt: dict[str, Any]) -> None:
    bad = msgspec.structs.replace(ONE, **spoilt)
    sound = Untold(at=NOW, is_over=False, about=ONE)
    known = Account(open=bad, untold=(Untold(at=NOW, is_over=True, about=bad), sound))
    assert account_in(known.note) == Account(untold=(sound,))


def test_the_longest_names_leave_room_for_the_other_annotations() -> None:
    long = dip(LONGEST)
    full = Tally(worst=(msgspec.structs.replace(long, namespace="n" * 63),) * DIPS_NOTED)
    names = (LONGEST,) * NODES_NOTED
    big = msgspec.structs.replace(ONE, named=names, tallies=dict.fromkeys(range(8), full))
    ten = Tally(worst=full.worst[:10])
    told = msgspec.structs.replace(ONE, named=names[:10], tallies={0: ten})
    untold = (Untold(at=NOW, is_over=True, about=told),) * MOST_UNTOLD
    assert len(Account(open=big, untold=untold).note) < ANNOTATIONS / 2 + 20_000


def test_the_worst_are_kept() -> None:
    tally = Tally()
    for number in range(DIPS_NOTED + 5):
        tally = tally.add(Tally(below=1, worst=(dip(f"w{number}", number, 100),)))
    assert tally.below == DIPS_NOTED + 5
    assert [each.lowest for each in tally.worst] == [*range(DIPS_NOTED)]


def test_a_workload_is_among_the_worst_as_it_was_counted_last() -> None:
    tally = Tally(worst=(dip(lowest=2), dip("api"))).add(Tally(worst=(dip(lowest=0),)))
    assert tally.worst == (dip(lowest=0), dip("api"))


def test_a_part_takes_the_place_of_what_it_counted_as_before() -> None:
    waits, late = Tally(pods=1, below=1), Tally(pods=1, late=1, below=1, at_zero=1)
    assert Tally(pods=3, below=2).add(late, waits) == Tally(pods=3, late=1, below=2, at_zero=1)
    assert Tally(pods=3, late=1).add(Tally(pods=1), Tally(pods=1, late=1)) == Tally(pods=3)


def test_what_is_counted_without_an_interruption_is_nobodys() -> None:
    assert NOTHING.with_tally(0, Tally(pods=1)) == NOTHING
    assert NOTHING.tally_of(0) == Tally()
    known = Account(open=ONE).with_tally(2, Tally(pods=7))
    assert (known.tally_of(0), known.tally_of(2)) == (ONE.tallies[0], Tally(pods=7))


def test_a_dip_keeps_its_lowest_count_and_what_was_wanted_then() -> None:
    found = dip_of(count(1)).counted(count(0, 4)).counted(count(2, 2))
    assert found == dip(lowest=0, wanted=4, available=2)


def test_a_count_that_is_not_low_makes_no_dip_deeper() -> None:
    assert dip_of(count(2)).counted(count(1, 1)) == dip(lowest=2, available=1)


def test_one_that_goes_on_has_the_first_deadline_and_ends_after_the_last() -> None:
    later = ONE.goes_on(NOW + seconds(30), NOW + seconds(90), NOW + seconds(200))
    assert (later.deadline, later.until) == (NOW + seconds(90), NOW + seconds(200))
    assert later.over_at == NOW + seconds(200) + QUIET
    assert ONE.goes_on(NOW).active_at == ONE.active_at


def test_tallies_add_up() -> None:
    assert ONE.total == Tally(pods=4, late=1, worst=(dip(),))
