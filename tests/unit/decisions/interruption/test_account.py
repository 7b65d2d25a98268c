"""The account of an interruption: its pods, its workloads, and when it begins and is over."""

from datetime import timedelta

import msgspec
import pytest

from evenkeel.decisions.interruption.account import APART, Departure, Level, follow, is_taken
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.interruption import (
    MOST_UNTOLD,
    NAMED,
    NODES_NOTED,
    NOTHING,
    QUIET,
    UNTOLD_FOR,
    Account,
    Dip,
    Interruption,
    Tally,
    Untold,
)
from evenkeel.model.meta import Reference
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod_count import PodCount
from evenkeel.model.reasons import Reason
from tests.kit import builders
from tests.kit.builders import NOW, seconds

POD = builders.pod("one")
WEB = Reference(kind="Deployment", name="web", namespace="shop")


def decided(verb: Verb, reason: Reason, *, forced: bool = False, warning: bool = False) -> Decision:
    return Decision.about(POD, verb, reason, "it goes", forced=forced, warning=warning)


def departure(*decisions: Decision) -> Departure:
    """What is known of a pod after these decisions, a second apart."""
    found = Departure()
    for number, each in enumerate(decisions):
        at, forced, warning = NOW + seconds(number), each.forced, each.warning
        found = found.add(at, each.verb, each.reason, forced=forced, warning=warning)
    return found


PENDING = decided(Verb.WAIT, Reason.REPLACEMENT_PENDING)
AVAILABLE = decided(Verb.EVICT, Reason.REPLACEMENT_AVAILABLE)
BY_FORCE = decided(Verb.EVICT, Reason.LAST_MOMENT, forced=True, warning=True)
REFUSED = decided(Verb.DELETE, Reason.BUDGET_REFUSED_AT_LAST_MOMENT, forced=True, warning=True)


@pytest.mark.parametrize(
    ("decisions", "late", "reason"),
    [
        ((PENDING,), False, Reason.REPLACEMENT_PENDING),
        ((PENDING, AVAILABLE), False, Reason.REPLACEMENT_AVAILABLE),
        (
            (PENDING, decided(Verb.EVICT, Reason.LAST_MOMENT, forced=True)),
            False,
            Reason.REPLACEMENT_PENDING,
        ),
        ((decided(Verb.WAIT, Reason.NO_PLACE), BY_FORCE, REFUSED), True, Reason.NO_PLACE),
        ((BY_FORCE,), True, ""),
        ((decided(Verb.WAIT, Reason.JOB_MAY_FINISH), BY_FORCE), False, Reason.JOB_MAY_FINISH),
        ((decided(Verb.WAIT, Reason.BARE_POD), BY_FORCE), False, Reason.BARE_POD),
        ((decided(Verb.EVICT, Reason.RECREATE, warning=True),), False, Reason.RECREATE),
        ((PENDING, decided(Verb.DELETE, Reason.NODE_GONE)), True, Reason.NODE_GONE),
        ((PENDING, BY_FORCE, AVAILABLE), False, Reason.REPLACEMENT_AVAILABLE),
    ],
    ids=[
        "it waits",
        "handed over",
        "by force after its replacement was available",
        "by force before",
        "by force, and nothing else is known",
        "by force, a Job's that might have finished",
        "by force, a bare one",
        "one that cannot be replaced first",
        "with its node",
        "handed over after an eviction by force was refused",
    ],
)
def test_a_pod_is_late_that_goes_with_its_node_or_by_force(
    decisions: tuple[Decision, ...], *, late: bool, reason: str
) -> None:
    found = departure(*decisions)
    assert (found.is_late, found.reason) == (late, reason)


def test_a_pod_went_when_it_was_told_to_go_last() -> None:
    assert departure(PENDING).at is None
    assert departure(AVAILABLE, PENDING, AVAILABLE, PENDING).at == NOW + seconds(2)


def test_a_pod_is_counted_once_it_goes_and_as_late_while_it_is() -> None:
    assert departure(PENDING).tally == Tally()
    assert departure(PENDING, BY_FORCE).tally == Tally(pods=1, late=1)
    assert departure(PENDING, BY_FORCE, AVAILABLE).tally == Tally(pods=1)


def count(at: float, available: int | None, wanted: int = 3) -> PodCount:
    return PodCount(at=NOW + seconds(at), workload=WEB, available=available, wanted=wanted)


LOW = count(10, 2)


@pytest.mark.parametrize(
    ("last", "low", "went_at", "is_its"),
    [
        (count(0, 3), LOW, 9, True),
        (count(0, 3), LOW, -2, True),
        (count(0, 3), LOW, -3, False),
        (count(0, 3), LOW, None, False),
        (count(0, 2), LOW, 9, False),
        (count(0, 0), LOW, 9, False),
        (count(0, 0), count(10, 0), 9, False),
        (count(0, 1), count(10, 0), 9, True),
        (count(0, None), LOW, 9, True),
        (None, LOW, 9, True),
        (None, LOW, 7, False),
    ],
    ids=[
        "a pod went and one less is there",
        "a pod went a moment before the last count",
        "a pod went before that",
        "no pod went",
        "a pod went and as many are there: it was short before",
        "a pod went and more are there than none",
        "a pod went and there is none as before",
        "a pod went and there is none any more",
        "a pod went after a rollout",
        "a pod went before the first count",
        "a pod went long before the first count",
    ],
)
def test_a_dip_is_the_interruptions_if_its_pods_went_for_it(
    last: PodCount | None, low: PodCount, went_at: float | None, *, is_its: bool
) -> None:
    at = None if went_at is None else NOW + seconds(went_at)
    assert is_taken(last, low, at) == is_its


def test_counts_and_evictions_are_told_two_seconds_apart_at_most() -> None:
    assert seconds(2) == APART


def dip(lowest: int, wanted: int, available: int) -> Dip:
    return Dip(
        kind="Deployment",
        namespace="shop",
        name="web",
        lowest=lowest,
        wanted=wanted,
        available=available,
    )


def level(*counts: PodCount, went_at: float | None = 9) -> Level:
    """What is known of a workload after these counts, the last of its pods gone after seconds."""
    found = Level(went_at=None if went_at is None else NOW + seconds(went_at))
    for each in counts:
        found = found.add(each)
    return found


FULL = count(0, 3)


@pytest.mark.parametrize(
    ("counts", "known", "is_low"),
    [
        ((FULL,), None, False),
        ((FULL, LOW), dip(2, 3, 2), True),
        ((FULL, LOW, count(20, 1), count(30, 2)), dip(1, 3, 2), True),
        ((FULL, LOW, count(20, 1, 5)), dip(1, 5, 1), True),
        ((FULL, LOW, count(20, 3)), dip(2, 3, 3), False),
        ((FULL, LOW, count(20, 1, 1)), dip(2, 3, 1), False),
        ((FULL, LOW, count(20, 0, 0)), dip(2, 3, 0), False),
        ((FULL, LOW, count(20, None)), dip(2, 3, 2), False),
        ((FULL, LOW, count(20, None), count(30, 1)), dip(2, 3, 2), False),
        ((FULL, LOW, count(20, 3), count(30, 1)), dip(2, 3, 3), False),
    ],
    ids=[
        "it is whole",
        "a dip begins",
        "it goes on up to the count that is not low",
        "more are wanted at its lowest",
        "it is over",
        "fewer are wanted, and that is no lower",
        "none is wanted",
        "a rollout begins, so nothing more is known",
        "it is low after a rollout",
        "it is low again and no pod went for that",
    ],
)
def test_a_workload_is_as_low_as_the_interruption_brought_it(
    counts: tuple[PodCount, ...], known: Dip | None, *, is_low: bool
) -> None:
    found = level(*counts)
    assert (found.dip, found.is_low) == (known, is_low)


def test_a_workload_that_others_brought_low_has_no_dip() -> None:
    assert level(FULL, LOW, count(20, 0), went_at=None).dip is None
    assert level(LOW, went_at=None).dip is None


@pytest.mark.parametrize(
    ("counts", "at", "known"),
    [
        ((FULL, LOW), 12, dip(2, 3, 2)),
        ((FULL, LOW), 13, None),
        ((FULL,), 1, None),
        ((FULL, LOW, count(11, 2)), 11, None),
        ((), 1, None),
    ],
    ids=[
        "the last count told of it already",
        "it went later than that",
        "the last count is whole",
        "the last count is no lower than the one before",
        "there is no count",
    ],
)
def test_a_pod_that_goes_just_after_a_count_may_be_why_that_is_low(
    counts: tuple[PodCount, ...], at: float, known: Dip | None
) -> None:
    found = level(*counts, went_at=None).leave(NOW + seconds(at))
    assert (found.dip, found.is_low) == (known, known is not None)
    assert found.last == (counts[-1] if counts else None)
    assert found.went_at == NOW + seconds(at)


def test_a_workload_is_counted_as_below_and_as_at_zero() -> None:
    assert level(FULL).tally == Tally()
    assert level(FULL, LOW).tally == Tally(below=1, worst=(dip(2, 3, 2),))
    none = level(FULL, LOW, count(20, 0), count(30, 1))
    assert none.tally == Tally(below=1, at_zero=1, worst=(dip(0, 3, 1),))


DEADLINE = NOW + seconds(120)


def notices(**nodes: float | None) -> dict[str, NodeNotice]:
    """Nodes with a notice, and their deadlines in seconds; None: it is a hint."""
    return {
        name: builders.hint() if end is None else builders.notice(deadline=NOW + seconds(end))
        for name, end in nodes.items()
    }


def later(known: Account, number: float, **nodes: float | None) -> Account:
    """The account after a look after so many seconds."""
    return follow(known, NOW + seconds(number), notices(**nodes), len(nodes))


BEGUN = follow(NOTHING, NOW, notices(a=120), 3)
TOLD = msgspec.structs.replace(BEGUN, untold=())


def going_on(account: Account) -> Interruption:
    assert account.open is not None
    return account.open


def test_nothing_begins_without_a_node() -> None:
    assert later(NOTHING, 0) == NOTHING


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
    found = going_on(later(TOLD, 10, a=120, b=130))
    assert (found.nodes, found.named) == (2, ("a", "b"))
    assert (found.active_at, found.deadline, found.until) == (
        NOW + seconds(10),
        DEADLINE,
        NOW + seconds(130),
    )
    assert found.to_move == 3


def test_where_no_pod_has_to_move_it_is_no_longer_active() -> None:
    assert later(TOLD, 60) == TOLD


def test_a_node_that_is_counted_and_not_named_is_not_counted_again() -> None:
    many = {f"n{number}": 120.0 for number in range(NODES_NOTED + 5)}
    found = later(TOLD, 1, **many)
    assert (going_on(found).nodes, len(going_on(found).named)) == (NODES_NOTED + 6, NODES_NOTED)
    again = follow(found, NOW + seconds(2), notices(**many), 1, many)
    assert going_on(again).nodes == NODES_NOTED + 6
    assert going_on(later(found, 2, **many)).nodes == NODES_NOTED + 12


def test_hints_have_no_deadline() -> None:
    found = going_on(later(NOTHING, 0, a=None))
    assert (found.deadline, found.until) == (None, None)
    assert found.over_at == NOW + QUIET
    both = going_on(later(Account(open=found), 1, b=None, c=60))
    assert (both.deadline, both.until) == (NOW + seconds(60), NOW + seconds(60))


@pytest.mark.parametrize(
    ("at", "is_over"),
    [(120 + QUIET.total_seconds() - 1, False), (120 + QUIET.total_seconds(), True)],
)
def test_it_is_over_when_all_deadlines_have_passed_for_a_while(at: float, *, is_over: bool) -> None:
    found = later(TOLD, at)
    assert (found.open is None) == is_over
    assert [each.is_over for each in found.untold] == [True] * is_over


def test_one_that_begins_after_the_quiet_is_the_next_one() -> None:
    found = later(TOLD, 1000, a=1120)
    assert [each.is_over for each in found.untold] == [True, False]
    assert going_on(found).began_at == NOW + seconds(1000)


def test_its_end_tells_of_all_reconcilers_and_of_some_nodes() -> None:
    many = tuple(f"n{number}" for number in range(NODES_NOTED))
    tallies = {0: Tally(pods=2, late=1), 3: Tally(pods=5, below=1, at_zero=1)}
    known = msgspec.structs.replace(going_on(TOLD), named=many, tallies=tallies)
    (untold,) = later(Account(open=known), 1000).untold
    assert untold.about.tallies == {0: Tally(pods=7, late=1, below=1, at_zero=1)}
    assert untold.about.named == many[:NAMED]


def test_what_could_not_be_told_is_kept_for_a_day() -> None:
    known = Account(untold=BEGUN.untold)
    almost = UNTOLD_FOR - timedelta(seconds=1)
    assert follow(known, NOW + almost, {}, 0) == known
    assert follow(known, NOW + UNTOLD_FOR, {}, 0) == NOTHING


def test_of_too_much_the_last_is_kept() -> None:
    many = tuple(
        msgspec.structs.replace(BEGUN.untold[0], at=NOW + seconds(number))
        for number in range(MOST_UNTOLD + 2)
    )
    assert later(Account(untold=many), 20).untold == many[2:]
