"""When the pods of dying nodes are evicted by force: as late as all of them together can be."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import combinations, pairwise
from random import Random

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from evenkeel.decisions.drain import agenda
from evenkeel.decisions.drain.agenda import (
    LEAST_THERE,
    Forced,
    Rate,
    Slot,
    Usual,
)
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Evict
from tests.kit import builders
from tests.kit.builders import NOW, seconds

DEPLOYMENT = builders.deployment()
REPLICA_SET = builders.replica_set(of=DEPLOYMENT)
OWNER = builders.owner(REPLICA_SET, DEPLOYMENT)
TICK = timedelta.resolution


def forced(
    name: str = "a",
    evict_by: float = 60,
    *,
    remaining: float = 1.0,
    grace: int = 0,
    is_replaced: bool = False,
    is_coming: bool = False,
    first: Decision | None = None,
) -> Forced:
    """A pod that has to be evicted so many seconds from now at the latest."""
    return Forced(
        pod=builders.pod(name, of=REPLICA_SET, grace=grace),
        owner=OWNER,
        evict_by=NOW + seconds(evict_by),
        share_remaining=remaining,
        is_replaced=is_replaced,
        is_coming=is_coming,
        first=first,
    )


def begins(slots: Sequence[Slot]) -> list[tuple[str, float]]:
    """The pods in their order, and in how many seconds the eviction of each begins."""
    return [(slot.forced.pod.name, (slot.begin - NOW).total_seconds()) for slot in slots]


# The schedule.


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([], []),
        ([forced("a", 60)], [("a", 59.5)]),
        ([forced("a", 60), forced("b", 60)], [("a", 59), ("b", 59.5)]),
        ([forced("late", 90), forced("soon", 60)], [("soon", 59.5), ("late", 89.5)]),
        ([forced("late", 60.2), forced("soon", 60)], [("soon", 59.2), ("late", 59.7)]),
        ([forced("late", 60.5), forced("soon", 60)], [("soon", 59.5), ("late", 60)]),
        (
            [forced("x", 60), forced("y", 60.5), forced("z", 60.5)],
            [("x", 59), ("y", 59.5), ("z", 60)],
        ),
        ([forced("past", -30), forced("a", 60)], [("past", -30.5), ("a", 59.5)]),
        (
            [
                forced("last", remaining=0),
                forced("mid", remaining=0.5),
                forced("first", remaining=1),
            ],
            [("first", 58.5), ("mid", 59), ("last", 59.5)],
        ),
        (
            [forced("much", 61, remaining=1), forced("none", 60, remaining=0)],
            [("none", 59.5), ("much", 60.5)],
        ),
        (
            [forced("a", 60.2), forced("b", 60.2), forced("none", 60, remaining=0)],
            [("a", 58.7), ("none", 59.2), ("b", 59.7)],
        ),
        ([forced("b"), forced("a")], [("a", 59), ("b", 59.5)]),
        (
            [forced("quick", 60, grace=5), forced("slow", 60, grace=30)],
            [("quick", 59), ("slow", 59.5)],
        ),
    ],
    ids=[
        "nobody",
        "one",
        "two of one deadline",
        "far apart",
        "too near: the earlier one makes room",
        "just far enough",
        "a queue that reaches into an earlier deadline",
        "a deadline that has passed",
        "most left first",
        "an earlier deadline before what leaves more",
        "what leaves more before an earlier deadline, where one of them has to make room",
        "by uid when all else is equal",
        "the eviction deadline counts, however long the grace period is",
    ],
)
def test_evictions_begin_one_after_the_other_and_each_as_late_as_it_can(
    given: Sequence[Forced], expected: list[tuple[str, float]]
) -> None:
    assert begins(agenda.schedule(given, Rate(2))) == expected


def test_all_evictions_begin_earlier_while_the_api_server_is_slow() -> None:
    given = [forced("a", 60), forced("b", 60), forced("c", 90)]
    slow = agenda.schedule(given, Rate(2, ahead=seconds(3)))
    assert begins(slow) == [("a", 56), ("b", 56.5), ("c", 86.5)]


def test_before_all_was_seen_each_goes_by_its_own_deadline() -> None:
    given = [forced("c", 61), forced("b", 60, remaining=0), forced("a", 60, remaining=0.5)]
    assert begins(agenda.alone(given)) == [("a", 60), ("b", 60), ("c", 61)]
    assert agenda.alone([]) == []


EVICTIONS = st.lists(
    st.tuples(
        st.sampled_from([-20.0, 0.0, 10.0, 10.1, 10.5, 11.0, 30.0]),
        st.sampled_from([0.0, 0.25, 0.5, 1.0]),
    ),
    max_size=20,
).map(lambda rows: [forced(f"p{i}", by, remaining=share) for i, (by, share) in enumerate(rows)])

RATES = st.builds(
    Rate,
    st.sampled_from([0.5, 1, 2, 7, 60]),
    st.timedeltas(timedelta(), seconds(4)),
)


@given(evictions=EVICTIONS, rate=RATES, order=st.randoms(use_true_random=False))
def test_every_eviction_is_in_time_however_many_there_are_and_in_whatever_order_they_are_read(
    evictions: list[Forced], rate: Rate, order: Random
) -> None:
    pace = seconds(1 / rate.per_second)
    slots = agenda.schedule(order.sample(evictions, len(evictions)), rate)

    assert slots == agenda.schedule(evictions, rate)
    assert sorted(slot.forced.pod.uid for slot in slots) == sorted(e.pod.uid for e in evictions)
    for slot in slots:
        assert slot.begin <= slot.forced.evict_by - rate.ahead - pace
    for before, after in pairwise(slots):
        assert after.begin - before.begin >= pace


@given(evictions=EVICTIONS, rate=RATES)
def test_no_pod_would_rather_have_the_slot_of_one_whose_workload_has_more_left(
    evictions: list[Forced], rate: Rate
) -> None:
    pace = seconds(1 / rate.per_second)
    slots = agenda.schedule(evictions, rate)
    for before, after in combinations(slots, 2):
        fits = before.forced.evict_by - rate.ahead >= after.begin + pace
        if fits:
            assert before.forced.share_remaining >= after.forced.share_remaining


@given(evictions=EVICTIONS, rate=RATES)
def test_no_eviction_begins_earlier_than_the_next_one_or_its_own_deadline_demands(
    evictions: list[Forced], rate: Rate
) -> None:
    pace = seconds(1 / rate.per_second)
    slots = agenda.schedule(evictions, rate)
    followers: list[datetime | None] = [*(slot.begin for slot in slots[1:]), None]
    for slot, follower in zip(slots, followers, strict=False):
        own = slot.forced.evict_by - rate.ahead
        assert slot.begin + pace in {own, follower}


@given(evictions=EVICTIONS, rate=RATES, later=st.floats(0, 40))
def test_what_dies_later_makes_another_go_earlier_only_where_their_evictions_would_meet(
    evictions: list[Forced], rate: Rate, later: float
) -> None:
    pace = seconds(1 / rate.per_second)
    one_more = forced("one more", later)
    assume(evictions and all(each.evict_by < one_more.evict_by for each in evictions))
    before = agenda.schedule(evictions, rate)
    *after, last = agenda.schedule([*evictions, one_more], rate)

    assert last.forced is one_more
    assert all(now.begin <= then.begin for now, then in zip(after, before, strict=True))
    if before[-1].begin + pace <= last.begin:
        assert after == before
    else:
        assert after[-1].begin + pace == last.begin


# A slot.

BACK = Decision(
    verb=Verb.ROLL_BACK,
    subject=forced().pod.reference,
    reason=Reason.CANNOT_BE_REPLACED,
    message="back to its owner",
)
BEGIN = NOW + seconds(60)


@pytest.mark.parametrize(
    ("at", "verb"),
    [
        (BEGIN - seconds(4) - TICK, None),
        (BEGIN - seconds(4), Verb.ROLL_BACK),
        (BEGIN - TICK, Verb.ROLL_BACK),
        (BEGIN, Verb.EVICT),
        (BEGIN + seconds(600), Verb.EVICT),
    ],
)
def test_a_write_that_precedes_an_eviction_is_sent_in_time(at: datetime, verb: Verb | None) -> None:
    slot = Slot(BEGIN, forced(first=BACK))
    assert (slot.step(at).verb if slot.is_due(at) else None) is verb
    assert slot.first_at == BEGIN - seconds(4)


@pytest.mark.parametrize(
    ("at", "verb"),
    [
        (BEGIN - seconds(4) - TICK, None),
        (BEGIN - seconds(4), None),
        (BEGIN - TICK, None),
        (BEGIN, Verb.EVICT),
    ],
)
def test_nothing_is_due_before_the_eviction_where_no_write_has_to_precede_it(
    at: datetime, verb: Verb | None
) -> None:
    slot = Slot(BEGIN, forced())
    assert (slot.step(at).verb if slot.is_due(at) else None) is verb
    assert slot.first_at == BEGIN


@pytest.mark.parametrize(
    ("is_replaced", "there"),
    [(True, "its replacement is available"), (False, "replacement or not")],
)
def test_a_forced_eviction_says_why_and_warns_where_nothing_replaces_the_pod(
    *, is_replaced: bool, there: str
) -> None:
    each = forced(is_replaced=is_replaced)
    assert each.eviction() == Decision(
        verb=Verb.EVICT,
        subject=each.pod.reference,
        workload=DEPLOYMENT.reference,
        node="n1",
        reason=Reason.LAST_MOMENT,
        message=f"its node dies and its grace period has to fit: evicted, {there}",
        warning=not is_replaced,
        forced=True,
        write=Evict(name="a", namespace="default", uid="a-uid"),
    )


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (-5, "its node dies, and others of its workload go after it: evicted ahead, replacement"),
        (0, "its node dies and its grace period has to fit: evicted, replacement or not"),
        (5, "its node dies, and it stood last of its workload: evicted, replacement or not, and 5"),
    ],
)
def test_a_forced_eviction_says_whether_it_comes_before_its_last_moment_or_after(
    after: float, said: str
) -> None:
    each = msgspec.structs.replace(forced(), after=seconds(after))
    assert each.eviction().message.startswith(said)


def test_a_pod_that_likely_has_gone_by_then_takes_less_of_the_time() -> None:
    """Two pods whose replacements start already count for less than one that has none."""
    coming = [
        forced(name, remaining=share, is_coming=True) for name, share in (("a", 0.9), ("b", 0.8))
    ]
    slots = agenda.schedule([*coming, forced("c", remaining=0.5)], Rate(1))
    by = slots[-1].forced.evict_by
    before = [(by - slot.begin).total_seconds() for slot in slots]
    assert before == pytest.approx([1 + 2 * LEAST_THERE, 1 + LEAST_THERE, 1])


@pytest.mark.parametrize(
    ("leaving", "expected"),
    [
        pytest.param(0.0, 1.0, id="none left"),
        pytest.param(0.5, 0.5 / 0.75, id="half of them until then"),
        pytest.param(1.0, LEAST_THERE, id="all of them until then"),
        pytest.param(2.0, LEAST_THERE, id="as many as can be sent"),
        pytest.param(9.0, LEAST_THERE, id="more than can be sent"),
    ],
)
def test_as_many_leave_before_their_slots_as_left_of_late(leaving: float, expected: float) -> None:
    going = [forced(str(number), 60, is_replaced=True) for number in range(60)]
    found = agenda.part_there(going, leaving, Rate(2), NOW)
    assert found == pytest.approx(expected)
    if LEAST_THERE < found < 1:
        first = agenda.schedule(going, Rate(2), found)[0].begin
        until = (first - NOW).total_seconds()
        assert len(going) - leaving * until == pytest.approx(2 * (60 - until))


def test_no_part_matters_where_no_pod_may_leave() -> None:
    assert agenda.part_there([forced()], 0, Rate(1), NOW) == LEAST_THERE


def test_no_more_than_all_are_expected_to_be_there() -> None:
    going = [forced(str(number), 0, is_coming=True) for number in range(10)]
    assert agenda.part_there(going, 2, Rate(10), NOW) == 1


def test_a_slot_that_was_seen_counts_for_one_eviction_as_for_the_part_of_one() -> None:
    """As 6 a second were sent of late and 10 are set, one takes a tenth of a second."""
    going = [forced(str(number), 20, is_coming=True) for number in range(100)]
    assert agenda.part_there(going, 2, Rate(10, shown=6), NOW) == pytest.approx(0.75)
    first, second = agenda.schedule([forced("a"), forced("b")], Rate(10, shown=6))
    assert second.begin - first.begin == seconds(0.1)


# The rate.


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(0, Rate(60), id="nothing known"),
        pytest.param(0.2, Rate(60), id="the setting"),
        pytest.param(0.5, Rate(60), id="just fast enough"),
        pytest.param(1, Rate(30), id="as many as can be under way"),
        pytest.param(1.5, Rate(20, ahead=seconds(0.5)), id="slower than a deadline allows for"),
        pytest.param(2, Rate(15, ahead=seconds(1)), id="the floor"),
        pytest.param(4, Rate(15, ahead=seconds(3)), id="below the floor"),
        pytest.param(5, Rate(15, ahead=seconds(4)), id="no earlier than this"),
        pytest.param(60, Rate(15, ahead=seconds(4)), id="however slow"),
    ],
)
def test_evictions_are_sent_as_fast_as_set_unless_answers_take_too_long(
    answer: float, expected: Rate
) -> None:
    usual = Usual(seconds(answer), seconds(answer))
    found = agenda.rate(60, usual, at_once=30, number=0)
    assert (found.per_second, found.ahead) == (expected.per_second, expected.ahead)


@pytest.mark.parametrize(
    ("answer", "shown", "owned", "replaced"),
    [
        (0.05, 40, 1 / 60, LEAST_THERE / 60),
        (0.05, 100, 1 / 100, LEAST_THERE / 60),
        (0.05, 250, 1 / 250, 1 / 250),
        (0.1, 250, 1 / 150, LEAST_THERE / 60),
        (0.5, 250, 1 / 60, LEAST_THERE / 60),
        (1, 250, 1 / 30, LEAST_THERE / 30),
    ],
    ids=["less", "more", "much more", "half of the session", "slow", "slower"],
)
def test_no_eviction_takes_longer_than_the_writes_that_the_api_server_took_of_late(
    answer: float, shown: float, owned: float, replaced: float
) -> None:
    """``owned`` and ``replaced``: the seconds of a slot without a replacement, and with one."""
    rate = agenda.rate(60, Usual(seconds(answer), seconds(answer), shown), at_once=30, number=0)
    found = [rate.slot(share).total_seconds() for share in (1, LEAST_THERE)]
    assert found == pytest.approx([owned, replaced], abs=1e-6)


def test_a_few_slow_answers_make_evictions_go_earlier_but_not_more_slowly() -> None:
    assert agenda.rate(60, Usual(seconds(0.2), seconds(3)), 30, 0) == Rate(60, ahead=seconds(2))


@pytest.mark.parametrize(("number", "reserve"), [(60, 0.1), (300, 0.5), (600, 1), (6_000, 1)])
def test_a_tenth_of_the_time_is_kept_for_a_pause_of_the_api_server(
    number: int, reserve: float
) -> None:
    assert agenda.rate(60, Usual(), 30, number) == Rate(60, ahead=seconds(reserve))


@given(
    per_second=st.floats(0.1, 1000),
    answer=st.timedeltas(timedelta(), seconds(600)),
    at_once=st.integers(1, 500),
    number=st.integers(0, 100_000),
    shown=st.floats(0, 1000),
)
def test_the_rate_is_never_above_its_setting_or_below_its_floor_nor_above_what_was_shown(
    per_second: float, answer: timedelta, at_once: int, number: int, shown: float
) -> None:
    found = agenda.rate(per_second, Usual(answer, answer, shown), at_once, number)
    assert 0.25 * per_second <= found.per_second <= per_second
    assert found.shown <= shown
    assert timedelta() <= found.ahead <= seconds(5)


@pytest.mark.parametrize(("lives", "where"), [(False, "dying"), (True, "healthy")])
def test_what_goes_with_its_gang_goes_from_a_healthy_node_within_its_budget(
    lives: bool,  # noqa: FBT001 - a table
    where: str,
) -> None:
    each = Forced(pod=builders.pod(), owner=OWNER, evict_by=NOW, together=True, lives=lives)
    eviction = each.eviction()
    assert eviction.reason == "GangBroken"
    assert f"from a {where} node" in eviction.message
    assert eviction.forced is not lives
    assert (each.share_remaining, each.may_leave) == (1, False), "of its workload nothing is known"
