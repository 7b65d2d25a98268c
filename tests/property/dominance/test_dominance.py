"""In no small world does a workload lose more with Evenkeel than with the better of two others.

Nobody acts in the one, a plain drain does in the other. Where nodes are drained on purpose it loses
no more behind the gate than without it.
The exceptions are those of docs/notices.md, with their sizes in ``judging``.
"""

import pytest

from tests.property.dominance.drained import drained
from tests.property.dominance.judging import Verdict, judged
from tests.property.dominance.worlds import world

PARTS = 4
EACH = 10
NIGHTLY = range(1_000, 15_000)


@pytest.mark.parametrize("part", range(PARTS))
def test_no_workload_is_worse_off(part: int) -> None:
    assert not _worse(range(part * EACH, (part + 1) * EACH))


@pytest.mark.nightly
def test_no_workload_is_worse_off_in_thousands_of_worlds() -> None:
    assert not _worse(NIGHTLY)


def test_no_workload_is_worse_off_behind_the_gate() -> None:
    assert not _worse_behind_the_gate(range(EACH))


@pytest.mark.nightly
def test_no_workload_is_worse_off_behind_the_gate_in_thousands_of_worlds() -> None:
    assert not _worse_behind_the_gate(range(1_000, 4_000))


def _worse_behind_the_gate(seeds: range) -> list[str]:
    found = ((seed, drained(seed)) for seed in seeds)
    return [f"{seed}: {each}" for seed, each in found if each and each.worse_in]


def _worse(seeds: range) -> list[str]:
    """The workloads that are, each with the number of its world."""
    found = ((seed, judged(world(seed))) for seed in seeds)
    return [f"{seed}: {each}" for seed, each in found if each and each.verdict is Verdict.WORSE]
