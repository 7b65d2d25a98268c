"""Invariant 15: whatever happens in a day, nothing grows, and no workload dips.

Storms, hints, rollouts, scaling, tenants with many small objects and forged releases, strangers'
notices, a process that is killed, a machine's clock that is set, an API server that fails, and pods
and nodes that others take. What others take is not counted until the workload is whole again.
"""

from collections.abc import Sequence
from typing import Final

import pytest

from evenkeel.errors import NothingDoneError
from tests.property.soak.day import SIZES, Day, Left

DEEDS: Final = 12
HOURS: Final = 24 * 3600
HISTORY: Final = 11
"""A Deployment keeps so many ReplicaSets, with those notes that they had."""

NOTES: Final = {"Lease": 2_000, "Deployment": 600, "ReplicaSet": 6_000, "Pod": 2_000, "Node": 0}
"""The bytes of Evenkeel's own notes at rest at most, by kind."""

LEASES: Final = 2 + len(SIZES)
"""The reconciler's, restore's rest, and one for each workload that moved of late."""

ENTRIES: Final = 1_000
"""The Python objects that processes hold on to at rest: 204 to 610 in three days of 24 h."""


def judge(day: Day, left: Sequence[Left]) -> None:
    """Hold a day to what is claimed of each; ``left`` are its rests."""
    assert day.dips == []
    for each in left:
        for kind in ("Node", "Pod", "Deployment", "StatefulSet"):
            assert each.objects[kind] == left[0].objects[kind], kind
        assert each.objects["ReplicaSet"] <= HISTORY * len(SIZES)
        assert {kind: each.notes[kind] for kind in NOTES if each.notes[kind] > NOTES[kind]} == {}
        assert len(each.leases) <= LEASES, each.leases
        assert each.entries <= ENTRIES
        assert each.watches == left[0].watches
        assert each.messages == 0
    for source in (day.scene.marking, day.scene.moving, day.scene.schedule, day.scene.restoring):
        assert {type(error) for error in source.errors} <= {NothingDoneError}


def test_nothing_grows_and_no_workload_dips_in_some_hours() -> None:
    day = Day(seed=1)
    left = [day.part(DEEDS) for _ in range(3)]
    assert not day.still_excused
    judge(day, left)


@pytest.mark.nightly
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [2, 3])
def test_nothing_grows_and_no_workload_dips_in_a_day(seed: int) -> None:
    day, left = Day(seed), list[Left]()
    while day.scene.seconds < HOURS:
        left.append(day.part(DEEDS))
        assert not day.still_excused
    judge(day, left)
    assert min(day.done.values()) > 5, "each thing happened often"
