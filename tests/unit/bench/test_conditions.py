"""What a figure was measured of and on."""

from bench.conditions import look
from tests.unit.bench.made import CONDITIONS


def test_commit_day_and_machine_are_one_line() -> None:
    assert CONDITIONS.sitting == (
        "commit 1a2b3c4, 2026-01-05, Kubernetes 1.36.3, 2 CPUs (x), 24 GiB, Linux, Python 3.13.0"
    )


def test_this_tree_has_a_commit_and_the_pinned_control_plane() -> None:
    found = look()
    assert found.commit
    assert found.kubernetes.startswith("1.")
