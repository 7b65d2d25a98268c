"""Workloads about which writes are refused: from when they rest, and for how long."""

from collections.abc import Mapping

import pytest

from evenkeel.errors import (
    AlreadyExistsError,
    ClusterError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    ThrottledError,
    UnauthenticatedError,
)
from evenkeel.flows.restore.refusals import RefusedWorkloads
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.reasons import Reason
from evenkeel.model.release import FORGOTTEN_AFTER, rest_after
from tests.kit import builders
from tests.kit.builders import NOW, seconds

DECISION = Decision.about(builders.pod(), Verb.RELEASE, Reason.ABOVE_FLOOR, "so it is")
NO = ForbiddenError("the platform team says no")


def refused(error: ClusterError, *keys: str) -> Mapping[str, tuple[Decision, ClusterError]]:
    return dict.fromkeys(keys or ("web",), (DECISION, error))


def test_a_workload_rests_from_the_second_refusal_in_a_row_and_begins_to_once() -> None:
    known = RefusedWorkloads()
    assert [known.heard((), refused(NO), NOW) for _ in range(4)] == [0, 1, 0, 0]


def test_several_begin_to_rest_at_once() -> None:
    known = RefusedWorkloads()
    assert known.heard((), refused(NO, "web", "db"), NOW) == 0
    assert known.heard((), refused(NO, "web", "db", "new"), NOW) == 2
    assert set(known.resting(NOW)) == {"web", "db"}


def test_it_rests_ever_longer() -> None:
    known = RefusedWorkloads()
    known.heard((), refused(NO), NOW)
    assert known.resting(NOW) == {}
    for failures in (1, 2, 3):
        known.heard((), refused(NO), NOW)
        (rest,) = known.resting(NOW).values()
        assert rest.until == NOW + rest_after(failures)
        assert rest.words == f"{Verb.RELEASE} is not taken: {NO}"
        assert known.resting(rest.until) == {}
        assert known.resting(rest.until - seconds(1)) != {}


def test_another_refusal_is_a_first_one() -> None:
    known = RefusedWorkloads()
    for error in (NO, InvalidError("no"), NO):
        assert known.heard((), refused(error), NOW) == 0
    assert known.resting(NOW) == {}


def test_what_was_done_is_refused_no_more() -> None:
    known = RefusedWorkloads()
    known.heard((), refused(NO), NOW)
    known.heard(["web", "never refused"], {}, NOW)
    assert known.heard((), refused(NO), NOW) == 0


@pytest.mark.parametrize(
    "error",
    [
        AlreadyExistsError("late"),
        ConflictError("late"),
        NotFoundError("gone"),
        ThrottledError("busy"),
        UnauthenticatedError("who?"),
    ],
)
def test_that_others_were_faster_or_it_is_busy_says_nothing_of_the_write(
    error: ClusterError,
) -> None:
    known = RefusedWorkloads()
    known.heard((), refused(error), NOW)
    known.heard((), refused(error), NOW)
    assert known.resting(NOW) == {}
    known.heard((), refused(NO), NOW)
    known.heard((), refused(error), NOW)
    assert known.heard((), refused(NO), NOW) == 1


def test_what_says_nothing_of_one_write_hides_no_other_refusal() -> None:
    known = RefusedWorkloads()
    both = {**refused(ConflictError("late"), "db"), **refused(NO, "web")}
    known.heard((), both, NOW)
    assert known.heard((), both, NOW) == 1
    assert set(known.resting(NOW)) == {"web"}


def test_refusals_are_forgotten_a_day_after_the_rest() -> None:
    for late, beginning in ((seconds(-1), 0), (seconds(0), 1)):
        known = RefusedWorkloads()
        known.heard((), refused(NO), NOW)
        known.heard((), refused(NO), NOW)
        (rest,) = known.resting(NOW).values()
        now = rest.until + FORGOTTEN_AFTER + late
        assert known.resting(now) == {}
        known.heard((), refused(NO), now)
        assert known.heard((), refused(NO), now) == beginning
