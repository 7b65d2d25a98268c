"""What failed before makes a workload rest."""

from datetime import timedelta
from typing import Any

import pytest

from evenkeel.decisions.drain import writes
from evenkeel.decisions.restore.snapshot import Candidate
from evenkeel.decisions.restore.step import RestoreStep
from evenkeel.model import names
from evenkeel.model.decision import Verb
from evenkeel.model.move import Restored
from evenkeel.model.release import COOLDOWN_FIRST, FORGOTTEN_AFTER
from tests.kit.builders import NOW, cooldown, patched
from tests.unit.decisions.restore.candidates import (
    ON_DEMAND,
    SPOT,
    candidate,
    deployment,
    outcome,
    pods_of,
    reason,
    restored,
    stateful_set,
    step,
    with_rules,
)

MINUTE = timedelta(minutes=1)
ABOVE, BELOW = ("o1", "o2", "s1"), ("s1", "s2", "s1")


def web(*places: str, **notes: str) -> Any:
    return candidate(deployment(len(places), "1", notes=notes), *places)


def test_it_rests_until_its_cooldown_is_over() -> None:
    assert reason(web(*ABOVE, **cooldown(1, NOW + MINUTE))) == "CoolingDown"
    assert step(web(*ABOVE, **cooldown(1, NOW))).moves


def test_a_floor_rests_too_but_not_because_spot_failed() -> None:
    resting = cooldown(1, NOW + MINUTE)
    assert reason(web(*BELOW, **resting)) == "CoolingDown"
    failed = restored(SPOT, at=NOW - 10 * MINUTE)
    assert step(web(*BELOW, **resting, **failed)).moves
    failed = restored(ON_DEMAND, at=NOW - 10 * MINUTE)
    assert reason(web(*BELOW, **resting, **failed)) == "CoolingDown"


def test_while_failures_count_there_is_one_move_for_each_cooldown() -> None:
    notes = cooldown(2, NOW - MINUTE)
    for ago in (2 * COOLDOWN_FIRST - MINUTE, timedelta()):
        found = outcome(web(*ABOVE, **notes, **restored(SPOT, at=NOW - ago, spot=1)))
        assert not isinstance(found, RestoreStep)
        assert (found.reason, found.until) == ("CoolingDown", NOW - ago + 2 * COOLDOWN_FIRST)
    longer_ago = restored(SPOT, at=NOW - 2 * COOLDOWN_FIRST, spot=1)
    assert step(web(*ABOVE, **notes, **longer_ago)).moves
    assert step(web(*ABOVE, **notes, **restored(SPOT, at=NOW + MINUTE))).moves


def test_one_that_may_not_go_there_at_all_rests_for_its_own_rules() -> None:
    notes = cooldown(1, NOW + MINUTE)
    on_demand = {names.CAPACITY_LABELS[2]: "on-demand"}
    kept = with_rules(deployment(3, "1", notes=notes), nodeSelector=on_demand)
    assert reason(candidate(kept, *ABOVE)) == "OwnRules"


def test_failures_are_forgotten() -> None:
    notes = cooldown(5, NOW - FORGOTTEN_AFTER)
    assert step(web(*ABOVE, **notes, **restored(SPOT, at=NOW - MINUTE, spot=1))).moves


def test_spot_that_did_not_last_counts_as_a_failure_once() -> None:
    lost = deployment(5, "1", notes=restored(SPOT, at=NOW - MINUTE, spot=3))
    made = step(candidate(lost, "o1", "o2", "o1", "o2", "s1"))
    assert (made.decision.verb, made.decision.reason) == (Verb.COOL_DOWN, "MoveDidNotLast")
    assert not made.moves
    counted = patched(lost, made.decision.write)
    found = writes.cooldown_of(counted)
    assert found is not None
    assert (found.failures, found.until) == (1, NOW + COOLDOWN_FIRST)
    assert reason(candidate(counted, "o1", "o2", "o1", "o2", "s1")) == "CoolingDown"


@pytest.mark.parametrize(
    "notes",
    [
        restored(SPOT, at=NOW - MINUTE, spot=1),
        restored(ON_DEMAND, at=NOW - MINUTE, spot=3),
        restored(SPOT, at=NOW - FORGOTTEN_AFTER, spot=3),
        restored(SPOT, at=NOW + MINUTE, spot=3),
        {names.RESTORED: "{"},
        {names.RESTORED: '{"at":"9999-12-31T23:59:59Z","target":"spot","pod":"x"}'},
        restored(SPOT, at=NOW - MINUTE, spot=3) | cooldown(1, NOW - MINUTE + COOLDOWN_FIRST),
    ],
    ids=["kept", "to on-demand", "long ago", "in future", "spoilt", "no time", "counted"],
)
def test_nothing_else_counts_as_one(notes: dict[str, str]) -> None:
    found = outcome(candidate(deployment(5, "1", notes=notes), "o1", "o2", "o1", "o2", "s1"))
    decision = found.decision if isinstance(found, RestoreStep) else found
    assert decision.reason in ("AboveFloor", "CoolingDown")


def test_a_scale_in_or_a_greater_floor_is_no_failure() -> None:
    notes = restored(SPOT, at=NOW, spot=9)
    assert step(candidate(deployment(3, "1", notes=notes), "o1", "s1", "o2")).decision.reason == (
        "MoveDidNotLast"
    )
    assert reason(candidate(deployment(3, "1", notes=notes), "o1", "s1", "s2")) == "AsWanted"
    assert step(candidate(deployment(3, "2", notes=notes), "o1", "o2", "o2")).decision.reason == (
        "MoveDidNotLast"
    )
    assert step(candidate(deployment(3, "3", notes=notes), "s1", "o2", "o2")).moves


ORDINALS = ("o1", "o2", "o1")
"""Of three a majority belongs on on-demand nodes: db-2 does not."""


def made_anew(notes: dict[str, str], *, ago: timedelta = MINUTE) -> Candidate:
    """A StatefulSet of which all pods were made so long ago."""
    db = stateful_set(3, "majority", notes=notes)
    made = (NOW - ago).replace(microsecond=0)
    return candidate(db, pods=pods_of(db, *ORDINALS, creation_timestamp=made))


def test_an_ordinal_that_came_back_where_it_was_is_a_failure() -> None:
    made = step(made_anew(restored(SPOT, pod="db-2", at=NOW - MINUTE)))
    assert made.decision.reason == "MoveDidNotLast"
    assert "db-2 came back on on-demand" in made.decision.message


@pytest.mark.parametrize(
    "notes",
    [
        restored(SPOT, pod="db-7", at=NOW - MINUTE),
        restored(ON_DEMAND, pod="db-2", at=NOW - MINUTE),
        restored(SPOT, pod="db-1", at=NOW - MINUTE),
    ],
    ids=["gone", "there", "wanted there by now"],
)
def test_no_other_ordinal_is(notes: dict[str, str]) -> None:
    assert step(made_anew(notes)).moves


def test_nor_one_that_never_left() -> None:
    notes = restored(SPOT, pod="db-2", at=NOW - MINUTE)
    assert step(made_anew(notes, ago=MINUTE + timedelta(seconds=1))).moves


def test_the_note_says_no_more_than_there_is() -> None:
    lone = deployment(1, "1")
    (note,) = step(candidate(lone, "s1")).after
    assert Restored.of(patched(lone, note)) == Restored(
        at=NOW, target=ON_DEMAND, pod="web-0", spot=0, most=1
    )
