"""A pod is told to go early enough for its grace period to fit before its node is lost."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.drain.deadlines import (
    EVICTIONS_PER_SECOND,
    LONGEST_UNNOTICED,
    Deadline,
    Going,
    Leaving,
    Margin,
    count_margins,
    longest,
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


@pytest.mark.parametrize(("pods", "expected"), [(0, 0), (150, 1), (3000, 20)])
def test_the_margin_of_the_replaced_is_what_all_with_the_same_deadline_need(
    pods: int, expected: int
) -> None:
    leaving = {"web": Leaving({IN_120_S: Going(everybody=pods, unreplaced=0)})}
    assert count_margins(leaving) == {"web": {IN_120_S: Margin(seconds(expected), seconds(0))}}


def test_whoever_has_to_go_earlier_is_before_those_who_go_later_and_not_the_other_way_round() -> (
    None
):
    later = IN_120_S + seconds(60)
    leaving = {"web": Leaving({later: Going(600, 150), IN_120_S: Going(300, 300)})}
    assert count_margins(leaving)["web"] == {
        IN_120_S: Margin(seconds(4), seconds(4)),
        later: Margin(seconds(6), seconds(6)),
    }


def test_those_go_last_of_whom_least_would_be_left() -> None:
    """Of the 8 s that all need: each begins so early that it and those after it still can go."""
    leaving = {
        "rich": Leaving({IN_120_S: Going(300, 150)}, left=0.9),
        "poor": Leaving({IN_120_S: Going(75, 75)}, left=0.2),
        "none": Leaving({IN_120_S: Going(75, 75)}, left=0.0),
        "a-larger": Leaving({IN_120_S: Going(150, 150)}, left=0.0),
        "whole": Leaving({IN_120_S: Going(150, 150)}),
    }
    found = {key: margins[IN_120_S] for key, margins in count_margins(leaving).items()}
    assert {key: margin.unreplaced for key, margin in found.items()} == {
        "none": seconds(1),
        "a-larger": seconds(3),
        "poor": seconds(4),
        "rich": seconds(6),
        "whole": seconds(8),
    }
    assert {margin.replaced for margin in found.values()} == {seconds(8)}


GOING = st.integers(0, 500).flatmap(
    lambda everybody: st.builds(Going, st.just(everybody), st.integers(0, everybody))
)
LEAVING = st.builds(
    Leaving,
    st.dictionaries(st.sampled_from([IN_120_S, IN_120_S + seconds(7)]), GOING),
    st.floats(0, 1),
)


@given(st.dictionaries(st.text("abc", max_size=2), LEAVING, max_size=8))
def test_all_can_go_in_time_if_each_begins_when_its_margin_says(
    leaving: dict[str, Leaving],
) -> None:
    margins = count_margins(leaving)
    assert margins.keys() == leaving.keys()
    for at in (IN_120_S, IN_120_S + seconds(7)):
        jobs = [
            (margins[key][at].unreplaced, each.going[at].unreplaced)
            for key, each in leaving.items()
            if at in each.going
        ]
        for margin, _ in jobs:
            until_the_end = sum(number for other, number in jobs if other <= margin)
            assert until_the_end / EVICTIONS_PER_SECOND <= margin.total_seconds() + 1e-6


def test_the_longest_margin_of_a_deadline_is_that_of_whoever_goes_first() -> None:
    soon, late = Margin(seconds(5), seconds(2)), Margin(seconds(4), seconds(3))
    assert longest([{IN_120_S: soon}, {IN_120_S: late}, {NOW: soon}]) == {
        IN_120_S: Margin(seconds(5), seconds(3)),
        NOW: soon,
    }
