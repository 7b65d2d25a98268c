"""A pod is told to go early enough for its grace period to fit before its node is lost."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.drain import deadlines
from evenkeel.decisions.drain.deadlines import (
    EVICTIONS_PER_SECOND,
    LONGEST_UNNOTICED,
    SHARES,
    Deadline,
    Going,
    Leaving,
    count_margins,
    node_deadline,
    released_deadline,
)
from evenkeel.model.notice import NodeNotice, NoticeKind
from evenkeel.model.release import ReleaseReason
from tests import builders
from tests.builders import NOW, seconds

NOTHING_QUEUED = timedelta()


@pytest.mark.parametrize(
    ("grace", "needed"),
    [(None, 30), (0, 0), (10, 10), (45, 45), (46, 45), (3600, 45), (-1, 0)],
)
def test_the_last_moment_leaves_a_second_and_the_grace_period_but_never_more_than_45_s(
    grace: int | None, needed: int
) -> None:
    pod = builders.pod(grace=grace)
    last = Deadline(NOW, forced=True).last_moment(pod, NOTHING_QUEUED)
    assert last == NOW - seconds(needed + 1)


def test_the_last_moment_comes_earlier_when_evictions_are_queued() -> None:
    deadline, pod = Deadline(NOW, forced=True), builders.pod()
    alone = deadline.last_moment(pod, NOTHING_QUEUED)
    assert deadline.last_moment(pod, seconds(7)) == alone - seconds(7)


@given(grace=st.integers(-(2**31), 2**31), queued=st.integers(0, 600))
def test_the_last_moment_is_always_before_the_deadline(grace: int, queued: int) -> None:
    pod = builders.pod(grace=grace)
    assert Deadline(NOW, forced=True).last_moment(pod, seconds(queued)) < NOW


@pytest.mark.parametrize(
    ("kind", "forced"),
    [
        (NoticeKind.INTERRUPTION, True),
        (NoticeKind.STATE_CHANGE, True),
        (NoticeKind.REBALANCE, False),
    ],
)
def test_a_pod_is_forced_off_unless_the_notice_is_a_mere_hint(
    kind: NoticeKind, *, forced: bool
) -> None:
    notice = builders.notice(kind)
    assert node_deadline(notice) == Deadline(notice.deadline, forced=forced)


IN_20_S, IN_90_S, IN_120_S, IN_15_MIN = (NOW + seconds(s) for s in (20, 90, 120, 900))


@pytest.mark.parametrize(
    ("reason", "own", "notice", "expected"),
    [
        (
            ReleaseReason.INTERRUPTION,
            IN_120_S,
            builders.notice(deadline=IN_90_S),
            Deadline(IN_90_S, forced=True),
        ),
        (
            ReleaseReason.REBALANCE,
            IN_15_MIN,
            builders.notice(deadline=IN_120_S),
            Deadline(IN_120_S, forced=True),
        ),
        (
            ReleaseReason.REBALANCE,
            IN_20_S,
            builders.notice(deadline=IN_120_S),
            Deadline(IN_120_S, forced=True),
        ),
        (
            ReleaseReason.RESTORE,
            IN_15_MIN,
            builders.notice(deadline=IN_120_S),
            Deadline(IN_120_S, forced=True),
        ),
        (
            ReleaseReason.REBALANCE,
            IN_120_S,
            builders.hint(deadline=IN_15_MIN),
            Deadline(IN_120_S, forced=False),
        ),
        (
            ReleaseReason.RESTORE,
            IN_15_MIN,
            builders.hint(deadline=IN_120_S),
            Deadline(IN_120_S, forced=False),
        ),
    ],
    ids=[
        "the node dies earlier than was known",
        "a warning follows the recommendation",
        "a warning follows a recommendation that was about to expire",
        "a warning comes in the middle of a restore",
        "a later recommendation",
        "a recommendation in the middle of a restore",
    ],
)
def test_a_released_pod_has_its_dying_nodes_deadline_and_under_a_hint_the_earlier_of_both(
    reason: ReleaseReason, own: datetime, notice: NodeNotice, expected: Deadline
) -> None:
    release = builders.release(reason=reason, deadline=own)
    assert released_deadline(release, notice) == expected


@pytest.mark.parametrize("reason", ReleaseReason)
def test_a_released_pod_goes_back_at_its_deadline_when_its_node_lives_after_all(
    reason: ReleaseReason,
) -> None:
    release = builders.release(reason=reason, deadline=IN_120_S)
    assert released_deadline(release, None) == Deadline(IN_120_S, forced=False)


def test_a_released_pod_goes_back_before_long_when_no_notice_says_how_long_it_may_take() -> None:
    release = builders.release(deadline=NOW + timedelta(days=1))
    assert released_deadline(release, None) == Deadline(NOW + LONGEST_UNNOTICED, forced=False)


@pytest.fixture
def no_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadlines, "RESERVE", 0.0)


@pytest.mark.parametrize(("pods", "expected"), [(0, 0), (150, 1), (3000, 20)])
def test_the_margin_of_the_replaced_is_what_all_with_the_same_deadline_need(
    pods: int, expected: int
) -> None:
    leaving = Leaving({IN_120_S: Going(everybody=pods, unreplaced=0)})
    assert count_margins([leaving]) == {IN_120_S: builders.margin(replaced=expected)}


@pytest.mark.usefixtures("no_reserve")
def test_whoever_has_to_go_earlier_is_before_those_who_go_later_and_not_the_other_way_round() -> (
    None
):
    later = IN_120_S + seconds(60)
    found = count_margins([Leaving({later: Going(600, 120), IN_120_S: Going(240, 240)})])
    assert (found[IN_120_S].replaced, found[IN_120_S].first) == (seconds(4), seconds(4))
    assert (found[later].replaced, found[later].first) == (seconds(6), seconds(6))


@pytest.mark.usefixtures("no_reserve")
def test_a_pod_goes_first_after_which_most_of_its_workload_is_left() -> None:
    """Of the 5 s that all need: each begins so early that it and those after it still can go."""
    quarter = {"left": 0.25, "each": 0.25}
    margin = count_margins(
        [
            Leaving({IN_120_S: Going(60, 60)}, left=0.0, each=1.0),
            *[Leaving({IN_120_S: Going(3, 2)}, **quarter)] * 60,
            Leaving({IN_120_S: Going(120, 120)}),
        ]
    )[IN_120_S]
    assert margin.of(0.0) == seconds(1 / 60)
    assert margin.of(0.25) == margin.of(0.49) == seconds(61 / 60)
    assert margin.of(0.5) == margin.of(0.99) == seconds(121 / 60)
    assert margin.of(1.0) == margin.of(60.0) == margin.first == seconds(5)
    assert margin.replaced == seconds(5)


@pytest.mark.parametrize(("pods", "reserve"), [(0, 0), (60, 0.1), (600, 1), (1200, 2), (6000, 2)])
def test_a_tenth_more_time_is_kept_for_an_api_server_that_pauses(pods: int, reserve: float) -> None:
    """And so for the last of them too, which is where it would be missing."""
    workload = Leaving({IN_120_S: Going(pods, pods)}, left=0.0, each=1 / max(1, pods))
    margin = count_margins([workload])[IN_120_S]
    assert margin.replaced == margin.first == seconds(pods / 60 + reserve)
    assert seconds(reserve) <= margin.of(0.0) <= seconds(pods / 60 / SHARES + reserve + 0.1)


@pytest.mark.usefixtures("no_reserve")
def test_what_goes_by_a_later_deadline_is_still_left_before_it() -> None:
    later = IN_120_S + seconds(60)
    leaving = Leaving({IN_120_S: Going(1, 1), later: Going(1, 1)}, left=0.0, each=0.5)
    found = count_margins([leaving])
    assert (found[IN_120_S].of(0.49), found[IN_120_S].of(0.5)) == (seconds(0), seconds(1 / 60))
    assert found[later].of(0.0) == seconds(2 / 60)


GOING = st.integers(0, 100).flatmap(
    lambda everybody: st.builds(Going, st.just(everybody), st.integers(0, everybody))
)
LEAVING = st.builds(
    Leaving,
    st.dictionaries(st.sampled_from([IN_120_S, IN_120_S + seconds(7)]), GOING),
    st.floats(0, 1),
    st.floats(0, 0.1),
)


@given(st.lists(LEAVING, max_size=8))
def test_all_can_go_in_time_if_each_begins_when_its_margin_says(leaving: list[Leaving]) -> None:
    for at, margin in count_margins(leaving).items():
        assert list(margin.unreplaced) == sorted(margin.unreplaced)
        gone_by_then = sum(
            going.unreplaced for each in leaving for due, going in each.going.items() if due <= at
        )
        assert margin.first >= seconds(gone_by_then / EVICTIONS_PER_SECOND)
        assert margin.replaced >= margin.first
