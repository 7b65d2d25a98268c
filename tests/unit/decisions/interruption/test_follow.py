"""When an interruption begins and is over, and what is to be told of that."""

from datetime import timedelta

import msgspec
import pytest

from evenkeel.decisions.interruption.follow import Seen, follow
from evenkeel.model.interruption import (
    MOST_UNTOLD,
    NAMED,
    NODES_NOTED,
    NOTHING,
    QUIET,
    UNTOLD_FOR,
    Account,
    Interruption,
    Tally,
    Untold,
)
from tests.kit.builders import NOW, seconds

DEADLINE = NOW + seconds(120)
FIRST = Seen(at=NOW, nodes={"a": DEADLINE}, pods=3)
BEGUN = follow(NOTHING, FIRST)
TOLD = msgspec.structs.replace(BEGUN, untold=())


def going_on(account: Account) -> Interruption:
    assert account.open is not None
    return account.open


def later(number: float, **nodes: float | None) -> Seen:
    """What is seen after so many seconds: nodes with deadlines in seconds."""
    return Seen(
        at=NOW + seconds(number),
        nodes={
            name: None if deadline is None else NOW + seconds(deadline)
            for name, deadline in nodes.items()
        },
        pods=len(nodes),
    )


def test_nothing_begins_without_a_node() -> None:
    assert follow(NOTHING, later(0)) == NOTHING


def test_the_first_node_begins_one_which_is_to_be_told() -> None:
    begun = Interruption(
        began_at=NOW,
        active_at=NOW,
        to_move=3,
        deadline=DEADLINE,
        until=DEADLINE,
        nodes=1,
        named=("a",),
    )
    assert Account(open=begun, untold=(Untold(at=NOW, is_over=False, about=begun),)) == BEGUN


def test_one_goes_on_with_each_node_counted_once() -> None:
    found = going_on(follow(TOLD, later(10, a=120, b=130)))
    assert (found.nodes, found.named) == (2, ("a", "b"))
    assert (found.active_at, found.deadline, found.until) == (
        NOW + seconds(10),
        DEADLINE,
        NOW + seconds(130),
    )
    assert found.to_move == 3


def test_a_node_that_is_counted_and_not_named_is_not_counted_again() -> None:
    many = {f"n{number}": 120.0 for number in range(NODES_NOTED + 5)}
    found = follow(TOLD, later(1, **many))
    assert (going_on(found).nodes, len(going_on(found).named)) == (NODES_NOTED + 6, NODES_NOTED)
    assert going_on(follow(found, later(2, **many), many)).nodes == NODES_NOTED + 6
    assert going_on(follow(found, later(2, **many))).nodes == NODES_NOTED + 12


def test_hints_have_no_deadline() -> None:
    found = going_on(follow(NOTHING, later(0, a=None)))
    assert (found.deadline, found.until) == (None, None)
    assert found.over_at == NOW + QUIET
    both = going_on(follow(Account(open=found), later(1, b=None, c=60)))
    assert (both.deadline, both.until) == (NOW + seconds(60), NOW + seconds(60))


@pytest.mark.parametrize(
    ("at", "is_over"),
    [(120 + QUIET.total_seconds() - 1, False), (120 + QUIET.total_seconds(), True)],
)
def test_it_is_over_when_all_deadlines_have_passed_for_a_while(at: float, *, is_over: bool) -> None:
    found = follow(TOLD, later(at))
    assert (found.open is None) == is_over
    assert [each.is_over for each in found.untold] == [True] * is_over


def test_one_that_begins_after_the_quiet_is_the_next_one() -> None:
    found = follow(TOLD, later(1000, a=1120))
    assert [each.is_over for each in found.untold] == [True, False]
    assert going_on(found).began_at == NOW + seconds(1000)


def test_its_end_tells_of_all_reconcilers_and_of_some_nodes() -> None:
    many = tuple(f"n{number}" for number in range(NODES_NOTED))
    tallies = {0: Tally(pods=2, late=1), 3: Tally(pods=5, below=1, at_zero=1)}
    known = msgspec.structs.replace(going_on(TOLD), named=many, tallies=tallies)
    (untold,) = follow(Account(open=known), later(1000)).untold
    assert untold.about.tallies == {0: Tally(pods=7, late=1, below=1, at_zero=1)}
    assert untold.about.named == many[:NAMED]


def test_what_could_not_be_told_is_kept_for_a_day() -> None:
    known = Account(untold=BEGUN.untold)
    almost = UNTOLD_FOR - timedelta(seconds=1)
    assert follow(known, Seen(at=NOW + almost)) == known
    assert follow(known, Seen(at=NOW + UNTOLD_FOR)) == NOTHING


def test_of_too_much_the_last_is_kept() -> None:
    many = tuple(
        msgspec.structs.replace(BEGUN.untold[0], at=NOW + seconds(number))
        for number in range(MOST_UNTOLD + 2)
    )
    assert follow(Account(untold=many), later(20)).untold == many[2:]
