"""One plan for all pods of a workload, whichever way each of them goes."""

from collections.abc import Sequence
from datetime import timedelta

import msgspec
import pytest

from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.plan import plan
from evenkeel.model import names
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.decision import Verb
from evenkeel.model.notice import NodeNotice
from evenkeel.model.reasons import Reason
from evenkeel.model.way import Way
from tests.kit import builders
from tests.kit.builders import NOW, patched, seconds

WARNING, HINT = builders.notice(), builders.hint()
REPLICA_SET = builders.replica_set(replicas=4)
STATEFUL_SET = builders.stateful_set(replicas=2)
HELD = builders.budget(selects={"app": "db"}, min_available=2, healthy=1, demanded=2)


@pytest.mark.parametrize("notice", [WARNING, HINT])
@pytest.mark.parametrize("way", Way)
def test_each_pod_has_one_step_whichever_way_it_goes(way: Way, notice: NodeNotice) -> None:
    pods = builders.pods(2, of=REPLICA_SET)
    movers = [builders.moving(pod, way, notice) for pod in pods]
    found = plan(builders.census(REPLICA_SET, owned=pods, moving=movers))
    decided = [step.subject.uid for step in (*found.steps, *found.evictions)]
    waiting = [each.pod.uid for each in found.candidates]
    assert sorted([*decided, *waiting]) == sorted(pod.uid for pod in pods)


@pytest.mark.parametrize("way", [Way.AT_ONCE, Way.RATIONED, Way.BY_ORDINAL, Way.AT_LAST_MOMENT])
def test_it_is_planned_anew_when_a_pod_becomes_available_by_time(way: Way) -> None:
    """What each that goes leaves of its workload is another share then."""
    slow = builders.stateful_set(replicas=2, min_ready_seconds=10)
    going, young = builders.pod("a", of=slow), builders.pod("b", of=slow, ready_since=NOW)
    moving = [builders.moving(going, way, WARNING)]
    found = plan(builders.census_of(builders.owner(slow), [going, young], moving=moving))
    assert found.due == NOW + seconds(10)


def test_a_pod_that_is_not_moved_stays_for_the_reason_of_its_route_and_as_long() -> None:
    pod = builders.pod(of=REPLICA_SET)
    mover = builders.moving(pod, Way.STAY, WARNING, warning=True)
    until = NOW + seconds(20)
    mover = msgspec.structs.replace(mover, route=msgspec.structs.replace(mover.route, until=until))
    found = plan(builders.census(REPLICA_SET, owned=[pod], moving=[mover]))
    (step,) = found.steps
    assert (step.verb, step.reason, step.message) == (Verb.LEAVE, Reason.RECREATE, "it is so")
    assert (step.until, step.warning, step.write) == (until, True, None)
    assert (found.forced, found.candidates, found.due) == ([], [], until)


@pytest.mark.parametrize(
    "annotation",
    ["no release", msgspec.json.encode(builders.release(since=NOW + timedelta(days=1))).decode()],
    ids=["spoilt", "of tomorrow"],
)
def test_a_released_pod_goes_back_when_its_annotation_cannot_be_believed(annotation: str) -> None:
    pod = builders.pod(of=REPLICA_SET, released=builders.release(REPLICA_SET))
    notes = pod.metadata.annotations | {names.RELEASE: annotation}
    metadata = msgspec.structs.replace(pod.metadata, annotations=notes)
    spoilt = msgspec.structs.replace(pod, metadata=metadata)
    found = plan(builders.census(REPLICA_SET, released=[spoilt], dooms={"n1": WARNING}))
    (step,) = found.steps
    assert (step.verb, step.reason, step.warning) == (Verb.ROLL_BACK, "UnreadableRelease", True)
    back = patched(spoilt, step.write)
    assert not back.released
    assert back.metadata.owner_references == (builders.owner_reference(REPLICA_SET),)
    assert found.forced == []


@pytest.mark.parametrize(
    "controller",
    [None, builders.replica_set(template_hash="other")],
    ids=["gone", "of another version"],
)
def test_it_goes_back_without_a_controller_when_its_replica_set_is_not_known(
    controller: ReplicaSet | None,
) -> None:
    """The one that selects it takes it then."""
    pod = builders.pod(of=REPLICA_SET, released=builders.release(REPLICA_SET))
    notes = pod.metadata.annotations | {names.RELEASE: "no release"}
    spoilt = msgspec.structs.replace(
        pod, metadata=msgspec.structs.replace(pod.metadata, annotations=notes)
    )
    owner = Owner(kind="ReplicaSet", controller=controller)
    (step, *_) = plan(builders.census_of(owner, [spoilt])).steps
    assert (step.verb, step.reason) == (Verb.ROLL_BACK, "UnreadableRelease")
    assert patched(spoilt, step.write).metadata.owner_references == ()


def test_a_pod_that_says_it_was_released_counts_for_no_other_controller() -> None:
    pod = builders.pod(released=builders.release(REPLICA_SET))
    found = plan(builders.census_of(builders.owner(STATEFUL_SET), [pod]))
    assert (found.steps, found.evictions, found.forced) == ([], [], [])


def test_each_pod_is_forced_off_once_when_the_pods_of_a_workload_go_different_ways() -> None:
    handed, rationed = builders.pods(2, of=REPLICA_SET)
    released = builders.pod("away", of=REPLICA_SET, released=builders.release(REPLICA_SET))
    census = builders.census(
        REPLICA_SET,
        owned=[handed, rationed],
        released=[released],
        moving=[
            builders.moving(rationed, Way.RATIONED, WARNING),
            builders.moving(handed, Way.HANDOVER, WARNING),
        ],
        dooms={"n1": WARNING},
    )
    found = plan(census)
    assert [each.pod for each in found.forced] == [rationed, released, handed]
    assert [each.pod for each in found.candidates] == [handed]
    assert [step.subject.name for step in found.steps] == ["away", rationed.name]


@pytest.mark.parametrize(
    ("way", "notice", "budgets", "awaits_pods"),
    [
        (Way.BY_ORDINAL, WARNING, [], True),
        (Way.BY_ORDINAL, WARNING, [HELD], True),
        (Way.BY_ORDINAL, HINT, [], True),
        (Way.BY_ORDINAL, HINT, [HELD], False),
        (Way.AT_ONCE, WARNING, [], False),
        (Way.AT_LAST_MOMENT, WARNING, [], False),
        (Way.STAY, WARNING, [], False),
    ],
)
def test_pods_that_take_turns_are_read_all_the_time(
    way: Way, notice: NodeNotice, budgets: Sequence[PodDisruptionBudget], *, awaits_pods: bool
) -> None:
    pod = builders.pod("db-0", of=STATEFUL_SET)
    moving = [builders.moving(pod, way, notice)]
    owner = builders.owner(STATEFUL_SET)
    census = builders.census_of(owner, [pod], moving=moving, budgets=budgets)
    assert plan(census).awaits_pods is awaits_pods


def test_a_handover_is_followed_by_reading_from_before_its_release_to_its_end() -> None:
    pod = builders.pod(of=REPLICA_SET)
    waits = builders.census(
        REPLICA_SET, owned=[pod], moving=[builders.moving(pod, Way.HANDOVER, WARNING)]
    )
    away = builders.pod(of=REPLICA_SET, released=builders.release(REPLICA_SET))
    released = builders.census(REPLICA_SET, released=[away], dooms={"n1": WARNING})
    assert plan(waits).awaits_pods
    assert plan(released).awaits_pods
    assert not plan(builders.census(REPLICA_SET, owned=[pod])).awaits_pods
