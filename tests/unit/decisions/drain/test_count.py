"""The worked example of ``Count``: its table is what a census of these pods counts."""

from collections.abc import Mapping

import pytest

from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.count import Count
from tests.kit import builders
from tests.kit.builders import NOW

OF_THREE = builders.replica_set(replicas=3)
OF_TWO = builders.replica_set(replicas=2)

TWO = [builders.pod(name, of=OF_THREE) for name in ("a", "b")]
THIRD = builders.pod("third", of=OF_THREE)
GOING = builders.pod("third", of=OF_THREE, released=builders.release(OF_THREE, wanted=3))
STARTING = builders.pod("new", of=OF_THREE, ready=False, creation_timestamp=NOW)
READY = builders.pod("new", of=OF_THREE)

COUNTED = [each for each in Count.__struct_fields__ if each != "spare_in_rollout"]

MOMENTS: Mapping[str, Census] = {
    "none is released": builders.census(OF_THREE, owned=[*TWO, THIRD]),
    "one is": builders.census(OF_THREE, owned=TWO, released=[GOING]),
    "replacement starts": builders.census(OF_THREE, owned=[*TWO, STARTING], released=[GOING]),
    "is available": builders.census(OF_THREE, owned=[*TWO, READY], released=[GOING]),
    "scaled": builders.census(OF_TWO, owned=[*TWO, READY], released=[GOING]),
}


def rows() -> Mapping[str, list[str]]:
    """The table of the docstring, by its first column."""
    lines = [line.strip() for line in (Count.__doc__ or "").splitlines() if "|" in line]
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {first: rest for first, *rest in cells}


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_table_shows_what_is_counted(moment: str) -> None:
    table, column = rows(), list(MOMENTS).index(moment)
    assert table[""] == list(MOMENTS)
    said = {name: int(cells[column]) for name, cells in table.items() if name in COUNTED}
    assert said == {name: getattr(MOMENTS[moment].count, name) for name in COUNTED}
