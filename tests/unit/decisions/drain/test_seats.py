"""Seats: which pods get one, how long they wait for it, and when it goes."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.drain import seats
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.plan import Plan, plan
from evenkeel.model import names
from evenkeel.model.affinity import Toleration
from evenkeel.model.decision import Verb
from evenkeel.model.node import Node, seat_taint
from evenkeel.model.pod import Pod
from evenkeel.model.request import Create, Patch
from evenkeel.model.seat import NewSeat, new_seat
from evenkeel.model.way import Way
from tests.kit import builders
from tests.kit.builders import NOW, seconds

WARNING, HINT = builders.notice(), builders.hint()
DB = builders.stateful_set()
OF_DB = builders.owner(DB)
KEY = f"default/{DB.uid}"
HELD = builders.node("o1", taints=[seat_taint("node-o1")], uid="node-o1")
FREE = builders.node("o1", uid="node-o1")


def ordinals(*numbers: int, **same: Any) -> list[Pod]:
    return [builders.pod(f"db-{i}", of=DB, **same) for i in numbers]


def seat(pod: Pod, node: str = "o1", **same: Any) -> Pod:
    """The seat of a pod, on a node; empty: it has none."""
    made = new_seat(pod, KEY)
    found = builders.pod(made.name, node=node, **same)
    metadata = msgspec.structs.replace(
        made.metadata,
        uid=f"{made.name}-uid",
        deletion_timestamp=found.metadata.deletion_timestamp,
    )
    return msgspec.structs.replace(found, metadata=metadata)


def census(  # pods on a dying node, others, and the seats of some
    going: Sequence[Pod] = (),
    *others: Pod,
    there: Sequence[tuple[Pod, Pod]] = (),
    way: Way = Way.BY_ORDINAL,
    new_seats: int = 10,
    nodes: Sequence[Node] = (),
    **other: Any,
) -> Census:
    movers = [builders.moving(pod, way, other.pop("notice", WARNING)) for pod in going]
    found = builders.census_of(
        OF_DB,
        [*going, *others],
        moving=movers,
        seats={pod.uid: each for pod, each in there},
        new_seats=new_seats,
        **other,
    )
    dooms = {each.pod.spec.node_name: each.notice for each in movers}
    return builders.with_nodes(found, dooms=dooms, seated={each.name: each for each in nodes})


def steps(found: Plan) -> list[str]:
    """What becomes of each pod, in the order in which it is decided."""
    return [f"{each.verb} {each.subject.name}" for each in (*found.steps, *found.evictions)]


def next_pod(number: int = 2, *, age: float = 0, **same: Any) -> Pod:
    """An ordinal that was just made, and has no node."""
    made = NOW - seconds(age)
    same |= {"node": "", "ready": False, "uid": f"db-{number}-next"}
    return ordinals(number, creation_timestamp=made, **same)[0]


@pytest.mark.parametrize("way", [Way.BY_ORDINAL, Way.RATIONED, Way.AT_ONCE])
def test_a_pod_that_goes_before_another_runs_waits_for_its_seat(way: Way) -> None:
    (pod,) = ordinals(2)
    found = plan(census([pod], *ordinals(0, 1, node="n2"), way=way))
    assert sorted(steps(found)) == ["seat db-2", "wait db-2"]
    assert {each.reason for each in found.steps} == {"SeatWanted", "SeatPending"}
    (made,) = (each.write for each in found.steps if each.verb is Verb.SEAT)
    assert isinstance(made, Create)
    assert isinstance(made.object, NewSeat)
    assert made.object.name == f"seat-{pod.uid}"


def test_it_goes_on_waiting_until_the_seat_has_a_node() -> None:
    (pod,) = ordinals(2)
    others = ordinals(0, 1, node="n2")
    waits = plan(census([pod], *others, there=[(pod, seat(pod, node="", ready=False))]))
    assert steps(waits) == ["wait db-2"]
    goes = plan(census([pod], *others, there=[(pod, seat(pod, ready=False))]))
    assert steps(goes) == ["evict db-2"]


def test_those_with_seats_go_before_those_that_wait_for_theirs() -> None:
    pods = ordinals(0, 1, 2)
    found = plan(census(pods, there=[(pods[0], seat(pods[0]))]))
    assert [each.subject.name for each in found.evictions] == ["db-0"]


def test_a_pod_waits_no_longer_than_its_turn_allows() -> None:
    """Three turns of 11 s: the last begins by the eviction deadline. None was seen to stop yet."""
    made = NOW - seconds(600)
    pods = ordinals(0, 1, 2, creation_timestamp=made, ready_since=made + seconds(5))
    by = WARNING.deadline - seconds(31) - 2 * seconds(11)
    early = census(pods, now=by - seconds(1))
    assert not plan(early).evictions
    assert plan(early).due == by
    assert [each.subject.name for each in plan(census(pods, now=by)).evictions] == ["db-2"]


@pytest.mark.parametrize(
    ("why", "other"),
    [
        ("there is no room for more seats", {"new_seats": 0}),
        ("its node lives", {"notice": HINT}),
        ("it goes any moment", {"now": WARNING.deadline - seconds(40)}),
    ],
)
def test_it_gets_none(why: str, other: dict[str, Any]) -> None:
    found = plan(census(ordinals(2), *ordinals(0, 1, node="n2"), **other))
    assert "seat db-2" not in steps(found), why
    assert "evict db-2" in steps(found), why


@pytest.mark.parametrize(("left", "seat_for"), [(10.001, {"seat db-2"}), (10, set())])
def test_it_gets_none_that_would_come_too_late(left: float, seat_for: set[str]) -> None:
    now = WARNING.deadline - seconds(31) - seconds(left)
    found = plan(census(ordinals(2), *ordinals(0, 1, node="n2"), now=now))
    assert {each for each in steps(found) if each.startswith("seat")} == seat_for


def test_turns_begin_the_later_the_more_may_be_missing_at_a_time() -> None:
    """Four pods, two at a time: one turn of 6 s comes after the first."""
    deployment = builders.deployment(replicas=4, max_surge=0, max_unavailable=2)
    replica_set = builders.replica_set(of=deployment, replicas=4)
    pods = builders.pods(4, of=replica_set)
    movers = [builders.moving(pod, Way.RATIONED, WARNING) for pod in pods]
    of = builders.census_of(builders.owner(replica_set, deployment), pods, moving=movers)
    assert seats.turns_begin_by(of, movers) == WARNING.deadline - seconds(31) - seconds(6)


def test_a_pod_that_does_not_serve_leaves_no_gap() -> None:
    assert steps(plan(census(ordinals(2, ready=False)))) == ["evict db-2"]


def test_a_member_of_a_gang_goes_with_the_others() -> None:
    of = census(ordinals(2))
    (mover,) = of.moving
    for other in (MOVES_ALONG, {"together": NOW + seconds(30)}):
        movers = [msgspec.structs.replace(mover, **other)]
        assert not seats.awaited(msgspec.structs.replace(of, moving=movers))


MOVES_ALONG = {"lives": True}


def test_so_many_get_seats_as_there_is_room_for() -> None:
    found = plan(census(ordinals(0, 1, 2), new_seats=2))
    assert [each for each in steps(found) if each.startswith("seat")] == ["seat db-2", "seat db-1"]


@pytest.mark.parametrize(
    "of_no_use",
    [{"phase": "Failed"}, {"leaving": True}, {"node": "n1"}, {"node": "gone"}],
    ids=["it has ended", "it is being deleted", "its node dies", "its node is gone"],
)
def test_another_takes_the_place_of_a_seat_of_no_use(of_no_use: dict[str, Any]) -> None:
    (pod,) = ordinals(2)
    of = census([pod], there=[(pod, seat(pod, **of_no_use))])
    of = builders.with_nodes(of, lost=frozenset({"gone"}))
    assert "seat db-2" in steps(plan(of))
    assert not seats.kept(of)


def test_where_there_are_none_none_is_kept_and_no_node_held() -> None:
    of = census(ordinals(2), new_seats=0, nodes=[FREE])
    assert (seats.kept(of), seats.held(of)) == (frozenset(), frozenset())


def test_a_seat_is_kept_while_its_pod_is_to_go() -> None:
    (pod,) = ordinals(2)
    assert seats.kept(census([pod], there=[(pod, seat(pod))])) == {pod.uid}


def test_a_seat_goes_when_its_pod_stays() -> None:
    (pod,) = ordinals(2)
    assert not seats.kept(census((), pod, there=[(pod, seat(pod))]))


def test_it_is_kept_until_the_next_pod_is_made_and_its_node_is_held() -> None:
    (gone,) = ordinals(2)
    of = census((), *ordinals(0, 1), there=[(gone, seat(gone))], nodes=[FREE])
    assert seats.kept(of) == {gone.uid}
    assert seats.held(of) == {"o1"}
    assert plan(of).awaits_pods
    assert not steps(plan(of))


def test_none_is_kept_for_a_pod_that_is_not_made_again() -> None:
    (gone,) = ordinals(2)
    of = census((), *ordinals(0, 1, 3), there=[(gone, seat(gone))], nodes=[HELD])
    assert not seats.kept(of)
    assert not seats.held(of)


def test_of_several_none_is_kept_where_there_are_pods_enough() -> None:
    gone = ordinals(4, 5)
    there = [(each, seat(each)) for each in gone]
    assert not seats.kept(census((), *ordinals(0, 1, 2, 3), there=there))


def let_in(pod: Pod, old: Pod, node: Node = HELD) -> Pod:
    """A pod that tolerates that a node is held, for the seat of the pod before it."""
    taint = seat_taint(node.uid)
    own = Toleration(key=taint.key, value=taint.value, effect=taint.effect)
    annotations = pod.metadata.annotations | {names.SEAT: old.uid}
    return msgspec.structs.replace(
        pod,
        spec=msgspec.structs.replace(pod.spec, tolerations=(own,)),
        metadata=msgspec.structs.replace(pod.metadata, annotations=annotations),
    )


def test_the_next_pod_is_let_in_to_the_node_of_its_seat() -> None:
    (gone,), new = ordinals(2), next_pod()
    of = census((), *ordinals(0, 1), new, there=[(gone, seat(gone))], nodes=[FREE])
    (step,) = plan(of).steps
    assert (step.verb, step.reason, step.subject) == (Verb.LET_IN, "SeatTaken", new.reference)
    assert isinstance(step.write, Patch)
    toleration = seat_taint(FREE.uid)
    assert [each.to_wire() for each in step.write.body if each.op == "add"][-1] == {  # type: ignore[union-attr]
        "op": "add",
        "path": "/spec/tolerations",
        "value": [
            {
                "key": toleration.key,
                "operator": "Equal",
                "value": toleration.value,
                "effect": "NoSchedule",
            }
        ],
    }
    assert seats.kept(of) == {gone.uid}
    version = "/metadata/resourceVersion"
    assert version in [each.path for each in step.write.body]  # type: ignore[union-attr]


def test_a_toleration_is_added_to_those_that_are_there() -> None:
    (gone,), new = ordinals(2), next_pod(annotations={"a": "b"})
    own = msgspec.structs.replace(new.spec, tolerations=(Toleration(key="own"),))
    new = msgspec.structs.replace(new, spec=own)
    of = census((), new, there=[(gone, seat(gone))], nodes=[FREE])
    (step,) = plan(of).steps
    assert isinstance(step.write, Patch)
    paths = [each.path for each in step.write.body]  # type: ignore[union-attr]
    assert paths[-1] == "/spec/tolerations/-"
    assert "/metadata/resourceVersion" not in paths


def test_nobody_is_let_in_to_a_node_that_was_not_read() -> None:
    (gone,), new = ordinals(2), next_pod()
    of = census((), new, there=[(gone, seat(gone))])
    assert not plan(of).steps
    assert not seats.held(of)


@pytest.mark.parametrize(("node", "kept"), [(FREE, 1), (HELD, 0)])
def test_the_seat_goes_once_its_node_is_held_for_the_next_pod(node: Node, kept: int) -> None:
    (gone,) = ordinals(2)
    new = let_in(next_pod(), gone)
    of = census((), *ordinals(0, 1), new, there=[(gone, seat(gone))], nodes=[node])
    assert len(seats.kept(of)) == kept
    assert not plan(of).steps


def test_a_seat_without_a_node_goes_as_soon_as_its_next_pod_is_made() -> None:
    """Both would ask an autoscaler for a node."""
    (gone,) = ordinals(2)
    seat_of_it = seat(gone, node="", ready=False)
    assert not seats.kept(census((), next_pod(), there=[(gone, seat_of_it)]))


@pytest.mark.parametrize(("age", "kept"), [(4, 1), (4.001, 0)])
def test_a_node_that_cannot_be_held_keeps_no_seat_for_long(age: float, kept: int) -> None:
    (gone,) = ordinals(2)
    of = census((), next_pod(age=age), there=[(gone, seat(gone))], nodes=[FREE])
    assert len(seats.kept(of)) == kept


@pytest.mark.parametrize(("age", "holds"), [(29.999, True), (30, False)])
def test_a_node_is_held_until_its_next_pod_has_a_node_and_not_for_ever(
    *, age: float, holds: bool
) -> None:
    (gone,) = ordinals(2)
    new = let_in(next_pod(age=age), gone)
    assert bool(seats.held(census((), new, nodes=[HELD]))) is holds
    bound = msgspec.structs.replace(new, spec=msgspec.structs.replace(new.spec, node_name="o1"))
    assert not seats.held(census((), bound, nodes=[HELD]))


def test_another_toleration_holds_no_node() -> None:
    """A tenant's pod that tolerates everything keeps nobody off."""
    new = next_pod()
    every = msgspec.structs.replace(new.spec, tolerations=(Toleration(operator="Exists"),))
    assert not seats.held(census((), msgspec.structs.replace(new, spec=every), nodes=[HELD]))


def test_a_pod_without_a_time_waits_for_nothing() -> None:
    (gone,) = ordinals(2)
    new = let_in(next_pod(), gone)
    metadata = msgspec.structs.replace(new.metadata, creation_timestamp=None)
    new = msgspec.structs.replace(new, metadata=metadata)
    of = census((), new, there=[(gone, seat(gone))], nodes=[FREE])
    assert not plan(of).steps
    assert seats.kept(of) == {gone.uid}
    (other,), second = ordinals(1), next_pod(1)
    there = [(gone, seat(gone)), (other, seat(other))]
    both = census((), new, second, there=there, nodes=[FREE])
    assert [each.subject.name for each in plan(both).steps] == ["db-1"]


def test_an_ordinal_takes_its_own_seat_before_others_and_any_with_a_node_before_that() -> None:
    gone = ordinals(1, 2)
    both = [(each, seat(each, node=f"o{each.name[-1]}")) for each in gone]
    held = [
        builders.node(name, uid=f"node-{name}", taints=[seat_taint(f"node-{name}")])
        for name in ("o1", "o2")
    ]
    new = next_pod(2)
    (step,) = plan(census((), new, there=both, nodes=held)).steps
    assert step.message.startswith("its seat on o2")
    waits = [(gone[0], both[0][1]), (gone[1], seat(gone[1], node="", ready=False))]
    (step,) = plan(census((), new, there=waits, nodes=held)).steps
    assert step.message.startswith("its seat on o1")


def test_a_pod_that_was_let_in_takes_no_second_seat() -> None:
    first, second = ordinals(1, 2)
    new = let_in(next_pod(2), second)
    of = census((), new, there=[(first, seat(first))], nodes=[HELD])
    assert not plan(of).steps
    assert seats.kept(of) == {first.uid}


def test_the_times_at_which_a_seat_goes_and_a_node_is_let_go_are_due() -> None:
    (gone,), new = ordinals(2), next_pod()
    of = census((), new, there=[(gone, seat(gone))], nodes=[FREE])
    assert plan(of).due == NOW + seats.HELD_WITHIN
    later = msgspec.structs.replace(of, now=NOW + seconds(10))
    assert plan(later).due == NOW + seats.HELD_FOR
