"""A pod is told to go early enough for its grace period to fit before its node is lost."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from evenkeel.decisions.drain.deadlines import (
    Deadline,
    node_deadline,
    released_deadline,
)
from evenkeel.model.lifecycle import Handler, Lifecycle, SleepAction
from evenkeel.model.notice import NodeNotice, NoticeKind
from evenkeel.model.pod import Container
from evenkeel.model.release import ReleaseReason
from tests.kit import builders
from tests.kit.builders import NOW, seconds


@pytest.mark.parametrize(
    ("grace", "needed"),
    [
        (None, 30),
        (0, 0),
        (10, 10),
        (45, 45),
        (46, 45),
        (3600, 45),
        (-1, 0),
        (2**63 - 1, 45),
        (-(2**63), 0),
    ],
)
def test_the_eviction_deadline_leaves_a_second_and_the_grace_period_but_never_more_than_45_s(
    grace: int | None, needed: int
) -> None:
    pod = builders.pod(grace=grace)
    assert Deadline(NOW, forced=True).evict_by(pod) == NOW - seconds(needed + 1)


@pytest.mark.parametrize(("grace", "needed"), [(30, 30), (46, 46), (3600, 3600), (-1, 0)])
def test_a_pod_that_nothing_replaces_gets_all_of_it(grace: int, needed: int) -> None:
    evict_by = Deadline(NOW, forced=True).evict_by(builders.pod(grace=grace), is_replaced=False)
    assert evict_by == NOW - seconds(needed + 1)


@given(grace=st.integers(-(2**63), 2**63 - 1))
def test_no_grace_period_is_so_long_that_there_is_no_such_time(grace: int) -> None:
    pod = builders.pod(grace=grace)
    assert Deadline(NOW, forced=True).evict_by(pod, is_replaced=False) < NOW


@pytest.mark.parametrize(
    ("stops_in", "sleeps", "needed"),
    [(None, 0, 6), (2, 0, 6), (12, 0, 13), (None, 7, 13), (9, 7, 10), (None, 40, 31), (60, 0, 31)],
)
def test_a_pod_that_stands_last_gets_what_its_workload_needs_to_stop_or_a_few_seconds_from_sigterm(
    stops_in: int | None, sleeps: int, needed: int
) -> None:
    hook = Lifecycle(pre_stop=Handler(sleep=SleepAction(seconds=sleeps)))
    others = (Container(), Container(lifecycle=Lifecycle()))
    pod = builders.pod(grace=30)
    spec = structs.replace(pod.spec, containers=(*others, Container(lifecycle=hook)))
    pod = structs.replace(pod, spec=spec)
    seen = None if stops_in is None else seconds(stops_in)
    assert Deadline(NOW, forced=True).latest(pod, seen) == NOW - seconds(needed)


@given(grace=st.integers(-(2**31), 2**31))
def test_the_eviction_deadline_is_always_before_the_deadline(grace: int) -> None:
    assert Deadline(NOW, forced=True).evict_by(builders.pod(grace=grace)) < NOW


@pytest.mark.parametrize(
    ("kind", "forced"),
    [
        (NoticeKind.INTERRUPTION, True),
        (NoticeKind.STATE_CHANGE, True),
        (NoticeKind.REBALANCE, False),
    ],
)
def test_a_pod_is_forced_off_unless_a_mere_hint_came(kind: NoticeKind, *, forced: bool) -> None:
    notice = builders.notice(kind)
    assert node_deadline(notice) == Deadline(notice.deadline, forced=forced)


IN_20_S, IN_90_S, IN_120_S, IN_15_MIN = (NOW + seconds(s) for s in (20, 90, 120, 900))


@pytest.mark.parametrize(
    ("reason", "own", "notice", "expected"),
    [
        pytest.param(
            ReleaseReason.INTERRUPTION,
            IN_120_S,
            builders.notice(deadline=IN_90_S),
            Deadline(IN_90_S, forced=True),
            id="the node dies earlier than was known",
        ),
        pytest.param(
            ReleaseReason.REBALANCE,
            IN_15_MIN,
            builders.notice(deadline=IN_120_S),
            Deadline(IN_120_S, forced=True),
            id="a warning follows the recommendation",
        ),
        pytest.param(
            ReleaseReason.REBALANCE,
            IN_20_S,
            builders.notice(deadline=IN_120_S),
            Deadline(IN_120_S, forced=True),
            id="a warning follows a recommendation that was about to expire",
        ),
        pytest.param(
            ReleaseReason.RESTORE,
            IN_15_MIN,
            builders.notice(deadline=IN_120_S),
            Deadline(IN_120_S, forced=True),
            id="a warning comes in the middle of a restore",
        ),
        pytest.param(
            ReleaseReason.REBALANCE,
            IN_120_S,
            builders.hint(deadline=IN_15_MIN),
            Deadline(IN_120_S, forced=False),
            id="a later recommendation",
        ),
        pytest.param(
            ReleaseReason.RESTORE,
            IN_15_MIN,
            builders.hint(deadline=IN_120_S),
            Deadline(IN_120_S, forced=False),
            id="a recommendation in the middle of a restore",
        ),
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
    assert released_deadline(release, None) == Deadline(NOW + seconds(900), forced=False)


@pytest.mark.parametrize(
    ("ends", "longer", "expected"),
    [
        pytest.param(330, 0, 330, id="its own"),
        pytest.param(330, 600, 930, id="as much later as its replacement may take"),
        pytest.param(330, 3_600, 3_630, id="an hour and what its drainer takes at most"),
        pytest.param(86_400, 0, 3_630, id="and no later by what it says itself"),
    ],
)
def test_a_pod_whose_eviction_was_asked_for_goes_back(
    ends: float, longer: float, expected: float
) -> None:
    release = builders.release(reason=ReleaseReason.EVICTION, deadline=NOW + seconds(ends))
    found = released_deadline(release, None, seconds(longer))
    assert found == Deadline(NOW + seconds(expected), forced=False)


@pytest.mark.parametrize(("longer", "at"), [(60, 390), (600, 900)], ids=["its own", "its node's"])
def test_under_a_hint_it_goes_back_later_as_well(longer: float, at: float) -> None:
    release = builders.release(reason=ReleaseReason.EVICTION, deadline=NOW + seconds(330))
    found = released_deadline(release, builders.hint(deadline=IN_15_MIN), seconds(longer))
    assert found == Deadline(NOW + seconds(at), forced=False)
