"""A released pod whose eviction somebody asked for is left to that drainer, for a while."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.plan import plan
from evenkeel.model import names
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.notice import NodeNotice
from evenkeel.model.release import ReleaseReason
from evenkeel.model.times import in_words
from tests.kit import builders
from tests.kit.builders import NOW, patched, seconds

READY_AT = NOW + seconds(4)
"""When the replacement became Ready, with the release at NOW."""


def replaced(
    now: datetime,
    *,
    kept_empty: Mapping[str, bool] | None = None,
    dooms: Mapping[str, NodeNotice] | None = None,
    reason: ReleaseReason = ReleaseReason.EVICTION,
    ready_at: datetime = READY_AT,
    notes: Mapping[str, str] | None = None,
) -> Census:
    """A single replica that was released from n1, and its replacement."""
    replica_set = builders.replica_set(replicas=1)
    release = builders.release(replica_set, reason=reason, deadline=NOW + timedelta(minutes=5))
    census = builders.census(
        replica_set,
        owned=[builders.pod("new", of=replica_set, node="good", ready_since=ready_at)],
        released=[builders.pod("old", of=replica_set, released=release, annotations=notes)],
        dooms=dooms,
        now=now,
    )
    return builders.with_nodes(census, kept_empty=kept_empty or {})


def steps(census: Census) -> list[Decision]:
    """What is decided about the old pod."""
    made = plan(census)
    return [each for each in (*made.steps, *made.evictions) if each.subject.name == "old"]


@pytest.mark.parametrize(
    ("after", "kept_empty", "verb", "reason"),
    [
        pytest.param(0, {"n1": True}, Verb.WAIT, "LeftToDrainer", id="just replaced"),
        pytest.param(29.9, {"n1": True}, Verb.WAIT, "LeftToDrainer", id="it may come back"),
        pytest.param(30, {"n1": True}, Verb.EVICT, "ReplacementAvailable", id="cordoned"),
        pytest.param(30, {"n1": False}, Verb.ROLL_BACK, "NotAskedAgain", id="it takes pods"),
        pytest.param(30, {}, Verb.WAIT, "LeftToDrainer", id="its node is not read yet"),
    ],
)
def test_a_replaced_pod_is(
    after: float, kept_empty: Mapping[str, bool], verb: Verb, reason: str
) -> None:
    (step,) = steps(replaced(READY_AT + seconds(after), kept_empty=kept_empty))
    assert (step.verb, step.reason) == (verb, reason)


def test_a_pod_that_goes_back_needs_no_rest_afterwards() -> None:
    made = plan(replaced(READY_AT + seconds(30), kept_empty={"n1": False}))
    assert [step.verb for step in made.steps] == [Verb.ROLL_BACK]


def test_a_pod_that_goes_back_notes_that_it_was_asked_for() -> None:
    census = replaced(READY_AT + seconds(30), kept_empty={"n1": False})
    (step,) = steps(census)
    back = patched(census.released[0].pod, step.write)
    assert back.metadata.annotations == {names.ASKED_BEFORE: in_words(census.now)}


@pytest.mark.parametrize(
    "key", [names.ASKED_BEFORE, names.REQUEST_EVICT_ONLY], ids=["asked before", "in the background"]
)
@pytest.mark.parametrize("kept_empty", [{}, {"n1": False}, {"n1": True}], ids=str)
def test_a_pod_that_nobody_is_to_ask_for_again_is_evicted_at_once(
    kept_empty: Mapping[str, bool], key: str
) -> None:
    notes = {key: "what it says does not matter"}
    (step,) = steps(replaced(READY_AT, kept_empty=kept_empty, notes=notes))
    assert (step.verb, step.reason) == (Verb.EVICT, "ReplacementAvailable")


@pytest.mark.parametrize(
    ("after", "kept_empty", "reasons"),
    [
        pytest.param(-1, {"n1": False}, ["LeftToDrainer"], id="the release has not ended"),
        pytest.param(0, {"n1": False}, ["NotAskedAgain"], id="it takes pods"),
        pytest.param(0, {}, ["NotAskedAgain"], id="its node cannot be read"),
        pytest.param(0, {"n1": True}, ["DeadlinePassed", "HandoverRolledBack"], id="cordoned"),
    ],
)
def test_a_pod_that_is_replaced_as_its_release_ends_is_a_failure_only_where_it_should_go(
    after: float, kept_empty: Mapping[str, bool], reasons: list[str]
) -> None:
    end = NOW + timedelta(minutes=5)
    made = plan(replaced(end + seconds(after), kept_empty=kept_empty, ready_at=end - seconds(3)))
    assert [step.reason for step in (*made.steps, *made.evictions)] == reasons


def test_it_is_looked_at_again_when_the_drainer_has_not_come_back() -> None:
    assert plan(replaced(READY_AT)).due == READY_AT + seconds(30)


def test_it_is_left_to_the_drainer_from_its_release_on_where_a_replacement_was_there() -> None:
    census = replaced(NOW + seconds(29), kept_empty={"n1": True}, ready_at=NOW - seconds(500))
    (step,) = steps(census)
    assert step.verb is Verb.WAIT


def test_a_pod_of_a_dying_node_is_not_left_to_anybody() -> None:
    (step,) = steps(replaced(READY_AT, dooms={"n1": builders.notice()}))
    assert step.verb is Verb.EVICT


def test_what_evenkeel_released_itself_is_not_left_to_anybody() -> None:
    (step,) = steps(replaced(READY_AT, reason=ReleaseReason.REBALANCE))
    assert step.verb is Verb.EVICT


ENDS = NOW + seconds(330)
"""When a release ends whose eviction waits for five minutes; those of this Deployment 600 s later
once a replacement has its node."""


def unreplaced(now: datetime, reason: ReleaseReason, patience: str = "", **new: Any) -> Census:
    """A single replica that was released from n1 within a second, and a pod made beside it.

    Beside them is a pod whose release cannot be read. ``patience``: what their owner says.
    """
    notes = {names.GATE_PATIENCE: patience} if patience else {}
    deployment = builders.deployment(replicas=1, annotations=notes)
    replica_set = builders.replica_set(of=deployment, replicas=1)
    release = builders.release(
        replica_set, reason=reason, since=NOW + seconds(0.7), deadline=ENDS, wanted=1
    )
    made: dict[str, Any] = {"node": "good", "ready": False, "creation_timestamp": NOW} | new
    return builders.census(
        replica_set,
        owned=[builders.pod("new", of=replica_set, **made)],
        released=[
            builders.pod("old", of=replica_set, released=release),
            builders.pod("spoilt", labels={names.RELEASED_FROM: builders.HASH}),
        ],
        deployment=deployment,
        now=now,
    )


EVICTION, RESTORE = ReleaseReason.EVICTION, ReleaseReason.RESTORE


@pytest.mark.parametrize(
    ("reason", "new", "later"),
    [
        pytest.param(EVICTION, {}, 600, id="its replacement starts"),
        pytest.param(EVICTION, {"patience": "15m"}, 900, id="as its owner says"),
        pytest.param(EVICTION, {"node": ""}, 0, id="its replacement has no node"),
        pytest.param(EVICTION, {"waiting": "ImagePullBackOff"}, 0, id="its replacement fails"),
        pytest.param(EVICTION, {"creation_timestamp": NOW - seconds(1)}, 0, id="it is another's"),
        pytest.param(EVICTION, {"creation_timestamp": None}, 0, id="nobody knows whose it is"),
        pytest.param(RESTORE, {}, 0, id="nobody asked for its eviction"),
    ],
)
def test_a_pod_whose_drainer_is_gone_goes_back_later_if(
    reason: ReleaseReason, new: dict[str, Any], later: float
) -> None:
    end = ENDS + seconds(later)
    verbs = [steps(unreplaced(end - seconds(each), reason, **new))[0].verb for each in (1, 0)]
    assert verbs == [Verb.WAIT, Verb.ROLL_BACK]
