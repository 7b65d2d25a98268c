"""Where one interruption of a log ends, and the next one begins."""

from evenkeel_cli.history import cutting
from evenkeel_cli.history.cutting import NoteRecord
from tests.unit.cli.history.records import at, counted, marked, of_pod


def test_a_log_without_a_record_has_no_interruption() -> None:
    assert cutting.last([]) == []


def test_the_last_interruption_begins_after_a_quiet_time() -> None:
    earlier = [marked(0), of_pod(100, "evict", "ReplacementAvailable")]
    later = [marked(1_000, "b"), of_pod(1_100, "evict", "ReplacementAvailable")]
    restored = [of_pod(3_000, "evict", "ReplacementAvailable")]
    notes = [NoteRecord(time=at(6_000), message="lost")]
    assert cutting.last([*earlier, *later, *restored, *notes]) == later


def test_notes_in_the_quiet_time_do_not_join_two_interruptions() -> None:
    between = [NoteRecord(time=at(100 + 60 * minute), message="asked") for minute in range(15)]
    during = NoteRecord(time=at(1_050), message="refused")
    later = [marked(1_000, "b"), of_pod(1_100, "evict", "ReplacementAvailable")]
    found = cutting.last([marked(0), *between, *later, during])
    assert found == [later[0], during, later[1]]


def test_without_a_mark_the_last_interruption_is_the_last_that_happened() -> None:
    records = [of_pod(0, "release", "NodeDoomed"), of_pod(1_000, "release", "NodeDoomed", "web-2")]
    assert cutting.last(records) == records[1:]


def test_it_lasts_until_all_deadlines_have_passed() -> None:
    """A pod that nothing moves for ten minutes goes at its last moment: that is why one looks."""
    storm = [marked(0, until=at(900)), of_pod(1, "wait", "ReplacementPending"), counted(2, 3)]
    end = [of_pod(850, "evict", "ReplacementPending", forced=True, warning=True)]
    assert cutting.last([*storm, *end]) == [*storm, *end]


def test_the_count_that_ends_a_dip_belongs_to_its_interruption_however_late_it_comes() -> None:
    storm = [marked(0), of_pod(10, "evict", "Recreate"), counted(10, 2)]
    whole, next_storm = counted(1_500, 3), [marked(9_000), of_pod(9_001, "leave", "DaemonSet")]
    assert cutting.last([*storm, whole]) == [*storm, whole]
    assert cutting.last([*storm, counted(9_001, 3), *next_storm])[0] == next_storm[0]
