"""The account of an interruption: what the functions' records say together."""

from collections.abc import Sequence
from typing import Any

import pytest

from evenkeel.model.meta import Reference
from evenkeel_cli.history import incident
from evenkeel_cli.history.counts import Cause
from evenkeel_cli.history.cutting import NoteRecord, Record
from evenkeel_cli.history.incident import Incident
from evenkeel_cli.history.pods import PodAccount
from evenkeel_cli.history.workloads import Verdict
from evenkeel_cli.moves import Move
from tests.unit.cli.history.records import WEB, at, counted, decided, marked, of_pod


def account(*records: Record) -> Incident:
    found = incident.of(records)
    assert found is not None
    return found


def one_pod(*records: Record) -> PodAccount:
    (pod,) = account(*records).pods
    return pod


def test_without_a_record_nothing_happened() -> None:
    assert incident.of([]) is None


def test_records_may_come_in_any_order() -> None:
    records = [marked(0), of_pod(1, "release", "NodeDoomed"), counted(2, 3), of_pod(9, "evict", "")]
    assert incident.of(reversed(records)) == incident.of(records)


def test_a_node_has_its_notice_its_deadline_and_its_late_pods() -> None:
    found = account(
        marked(0, until=at(900), reason="RebalanceRecommendation"),
        marked(5, until=at(125)),
        of_pod(10, "evict", "ReplacementAvailable"),
        of_pod(100, "evict", "LastMoment", "web-2", warning=True, forced=True),
    )
    (node,) = found.nodes
    assert (node.kind, node.noticed_at, node.deadline) == ("SpotInterruption", at(0), at(125))
    assert (node.pods, node.late) == (2, 1)


def test_a_node_whose_mark_is_not_in_the_log_is_there_all_the_same() -> None:
    (node,) = account(of_pod(10, "release", "NodeDoomed")).nodes
    assert (node.name, node.kind, node.deadline) == ("a", "", None)


HOW: dict[str, dict[str, Any]] = {
    "late": {"warning": True, "forced": True},
    "forced": {"forced": True},
    "at-once": {"way": "at-once"},
    "rationed": {"way": "rationed"},
}
"""What is told of a step beside its verb and reason."""


@pytest.mark.parametrize(
    ("story", "way", "reason", "late"),
    [
        (["release NodeDoomed", "evict Done"], Move.HANDED_OVER, "Done", False),
        (["wait Pending", "evict LastMoment late"], Move.LAST_MOMENT, "Pending", True),
        (["evict LastMoment late"], Move.LAST_MOMENT, "", True),
        (["wait Pending", "evict LastMoment forced"], Move.LAST_MOMENT, "Pending", False),
        (["wait JobMayFinish", "evict LastMoment late"], Move.LAST_MOMENT, "JobMayFinish", False),
        (["evict Recreate at-once"], Move.AT_ONCE, "Recreate", False),
        (["evict HandoverNever rationed"], Move.IN_TURNS, "HandoverNever", False),
        (["leave DaemonSet"], Move.LEFT, "DaemonSet", False),
        (["delete NodeGone"], Move.LOST, "NodeGone", True),
        (["release NodeDoomed", "roll-back NoWay"], Move.PUT_BACK, "NoWay", False),
        (["wait Pending"], Move.WAITING, "Pending", False),
        (["wait Pending", "evict LastMoment late", "evict Done"], Move.HANDED_OVER, "Done", False),
    ],
)
def test_a_pod_went_the_way_that_its_last_decision_says(
    story: Sequence[str], way: Move, reason: str, *, late: bool
) -> None:
    full = {
        "Done": "ReplacementAvailable",
        "Pending": "ReplacementPending",
        "NoWay": "CannotBeReplaced",
    }
    steps = []
    for second, step in enumerate(story):
        verb, why, *more = step.split()
        steps.append(of_pod(second, verb, full.get(why, why), **HOW.get("".join(more), {})))
    pod = one_pod(marked(0), *steps)
    assert (pod.way, pod.reason, pod.is_late) == (way, full.get(reason, reason), late)
    assert pod.why


@pytest.mark.parametrize(
    ("reason", "way"),
    [("ReplacementPending", Move.LOST), ("JobMayFinish", Move.FINISHED)],
)
def test_a_pod_that_was_never_told_to_go_ended_with_its_node(reason: str, way: Move) -> None:
    end = decided(130, "complete", "InstanceOff", Reference("Node", "a"), node="a")
    pod = one_pod(marked(0), of_pod(1, "wait", reason), end)
    assert (pod.way, pod.is_late) == (way, way is Move.LOST)


def test_a_pod_that_is_back_with_its_owner_is_not_released_any_more() -> None:
    released = of_pod(1, "release", "NodeDoomed")
    assert one_pod(released).released_at == at(1)
    assert one_pod(released, of_pod(2, "roll-back", "QuotaRefuses")).released_at is None


def test_a_pod_went_when_it_was_evicted() -> None:
    assert one_pod(of_pod(1, "release", "NodeDoomed")).went_at is None
    assert one_pod(of_pod(7, "evict", "ReplacementAvailable")).went_at == at(7)


def test_a_workloads_dip_is_reckoned_from_its_counts() -> None:
    (web,) = account(
        of_pod(19, "evict", "Recreate"),
        counted(0, 3),
        counted(10, 5),
        counted(20, 1),
        counted(25, 0),
        counted(31, 2),
        counted(40, 3),
    ).workloads
    assert (web.wanted, web.lowest, web.most_beside) == (3, 0, 2)
    assert (web.below, web.at_zero) == (20, 6)
    assert web.dipped
    assert not web.ends_below


def test_how_long_the_last_count_lasted_is_not_known() -> None:
    gone = of_pod(10, "evict", "Recreate")
    (web,) = account(counted(0, 3), gone, counted(10, 2), marked(60)).workloads
    assert (web.below, web.dipped, web.ends_below) == (0, True, True)


def test_a_workload_that_is_scaled_down_after_its_dip_was_no_lower() -> None:
    gone = of_pod(9, "evict", "Recreate")
    (web,) = account(counted(0, 3), gone, counted(10, 2), counted(20, 1, wanted=1)).workloads
    assert (web.lowest, web.was_at_zero) == (2, False)
    (web,) = account(counted(0, 3), gone, counted(10, 2), counted(20, 0, wanted=0)).workloads
    assert (web.lowest, web.was_at_zero) == (2, False)


def test_a_workload_that_is_scaled_to_zero_is_not_at_zero() -> None:
    (web,) = account(counted(0, 0, wanted=0), counted(10, 0, wanted=0)).workloads
    assert (web.at_zero, web.dipped) == (0, False)


def test_a_workload_without_counts_says_nothing_of_them() -> None:
    (web,) = account(of_pod(1, "evict", "Recreate")).workloads
    assert (web.wanted, web.lowest, web.most_beside, web.dipped) == (None, None, None, False)


def test_pods_without_a_workload_are_others() -> None:
    found = account(of_pod(1, "leave", "DaemonSet", workload=None))
    assert not found.workloads
    assert [pod.subject.name for pod in found.others] == ["web-1"]


def test_a_stateful_sets_next_pod_of_the_same_name_is_another_pod() -> None:
    first = decided(1, "evict", "StatefulSet", Reference("Pod", "db-0", "data", "one"))
    second = decided(9, "evict", "StatefulSet", Reference("Pod", "db-0", "data", "two"))
    assert len(account(first, second).others) == 2


def test_new_pods_places_belong_to_no_interruption() -> None:
    assert incident.of([of_pod(1, "place", "InFloor")]) is None


def test_notes_are_kept() -> None:
    note = NoteRecord(time=at(4), message="the eviction of pod shop/web-1 is refused")
    (kept,) = account(marked(0), note).notes
    assert (kept.at, kept.message) == (at(4), note.message)


def test_it_is_said_when_nothing_was_done() -> None:
    assert account(marked(0, mode="observe")).observed
    assert not account(marked(0)).observed


def test_what_is_decided_about_a_workload_itself_is_in_its_account() -> None:
    replica_set = Reference("ReplicaSet", "web-1234", "shop")
    (web,) = account(decided(3, "try-again", "QuotaRefuses", replica_set, workload=WEB)).workloads
    assert (web.subject, [step.reason for step in web.steps]) == (WEB, ["QuotaRefuses"])


def test_the_time_between_two_interruptions_is_nobodys_outage() -> None:
    first = [marked(0), counted(1, 3), counted(10, 0), counted(20, 1)]
    second = [marked(20_000), counted(20_001, 3), counted(20_005, 2), counted(20_015, 3)]
    gone = [of_pod(time, "evict", "Recreate", f"web-{time}") for time in (10, 20_005)]
    (web,) = account(*first, *second, *gone).workloads
    assert (web.below, web.at_zero, web.ends_below) == (10 + 10, 10, True)


def test_the_count_that_ends_a_dip_ends_it_however_late_it_comes() -> None:
    storm = [marked(0), of_pod(10, "evict", "Recreate"), counted(10, 2)]
    whole = counted(1_500, 3)
    (web,) = account(*storm, whole).workloads
    assert (web.below, web.ends_below) == (1_490, False)


WHOSE: list[tuple[list[Record], Cause]] = [
    ([counted(0, 3), of_pod(10, "evict", "Recreate"), counted(10, 2)], Cause.STORM),
    (
        [counted(0, 3), of_pod(10, "release", "AboveFloor", node="b"), counted(12, 2)],
        Cause.OTHERS,
    ),
    ([counted(0, 3), of_pod(10, "evict", "FloorMissing", node="b"), counted(10, 2)], Cause.RESTORE),
    (
        [
            counted(0, 3),
            of_pod(5, "release", "EvictionAsked", node="b"),
            of_pod(10, "evict", "ReplacementAvailable", node="b"),
            counted(10, 2),
        ],
        Cause.ASKED,
    ),
    ([counted(0, 3), counted(10, 3, wanted=5)], Cause.SCALED),
    ([counted(0, None), counted(10, 2)], Cause.ROLLOUT),
    ([counted(0, 2)], Cause.BEFORE),
    ([counted(0, 3), counted(10, 1), counted(20, 2)], Cause.OTHERS),
    ([counted(0, 0), of_pod(9, "evict", "StatefulSet"), counted(10, 1)], Cause.BEFORE),
    ([counted(0, 0, wanted=0), counted(10, 0)], Cause.SCALED),
    (
        [
            counted(0, 1),
            of_pod(9, "evict", "StatefulSet", node="b"),
            counted(10, 0),
            counted(20, 1),
        ],
        Cause.STORM,
    ),
]
"""Records, and on whose part the last count of them is low."""


@pytest.mark.parametrize(("records", "cause"), WHOSE)
def test_a_dip_is_on_the_part_of_who_took_the_pods(records: list[Record], cause: Cause) -> None:
    (web,) = account(marked(0), *records, counted(50, 5, wanted=5)).workloads
    assert web.counts[-2].cause is cause
    assert web.dipped is (cause is Cause.STORM)
    assert (cause in web.dips_of_others) is (cause is not Cause.STORM)


def test_a_pod_that_is_lost_is_missed_when_its_node_ends() -> None:
    off = decided(90, "complete", "InstanceOff", Reference("Node", "a"), node="a")
    told = [marked(0), of_pod(5, "wait", "ReplacementPending"), off]
    (web,) = account(counted(0, 3), *told, counted(90, 2), counted(150, 3)).workloads
    assert web.counts[-2].cause is Cause.STORM


def test_restores_moves_are_no_part_of_the_interruption() -> None:
    moved = [
        of_pod(9, "release", "AboveFloor", "web-2", node="b"),
        of_pod(20, "evict", "ReplacementAvailable", "web-2", node="b"),
    ]
    found = account(marked(0), of_pod(1, "evict", "ReplacementAvailable"), counted(2, 3), *moved)
    assert [pod.subject.name for pod in found.to_move] == ["web-1"]
    assert [node.name for node in found.nodes] == ["a"]
    (web,) = found.workloads
    assert web.is_concerned
    assert web.verdict is Verdict.KEPT


def test_a_workload_that_restore_leaves_without_a_pod_has_failed() -> None:
    gone = of_pod(10, "evict", "FloorMissing", "web-2", node="b")
    kept = of_pod(1, "evict", "ReplacementAvailable")
    found = account(marked(0), kept, counted(2, 1, 1), gone, counted(10, 0, 1), counted(20, 1, 1))
    assert [each.verdict for each in found.workloads] == [Verdict.FAILED]


def test_what_was_not_counted_is_not_known() -> None:
    gone = of_pod(1, "evict", "ReplacementAvailable")
    for counts in ([], [counted(1, 3), counted(5, None)]):
        (web,) = account(marked(0), gone, *counts).workloads
        assert web.verdict is Verdict.UNKNOWN
    (web,) = account(gone, counted(1, 2), counted(1.1, None), counted(90, 3)).workloads
    assert (web.below, web.ends_below) == (0.1, True)


def test_what_serves_nobody_is_in_no_count_of_workloads() -> None:
    job = Reference("Job", "import", "batch")
    found = account(marked(0), of_pod(1, "evict", "LastMoment", workload=job))
    assert not found.concerned
    assert [pod.is_late for pod in found.to_move] == [False]
