"""What a storm that was watched comes to: three values of OK, and one sentence everywhere."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.adapters.telemetry.decision_log import CountRecord, pod_count
from evenkeel.model.interruption import key_of
from evenkeel.model.meta import Reference
from evenkeel_cli import report
from evenkeel_cli.history import headline, incident
from evenkeel_cli.history.cutting import Record
from evenkeel_cli.history.incident import Incident, Seen
from evenkeel_cli.history.pods import PodAccount
from evenkeel_cli.history.workloads import Verdict
from evenkeel_cli.moves import Move
from tests.unit.cli.history.records import WEB, at, counted, marked, of_pod

LATE: dict[str, Any] = {"forced": True, "warning": True}
HANDED_OVER = of_pod(9, "evict", "ReplacementAvailable")
TOO_LATE = of_pod(100, "evict", "LastMoment", **LATE)
POD = Reference("Pod", "web-2", "shop", "other")


def seen(*counts: Record, lost: Sequence[PodAccount] = ()) -> Seen:
    """Counts of an observer, and the pods that were lost though nothing was decided about them."""
    seen = [pod_count(each) for each in counts if isinstance(each, CountRecord)]
    return Seen(at(200), seen, lost)


def account(*records: Record, watched: Seen, plain: int = 0) -> Incident:
    return incident.seen([marked(0), *records], watched, plain={key_of(WEB): plain})


NONE_FOR_TEN = seen(counted(0, 2, 2), counted(101, 0, 2), counted(111, 2, 2))
ONE_FOR_TEN = seen(counted(0, 2, 2), counted(101, 1, 2), counted(111, 2, 2))
WHOLE = seen(counted(0, 2, 2), counted(8, 3, 2), counted(9, 2, 2))
PENDING = of_pod(2, "wait", "ReplacementPending", cause="it was not there in time")
NO_PLACE = of_pod(2, "wait", "NoPlace", message="no place for its replacement: 0/3 nodes.")


@pytest.mark.parametrize(
    ("records", "watched", "verdict", "why"),
    [
        pytest.param([HANDED_OVER], WHOLE, "kept", "", id="replaced first"),
        pytest.param([PENDING, TOO_LATE], NONE_FOR_TEN, "failed", "in time", id="at none"),
        pytest.param([PENDING, TOO_LATE], ONE_FOR_TEN, "dipped", "in time", id="one was left"),
        pytest.param([NO_PLACE, TOO_LATE], NONE_FOR_TEN, "dipped", "0/3 nodes", id="no place"),
        pytest.param([TOO_LATE], NONE_FOR_TEN, "failed", "by its last moment", id="no reason"),
        pytest.param(
            [of_pod(101, "evict", "Recreate")], NONE_FOR_TEN, "dipped", "Recreate", id="its owner"
        ),
        pytest.param(
            [HANDED_OVER],
            seen(counted(0, 2, 2), counted(9, 1, 2)),
            "failed",
            "",
            id="none of its pods says why",
        ),
    ],
)
def test_a_workload_was_kept_or_dipped_for_a_reason_or_failed(
    records: list[Record], watched: Seen, verdict: str, why: str
) -> None:
    found = account(*records, watched=watched)
    (item,) = report.workloads(found)
    assert item.ok == verdict
    assert item.why.endswith(why)
    assert bool(report.failures(found)) is (verdict == "failed")


def test_a_pod_that_was_lost_without_a_decision_is_a_failure_if_there_was_time() -> None:
    counts = counted(0, 1, 1), counted(121, 0, 1), counted(150, 1, 1)
    for warned, verdict, why in (
        (True, Verdict.FAILED, "it was not replaced by its last moment"),
        (False, Verdict.DIPPED, "its node left no time for a handover"),
    ):
        lost = PodAccount(
            subject=POD, node="a", workload=WEB, way=Move.LOST, warned=warned, lost_at=at(121)
        )
        found = incident.seen([], seen(*counts, lost=[lost]))
        assert [(each.verdict, each.why) for each in found.workloads] == [(verdict, why)]


def test_a_watched_dip_that_does_not_end_lasts_until_the_watch_does() -> None:
    found = account(TOO_LATE, watched=seen(counted(0, 2, 2), counted(100, 0, 2)))
    (web,) = found.workloads
    assert (web.below, web.at_zero, web.ends_below) == (100, 100, False)


def test_one_sentence_says_what_became_of_all_and_one_what_a_plain_eviction_does() -> None:
    found = account(PENDING, TOO_LATE, watched=ONE_FOR_TEN)
    assert headline.of(found) == (
        "Of 1 workload with pods that had to move none kept all that are wanted, 1 dipped for a"
        " reason that is named, none failed; 1 of 1 pod was late."
    )
    assert headline.of_plain(found).endswith(
        "left 1 of 1 workload with fewer than wanted, 1 of them with none, and none with more than"
        " Evenkeel did."
    )
    assert headline.of_plain(account(HANDED_OVER, watched=WHOLE, plain=2)).endswith(
        "left none of 1 workload with fewer than wanted, and none with more than Evenkeel did."
    )
    worse = account(PENDING, TOO_LATE, watched=ONE_FOR_TEN, plain=2)
    assert headline.of_plain(worse).endswith(
        "and 1 with more than Evenkeel did, an error of Evenkeel: deployment shop/web (1, not 2)."
    )


def test_without_a_pod_to_move_there_is_nothing_to_tell() -> None:
    empty = Incident(cluster="demo", begins=at(0), ends=at(0) + timedelta(seconds=1))
    assert headline.of(empty) == "No workload had pods that had to move."
    assert not headline.of_plain(empty)
    assert not report.workloads(empty)


def test_a_failure_counts_when_its_namespace_is_not_shown() -> None:
    found = account(TOO_LATE, watched=NONE_FOR_TEN)
    assert not report.workloads(found, "other")
    assert not report.moves(found, "other")
    assert report.failures(found)


def test_programs_get_numbers() -> None:
    (item,) = report.workloads(account(HANDED_OVER, watched=WHOLE))
    assert (item.wanted, item.lowest, item.plain, item.moves) == (2, 2, 0, {"handed over": 1})
