"""What a figure was measured of and on, in one line."""

import msgspec
import pytest

from bench.conditions import Conditions, look, together
from tests.unit.bench.made import CONDITIONS


def test_conditions_name_the_commit_the_control_plane_and_the_machine() -> None:
    assert str(CONDITIONS) == (
        "Commit 1a2b3c4, Kubernetes 1.36.3, 2 CPUs (x), 24 GiB, Linux, Python 3.13.0, load 1.0"
    )


def test_what_differs_between_measurements_is_listed() -> None:
    later = msgspec.structs.replace(CONDITIONS, commit="5d6e7f8", kubernetes="", load=2.5)
    assert together([CONDITIONS, later, CONDITIONS]) == (
        "Commits 1a2b3c4 and 5d6e7f8, Kubernetes 1.36.3, 2 CPUs (x), 24 GiB, Linux,"
        " Python 3.13.0, load 1.0 to 2.5"
    )


def test_results_that_name_no_commit_are_not_read() -> None:
    old = msgspec.to_builtins(CONDITIONS)
    del old["commit"]
    with pytest.raises(msgspec.ValidationError, match="commit"):
        msgspec.convert(old, Conditions)


def test_only_a_measurement_on_a_control_plane_names_a_kubernetes() -> None:
    assert look().kubernetes.startswith("1.")
    assert look(simulated=True).kubernetes == ""
