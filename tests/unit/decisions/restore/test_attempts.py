"""Moves to spot without room: how many are begun at once, and how long the cluster rests."""

from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType

import msgspec
import pytest

from evenkeel.decisions.restore.plan import plan, plan_again
from evenkeel.decisions.restore.snapshot import Candidate, Snapshot
from evenkeel.decisions.restore.step import RestorePlan
from evenkeel.decisions.room.fleet import Fleet
from evenkeel.errors import InvalidError
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease, LeaseSpec
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.losses import Loss
from evenkeel.model.move import Restored, move_of, new_move
from evenkeel.model.node import Node
from evenkeel.model.notice import NodeNotice, NoticeKind
from evenkeel.model.placement import Placed
from evenkeel.model.pool import Pool
from evenkeel.model.release import ReleaseReason
from evenkeel.model.request import Create
from evenkeel.model.spot_rest import NEVER, SpotRest
from tests.kit import builders
from tests.kit.builders import NOW, cooldown, metadata, patched, release_on
from tests.unit.decisions.restore.candidates import (
    SPOT,
    candidate,
    deployment,
    fleet,
    node,
    pods_of,
    replica_set,
    restored,
    snapshot,
)

MINUTE = timedelta(minutes=1)
EMPTY: Mapping[str, str] = MappingProxyType({})
UNKNOWN = SpotRest()
"""What is known where nothing has happened yet."""

BARE = fleet(node("o1"), node("o2"))
"""No spot node at all."""


def web(
    name: str = "web", size: int = 3, nodes: Fleet = BARE, notes: Mapping[str, str] = EMPTY
) -> Candidate:
    """A workload that belongs on spot, all of it on on-demand nodes."""
    return candidate(deployment(size, name=name, notes=dict(notes)), *["o1"] * size, nodes=nodes)


def made(
    *candidates: Candidate, rest: SpotRest = UNKNOWN, nodes: Fleet = BARE, moves: int = 50
) -> RestorePlan:
    return plan(snapshot(*candidates, nodes=nodes, rest=rest, moves=moves))


def begun(plan: RestorePlan) -> list[str]:
    """The workloads that move without room."""
    assert all(step.shortage for step in plan.steps)
    return [str(step.decision.workload).rpartition("/")[2] for step in plan.steps]


def stored(decision: Decision | None, before: Lease | None = None) -> Lease:
    """The Lease as a note leaves it."""
    assert decision is not None
    write = decision.write
    if before is not None:
        return patched(before, write)
    assert isinstance(write, Create)
    assert isinstance(write.object, Lease)
    return msgspec.structs.replace(
        write.object,
        metadata=metadata(names.SPOT_REST, namespace=names.SYSTEM_NAMESPACE, uid="rest-uid"),
    )


def read(decision: Decision | None) -> SpotRest:
    return SpotRest.of(stored(decision), NOW)


# One move.


@pytest.mark.parametrize(
    ("nodes", "without_room"),
    [(BARE, True), (fleet(node("o1"), node("s1")), False)],
    ids=["no room", "room"],
)
def test_without_room_on_spot_a_pod_is_released_all_the_same(
    nodes: Fleet, *, without_room: bool
) -> None:
    """That is told to the webhook, and is no promise that could fail of the workload."""
    found = made(web(nodes=nodes), nodes=nodes)
    (step,) = found.steps
    assert (step.decision.verb, step.decision.reason) == (Verb.RELEASE, "AboveFloor")
    assert ("waits for one" in step.decision.message) is without_room
    (pod, *_) = pods_of(deployment(3), "o1")
    release = release_on(patched(pod, step.decision.write))
    assert (release.reason, release.target) == (ReleaseReason.RESTORE, SPOT)
    assert release.deadline == NOW + timedelta(minutes=5)
    (told,), (note,) = step.before, step.after
    assert isinstance(told, Create)
    assert isinstance(told.object, Lease)
    move = move_of(told.object)
    assert move is not None
    assert bool(step.shortage) is release.without_room is move.without_room is without_room
    noted = Restored.of(patched(deployment(3), note))
    assert noted is not None
    assert (noted.spot, noted.at) == (0 if without_room else 1, NOW)


# How many.


def test_one_at_once_and_the_others_hear_of_it() -> None:
    found = made(web("a"), web("b"))
    assert begun(found) == ["a"]
    (left,) = found.left
    assert (left.subject.name, left.verb, left.reason) == ("b", Verb.WAIT, "BudgetOfRun")
    assert "others ask for a node first" in left.message


def test_before_any_is_begun_that_is_noted_and_only_one_of_two_runs_can() -> None:
    note = made(web()).rest
    lease = stored(note)
    assert (lease.name, lease.namespace) == ("evenkeel-move-rest", "evenkeel-system")
    found = SpotRest.of(lease, NOW)
    assert (found.since, found.begun, found.failures) == (NOW, NOW, 0)
    again = plan(at(NOW + MINUTE / 3, web(), rest=found))
    assert (begun(again), again.rest) == ([], None), "a run that begins now waits for the other's"
    later = plan(at(NOW + MINUTE, web(), rest=found)).rest
    noted = SpotRest.of(stored(later, lease), NOW + MINUTE)
    assert (noted.since, noted.begun) == (NOW, NOW + MINUTE)
    newer = msgspec.structs.replace(
        lease, metadata=msgspec.structs.replace(lease.metadata, resource_version="9")
    )
    with pytest.raises(InvalidError):
        stored(later, newer)


def test_what_is_noted_says_whether_pods_go_or_the_cluster_rests() -> None:
    def said(found: RestorePlan) -> tuple[Verb, str, bool]:
        note = found.rest
        assert note is not None
        assert note.message.startswith("no pod goes") is (note.until is not None)
        return note.verb, note.reason, note.until is not None

    goes = (Verb.ACKNOWLEDGE, "SpotRestOver", False)
    assert said(made(web())) == goes
    failed = SpotRest(since=NOW - 20 * MINUTE, until=NOW - 6 * MINUTE, failures=3)
    assert said(made(moving(1, arrived=True), rest=failed, nodes=FULL)) == goes
    back = moving(back=True, ago=6 * MINUTE)
    assert said(made(back)) == (Verb.WAIT, "SpotRests", True)


def test_nothing_is_noted_where_nothing_is_begun() -> None:
    assert made().rest is None
    there = fleet(node("o1"), node("s1"))
    assert made(web(nodes=there), nodes=there).rest is None


def at(now: object, *candidates: Candidate, rest: SpotRest, nodes: Fleet = BARE) -> Snapshot:
    return msgspec.structs.replace(snapshot(*candidates, nodes=nodes, rest=rest), now=now)


def moving(
    size: int = 3,
    *,
    name: str = "web",
    ago: timedelta = MINUTE,
    arrived: bool = False,
    back: bool = False,
    lost: bool = False,
    notes: Mapping[str, str] = EMPTY,
) -> Candidate:
    """A workload whose first pod was moved without room; it is under way unless it is said."""
    owner = deployment(size, name=name, notes=dict(notes))
    sets = replica_set(owner)
    pods = pods_of(owner, *["o1"] * (size - 1))
    first = builders.pod("first", of=sets, node="o1")
    note = Placed(v=1, as_=SPOT, at=NOW, move=first.uid)
    replacement = builders.pod(
        "second",
        of=sets,
        node="s1" if arrived else "",
        ready=arrived,
        annotations={names.PLACED: note.encode()},
    )
    if back:
        pods.append(first)
    elif arrived or lost:
        pods.append(replacement)
    else:
        released = builders.release(sets, reason=ReleaseReason.RESTORE, target=SPOT)
        pods += [builders.pod("first", of=sets, node="o1", released=released), replacement]
    lease = new_move(
        sets.reference,
        first.reference,
        SPOT,
        NOW - ago,
        NOW - ago + 5 * MINUTE,
        without_room=True,
    )
    lease = msgspec.structs.replace(
        lease, metadata=msgspec.structs.replace(lease.metadata, uid="lease", resource_version="3")
    )
    move = move_of(lease)
    assert move is not None
    where = fleet(node("o1"), node("o2"), node("s1", {"pods": "0"}))
    return candidate(owner, pods=pods, nodes=where, moves={sets.uid: move})


FULL = fleet(node("o1"), node("o2"), node("s1", {"pods": "0"}))
"""A spot node that takes no more."""


@pytest.mark.parametrize("under_way", [1, 2])
def test_while_one_is_under_way_no_other_is_begun(under_way: int) -> None:
    candidates = [moving(name=f"a{number}") for number in range(under_way)]
    found = made(*candidates, web("b"), web("c"), nodes=FULL)
    assert begun(found) == []
    assert {each.reason for each in found.left} == {"Moving", "BudgetOfRun"}


@pytest.mark.parametrize(("to_go", "at_once"), [(5, 1), (59, 2), (60, 3)])
def test_after_a_success_one_in_twenty_of_what_is_to_go_goes_at_once(
    to_go: int, at_once: int
) -> None:
    others = [web(f"w{number:02}", 1) for number in range(to_go)]
    success = moving(1, arrived=True)
    assert len(begun(made(success, *others, nodes=FULL))) == at_once
    (released, _) = moving(1).pods
    both = msgspec.structs.replace(success, pods=[*success.pods, released])
    assert begun(made(both, *others, nodes=FULL)) == [], "it is none before the pod has gone"


def test_a_pod_that_waits_has_the_room_of_the_node_that_came_for_it() -> None:
    there = fleet(node("o1"), node("o2"), node("s1", {"cpu": "4", "pods": "1"}))
    found = made(moving(name="a"), web("b", nodes=there), nodes=there)
    assert begun(found) == []
    found = made(moving(1, name="a", arrived=True), web("b", nodes=there), nodes=there)
    assert [bool(step.shortage) for step in found.steps] == [False]


def test_those_that_are_under_way_are_counted_among_them() -> None:
    others = [web(f"w{number:02}", 2) for number in range(30)]
    found = made(moving(1, arrived=True), moving(1, name="b"), *others, nodes=FULL)
    assert len(begun(found)) == 2


def test_what_other_owners_have_on_on_demand_is_not_to_go() -> None:
    foreign = [
        candidate(deployment(2, name=f"x{number}"), "o1", "o1", is_managed=False)
        for number in range(30)
    ]
    some = [web(f"w{number}") for number in range(3)]
    assert len(begun(made(moving(1, arrived=True), *some, *foreign, nodes=FULL))) == 1


def test_a_success_before_the_last_cause_to_rest_is_none() -> None:
    others = [web(f"w{number:02}", 2) for number in range(30)]
    rest = SpotRest(since=NOW - 30 * MINUTE, until=NOW - 20 * MINUTE)
    late = moving(1, arrived=True, ago=31 * MINUTE)
    assert len(begun(made(late, *others, nodes=FULL, rest=rest))) == 1
    later = moving(1, arrived=True, ago=29 * MINUTE)
    assert len(begun(made(later, *others, nodes=FULL, rest=rest))) == 3


def test_they_are_moves_of_the_run_s_budget_and_come_after_those_with_room() -> None:
    there = fleet(node("o1"), node("s1", {"cpu": "4", "pods": "1"}))
    candidates = [web(name, nodes=there) for name in "abc"]
    found = made(*candidates, nodes=there, moves=2)
    assert [bool(step.shortage) for step in found.steps] == [False, True]
    found = made(*candidates, nodes=there, moves=1)
    assert [bool(step.shortage) for step in found.steps] == [False]
    assert found.rest is None


def test_whose_last_move_began_longest_ago_comes_first_whatever_its_workload_notes() -> None:
    """A release that is refused leaves no note on the workload, and a tenant may write any."""
    rest = SpotRest(since=NOW - 10 * MINUTE, until=NOW - 5 * MINUTE)
    tried = moving(9, name="a", back=True, ago=20 * MINUTE)
    before = moving(name="b", back=True, ago=40 * MINUTE, notes=restored(SPOT, at=NOW - MINUTE))
    assert begun(made(tried, before, web("c"), rest=rest)) == ["c"]
    assert begun(made(tried, before, rest=rest)) == ["b"]


# When it rests.


@pytest.mark.parametrize(("failures", "minutes"), [(0, 5), (1, 10), (2, 20), (6, 320), (7, 360)])
def test_a_pod_that_came_back_makes_the_cluster_rest_and_each_further_one_twice_as_long(
    failures: int, minutes: int
) -> None:
    before = SpotRest(since=NOW - 20 * MINUTE, until=NOW - 6 * MINUTE, failures=failures)
    found = made(moving(back=True, ago=6 * MINUTE), web("b"), rest=before)
    assert begun(found) == []
    after = read(found.rest)
    assert (after.since, after.until) == (NOW, NOW + minutes * MINUTE)
    assert after.failures == failures + 1
    waits = [each for each in found.left if each.subject.name == "b"]
    assert [each.until for each in waits] == [after.until]
    assert "none is asked for before" in waits[0].message


def test_it_is_counted_once() -> None:
    back = moving(back=True, ago=6 * MINUTE)
    rest = SpotRest(since=NOW - MINUTE, until=NOW + 4 * MINUTE, failures=1)
    assert made(back, rest=rest).rest is None


LONG_AGO = SpotRest(since=NOW - 1500 * MINUTE, until=NOW - 1440 * MINUTE, failures=6)


@pytest.mark.parametrize(
    ("beside", "before"),
    [
        (moving(back=True, name="b", ago=6 * MINUTE), UNKNOWN),
        (moving(name="b", arrived=True, ago=6 * MINUTE), UNKNOWN),
        (web("b"), LONG_AGO),
    ],
    ids=["another came back", "another arrived", "failures of a day ago are forgotten"],
)
def test_whatever_is_beside_it_one_that_came_back_is_one_failure(
    beside: Candidate, before: SpotRest
) -> None:
    candidates = [moving(back=True, name="a", ago=6 * MINUTE), beside]
    assert read(made(*candidates, nodes=FULL, rest=before).rest).failures == 1


def test_what_the_workload_rests_for_is_no_failure_of_spot() -> None:
    """A quota forbade the replacement: the reconciler noted that on the workload."""
    notes = cooldown(1, NOW + MINUTE)
    assert made(moving(back=True, ago=4 * MINUTE, notes=notes)).rest is None
    longer_ago = cooldown(1, NOW - MINUTE)
    assert read(made(moving(back=True, ago=5 * MINUTE, notes=longer_ago)).rest).failures == 1


def test_a_pod_that_is_about_to_be_released_did_not_come_back() -> None:
    assert made(moving(back=True, ago=MINUTE / 3)).rest is None
    assert read(made(moving(back=True, ago=MINUTE / 2)).rest).failures == 1


def test_a_move_that_was_begun_when_any_was_for_the_first_time_counts() -> None:
    rest = SpotRest(since=NOW - 6 * MINUTE, until=NOW - 6 * MINUTE)
    assert read(made(moving(back=True, ago=6 * MINUTE), rest=rest).rest).failures == 1


def test_a_success_ends_the_row_of_failures() -> None:
    before = SpotRest(since=NOW - 20 * MINUTE, until=NOW - 6 * MINUTE, failures=3)
    found = made(moving(1, arrived=True), rest=before, nodes=FULL).rest
    assert read(found).failures == 0
    assert found is not None
    assert found.message.endswith("; 0 came back in a row")


def test_a_pod_that_was_lost_meanwhile_says_nothing() -> None:
    before = SpotRest(since=NOW - 20 * MINUTE, until=NOW - 6 * MINUTE, failures=3)
    waits = moving(lost=True)
    assert made(waits, rest=before).rest is None
    others = [each for each in waits.pods if each.name != "second"]
    assert made(msgspec.structs.replace(waits, pods=others), rest=before).rest is None


def warned(name: str, ago: timedelta, kind: NoticeKind = NoticeKind.INTERRUPTION) -> Node:
    notice = NodeNotice(
        kind=kind, event_id="e", deadline=NOW - ago + 2 * MINUTE, since=NOW - ago, cordoned_at=NOW
    )
    return node(name, notice=notice)


def with_nodes(*nodes: Node) -> Fleet:
    there = (*BARE.nodes.values(), *nodes)
    return fleet(*there, doomed=[each.name for each in nodes])


def test_for_ten_minutes_after_a_warning_none_is_begun() -> None:
    nodes = with_nodes(warned("s1", 3 * MINUTE), warned("s2", 2 * MINUTE))
    found = made(web(nodes=nodes), nodes=nodes)
    assert begun(found) == []
    after = read(found.rest)
    assert (after.since, after.until) == (NOW - 2 * MINUTE, NOW + 8 * MINUTE)
    assert begun(made(web(), rest=after)) == [], "the node is gone by now"
    gone_quiet = msgspec.structs.replace(after, since=NOW - 10 * MINUTE, until=NOW)
    found = made(web("a"), web("b"), rest=gone_quiet)
    assert begun(found) == ["a"]
    assert [each.reason for each in found.left] == ["BudgetOfRun"]


def test_so_it_is_after_one_that_the_reconciler_noted_and_whose_node_is_gone() -> None:
    noted = [Loss(Pool(), NOW - 3 * MINUTE)]
    nodes = msgspec.structs.replace(with_nodes(), losses=noted)
    found = made(web(nodes=nodes), nodes=nodes)
    assert not found.steps
    assert read(found.rest).until == NOW + 7 * MINUTE


def test_a_warning_makes_no_rest_shorter() -> None:
    nodes = with_nodes(warned("s1", MINUTE))
    before = SpotRest(since=NOW - 9 * MINUTE, until=NOW + 100 * MINUTE, failures=5)
    after = read(made(web(nodes=nodes), nodes=nodes, rest=before).rest)
    assert (after.since, after.until) == (NOW - MINUTE, NOW + 100 * MINUTE)
    assert after.failures == 5


def test_a_warning_of_a_clock_that_is_ahead_is_one_of_now_and_none_of_the_future_counts() -> None:
    nodes = with_nodes(warned("s1", -5 * MINUTE))
    assert read(made(web(nodes=nodes), nodes=nodes).rest).since == NOW
    nodes = with_nodes(warned("s1", -6 * MINUTE))
    assert begun(made(web(), nodes=nodes)) == ["web"]


@pytest.mark.parametrize(
    "doomed",
    [
        warned("s1", MINUTE, NoticeKind.REBALANCE),
        warned("s1", MINUTE, NoticeKind.DRAIN),
        warned("s1", MINUTE, NoticeKind.STATE_CHANGE),
        warned("o3", MINUTE),
        node("s1", labels={names.DOOMED: "interruption"}),
    ],
    ids=["recommendation", "drain", "ended", "on-demand", "unreadable"],
)
def test_nothing_else_is_a_warning(doomed: Node) -> None:
    nodes = with_nodes(doomed)
    assert begun(made(web(nodes=nodes), nodes=nodes)) == ["web"]


# Decided again.


def test_what_others_left_no_room_for_is_still_without_room_when_it_is_read_again() -> None:
    there = fleet(node("o1"), node("s1", {"cpu": "4", "pods": "1"}))
    first, second = web("a", nodes=there), web("b", nodes=there)
    found = snapshot(first, second, nodes=there, rest=SpotRest())
    with_room, without = plan(found).steps
    again = plan_again(found, second, without)
    assert again is not None
    assert bool(again.shortage)
    again = plan_again(found, first, with_room)
    assert again is not None
    assert not bool(again.shortage)


def test_what_has_no_room_any_more_is_not_moved_without_it() -> None:
    there, full = fleet(node("o1"), node("s1")), FULL
    (step,) = made(web(nodes=there), nodes=there).steps
    later = snapshot(nodes=full, rest=SpotRest())
    assert plan_again(later, web(nodes=full), step) is None


# The Lease as strangers may have spoilt it.


def lease(**spec: object) -> Lease:
    return Lease(
        metadata=metadata(names.SPOT_REST, namespace=names.SYSTEM_NAMESPACE),
        spec=msgspec.convert(spec, LeaseSpec),
    )


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"renewTime": "yesterday", "acquireTime": "then", "leaseTransitions": -3},
        {"renewTime": "2126-11-21T06:00:00Z", "acquireTime": "2126-11-21T06:00:00Z"},
    ],
    ids=["empty", "words", "in future"],
)
def test_what_makes_no_sense_is_no_rest(spec: dict[str, object]) -> None:
    found = SpotRest.of(lease(**spec, leaseDurationSeconds=600), NOW)
    assert (found.since, found.begun, found.failures) == (NEVER, NEVER, 0)
    assert begun(made(web(), rest=found)) == ["web"]


def test_no_rest_is_longer_than_six_hours() -> None:
    found = SpotRest.of(lease(renewTime=NOW.isoformat(), leaseDurationSeconds=10**12), NOW)
    assert found.until == NOW + timedelta(hours=6)
