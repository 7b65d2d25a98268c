"""What becomes of a drain, from what an observer saw, and how it is shown."""

from typing import Any

import msgspec
import pytest

from bench.drainers.figures import Outcome, judge
from bench.drainers.results import Drains, Pair, Run
from bench.report import drainers as report
from bench.storm.figures import Sight
from tests.unit.bench.made import CONDITIONS


def pod(at: float, uid: str, node: str, **what: Any) -> Sight:
    seen = {"ready": True, "leaving": False, "released": False, "gone": False, **what}
    return Sight(at=at, kind="pod", uid=uid, name=uid, app="one", node=node, cordoned=False, **seen)


def node_gone(at: float, name: str) -> Sight:
    return Sight(
        at=at,
        kind="node",
        uid=name,
        name=name,
        app="",
        node="",
        ready=True,
        leaving=False,
        released=False,
        cordoned=True,
        gone=True,
    )


MADE_BEFORE = (
    pod(10, "a", "old"),
    pod(13, "a", "old", released=True),
    pod(14, "b", "new", ready=False),
    pod(16, "b", "new"),
    pod(17, "a", "old", released=True, leaving=True),
    pod(18, "a", "old", leaving=True, gone=True),
    node_gone(20, "old"),
)

BROKEN_BEFORE = (
    pod(10, "a", "old"),
    pod(13, "a", "old", leaving=True),
    pod(14, "b", "new", ready=False),
    pod(14.5, "a", "old", leaving=True, gone=True),
    pod(16, "b", "new"),
)


def test_a_replacement_that_was_there_first_leaves_no_dip() -> None:
    outcome = judge(MADE_BEFORE, {"one": 1}, {"old"})
    assert outcome == Outcome(lowest={"one": 1}, empty=5.0, gone=7.0, left=0)


def test_an_eviction_before_it_does() -> None:
    outcome = judge(BROKEN_BEFORE, {"one": 1}, {"old"})
    assert outcome == Outcome(lowest={"one": 0}, empty=1.5, gone=None, left=0)


def test_a_pod_that_nobody_touches_stays() -> None:
    outcome = judge(MADE_BEFORE[:1], {"one": 1}, {"old"})
    assert outcome == Outcome(lowest={"one": 1}, empty=None, gone=None, left=1)


def drains(gated: Outcome) -> Drains:
    without = judge(BROKEN_BEFORE, {"one": 1}, {"old"})
    return Drains(
        replicas={"one": 1, "three": 3},
        start="2s",
        longest=120.0,
        pairs={
            "kubectl": Pair(
                conditions=CONDITIONS,
                title="`kubectl drain`",
                budgets=True,
                without=Run(outcome=_with_three(without, 1), refusals=0),
                gated=[Run(outcome=_with_three(gated, 3), refusals=4, ran=6.0)],
            )
        },
    )


def _with_three(outcome: Outcome, lowest: int) -> Outcome:
    return msgspec.structs.replace(outcome, lowest={**outcome.lowest, "three": lowest})


def test_each_way_is_a_row_without_the_gate_and_a_row_with_it() -> None:
    lines = report.table(drains(judge(MADE_BEFORE, {"one": 1}, {"old"}))).splitlines()
    assert lines[2] == "| `kubectl drain`; budgets | no | 0, 1 | 2 of 2 | 1.5 s | - | 0 |"
    assert (
        lines[3]
        == "| `kubectl drain`; budgets | **yes** | 1, 3 | 0 of 2 | 5.0 s, 7.0 s | 6.0 s | 4 |"
    )


@pytest.mark.parametrize(
    ("sights", "complaint"),
    [
        pytest.param(BROKEN_BEFORE, "kubectl: 1 workloads below wanted", id="a dip"),
        pytest.param(MADE_BEFORE[:1], "kubectl: 1 pods stayed", id="never empty"),
    ],
)
def test_behind_the_gate_a_dip_is_not_as_wanted(sights: tuple[Sight, ...], complaint: str) -> None:
    (missed,) = drains(judge(sights, {"one": 1}, {"old"})).missed
    assert missed.startswith(complaint)


def test_a_drain_that_makes_before_it_breaks_is_as_wanted() -> None:
    assert drains(judge(MADE_BEFORE, {"one": 1}, {"old"})).missed == []
