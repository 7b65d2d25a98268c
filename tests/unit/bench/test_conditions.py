"""What a figure was measured of and on, in one line."""

import msgspec

from bench.conditions import look, together
from tests.unit.bench.made import CONDITIONS


def test_what_differs_between_measurements_is_listed() -> None:
    later = msgspec.structs.replace(CONDITIONS, commit="5d6e7f8", date="2026-01-06", load=2.5)
    assert together([CONDITIONS]) == (
        "Commit 1a2b3c4, 2026-01-05, Kubernetes 1.36.3, 2 CPUs (x), 24 GiB, Linux, Python 3.13.0,"
        " load 1.0"
    )
    assert together([CONDITIONS, later, CONDITIONS]) == (
        "Commits 1a2b3c4 and 5d6e7f8, 2026-01-05 and 2026-01-06, Kubernetes 1.36.3, 2 CPUs (x),"
        " 24 GiB, Linux, Python 3.13.0, load 1.0 to 2.5"
    )


def test_this_tree_has_a_commit_and_the_pinned_control_plane() -> None:
    found = look()
    assert found.commit
    assert found.product.count("-") == 2
    assert found.kubernetes.startswith("1.")
