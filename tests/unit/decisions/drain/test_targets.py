"""A released pod whose replacement has to be on one capacity type: restore's moves."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.plan import Plan, plan
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.decision import Verb
from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool
from evenkeel.model.release import ReleaseReason
from tests.kit import builders
from tests.kit.builders import NOW, seconds

SPOT, ON_DEMAND = Capacity.SPOT, Capacity.ON_DEMAND
NODES = {"o1": None, "o2": None, "s1": Pool(zone="a"), "s2": Pool(zone="b")}
DEADLINE = NOW + timedelta(minutes=5)
REPLICAS = builders.replica_set(replicas=2)


def moving(
    name: str,
    target: Capacity = SPOT,
    *,
    there: int = 0,
    since: datetime = NOW,
    avoid: Sequence[str] = (),
) -> Pod:
    """A pod that restore has released; its replacement is to ``avoid`` these zones."""
    node = "o1" if target is SPOT else "s1"
    release = builders.release(
        REPLICAS,
        reason=ReleaseReason.RESTORE,
        deadline=DEADLINE,
        since=since,
        target=target,
        there=there,
    )
    pools = tuple(Pool(zone=zone) for zone in avoid)
    release = msgspec.structs.replace(release, avoid=pools)
    return builders.pod(name, of=REPLICAS, node=node, released=release)


def owned(name: str, node: str, *, ready: bool = True) -> Pod:
    return builders.pod(name, of=REPLICAS, node=node, ready=ready)


def census(owned: Sequence[Pod], *released: Pod, **other: Any) -> Census:
    made = builders.census(REPLICAS, owned=owned, released=released, **other)
    return builders.with_nodes(made, pools=NODES)


def steps(made: Plan) -> list[tuple[str, Verb, str]]:
    found = [*made.steps, *made.evictions]
    return [(each.subject.name, each.verb, each.reason) for each in found]


def test_it_leaves_when_its_replacement_is_available_on_the_target() -> None:
    made = plan(census([owned("a", "o2"), owned("b", "s1")], moving("m")))
    assert steps(made) == [("m", Verb.EVICT, "ReplacementAvailable")]
    assert [each.subject.name for each in made.evictions] == ["m"]


def test_it_goes_back_as_soon_as_its_replacement_is_elsewhere() -> None:
    """Not ready yet: then its ReplicaSet deletes that one first."""
    made = plan(census([owned("a", "o2"), owned("b", "o2", ready=False)], moving("m")))
    assert [verb for _, verb, _ in steps(made)] == [Verb.ROLL_BACK, Verb.COOL_DOWN]
    assert steps(made)[0] == ("m", Verb.ROLL_BACK, "WrongCapacityType")


def test_an_available_replacement_elsewhere_is_none() -> None:
    made = plan(census([owned("a", "o2"), owned("b", "o2")], moving("m")))
    assert steps(made)[0] == ("m", Verb.ROLL_BACK, "WrongCapacityType")


def test_a_pod_that_was_on_the_target_before_is_no_replacement() -> None:
    there = [owned("a", "s1"), owned("b", "o2")]
    made = plan(census(there, moving("m", there=1)))
    assert steps(made)[0] == ("m", Verb.ROLL_BACK, "WrongCapacityType")
    made = plan(census([owned("a", "s1"), owned("b", "s2")], moving("m", there=1)))
    assert steps(made) == [("m", Verb.EVICT, "ReplacementAvailable")]


def test_it_waits_and_is_looked_at_often() -> None:
    """While its replacement is not made, has no node, or is not ready; or a node is not known."""
    for others in (
        [owned("a", "o2")],
        [owned("a", "o2"), owned("b", "", ready=False)],
        [owned("a", "o2"), owned("b", "s1", ready=False)],
        [owned("a", "o2"), owned("b", "unknown")],
    ):
        made = plan(census(others, moving("m")))
        assert steps(made) == [("m", Verb.WAIT, "ReplacementPending")], others
        assert made.due == NOW + seconds(5)


def test_it_is_looked_at_no_later_than_its_deadline() -> None:
    late = census([owned("a", "o2")], moving("m"), now=DEADLINE - seconds(2))
    assert plan(late).due == DEADLINE


def test_it_goes_back_at_its_deadline() -> None:
    late = census([owned("a", "o2")], moving("m"), now=DEADLINE)
    assert steps(plan(late))[0] == ("m", Verb.ROLL_BACK, "DeadlinePassed")


def test_each_of_two_needs_a_replacement_of_its_own() -> None:
    first, second = moving("m1"), moving("m2", since=NOW + seconds(1))
    made = census([owned("a", "s1"), owned("b", "o2")], first, second, now=NOW + seconds(2))
    assert made.is_reached(builders.census(REPLICAS, released=[first]).released[0])
    assert not made.is_reached(builders.census(REPLICAS, released=[second]).released[0])


def test_once_its_node_dies_any_replacement_will_do() -> None:
    dooms = {"o1": builders.notice()}
    made = census([owned("a", "o2"), owned("b", "o2")], moving("m"), dooms=dooms)
    assert steps(plan(made)) == [("m", Verb.EVICT, "ReplacementAvailable")]


def test_a_move_to_on_demand_is_the_same() -> None:
    back = moving("m", ON_DEMAND)
    made = plan(census([owned("a", "s2"), owned("b", "o1")], back))
    assert steps(made) == [("m", Verb.EVICT, "ReplacementAvailable")]
    made = plan(census([owned("a", "s2"), owned("b", "s2")], back))
    assert steps(made)[0] == ("m", Verb.ROLL_BACK, "WrongCapacityType")


def without_room(pod: Pod) -> Pod:
    """The same pod, for whose replacement no node had room."""
    release = msgspec.structs.replace(builders.release_on(pod), without_room=True)
    notes = pod.metadata.annotations | {names.RELEASE: msgspec.json.encode(release).decode()}
    return msgspec.structs.replace(
        pod, metadata=msgspec.structs.replace(pod.metadata, annotations=notes)
    )


def test_its_workload_rests_if_no_node_came_in_time_but_not_if_none_had_room() -> None:
    late = {"now": DEADLINE}
    pods = [owned("a", "o2"), owned("b", "", ready=False)]
    back = ("m", Verb.ROLL_BACK, "DeadlinePassed")
    rests = ("web-abc", Verb.COOL_DOWN, "HandoverRolledBack")
    found = steps(plan(census(pods, moving("m"), **late)))
    assert [each[1:] for each in found] == [back[1:], rests[1:]]
    assert steps(plan(census(pods, without_room(moving("m")), **late))) == [back]


def test_without_room_too_it_rests_if_a_node_came_and_its_pod_was_too_slow() -> None:
    pods = [owned("a", "s1"), owned("b", "s2", ready=False)]
    slow = census(pods, without_room(moving("m", there=1)), now=DEADLINE)
    found = [(verb, reason) for _, verb, reason in steps(plan(slow))]
    rests = (Verb.COOL_DOWN, "HandoverRolledBack")
    assert found == [(Verb.ROLL_BACK, "DeadlinePassed"), rests]
    pods = [owned("a", "s1"), owned("b", "", ready=False)]
    none_came = census(pods, without_room(moving("m", there=1)), now=DEADLINE)
    assert [verb for _, verb, _ in steps(plan(none_came))] == [Verb.ROLL_BACK]


def test_without_room_too_it_rests_if_its_replacement_is_elsewhere() -> None:
    found = plan(census([owned("a", "o2"), owned("b", "o2")], without_room(moving("m"))))
    assert [each[1:] for each in steps(found)] == [
        (Verb.ROLL_BACK, "WrongCapacityType"),
        (Verb.COOL_DOWN, "HandoverRolledBack"),
    ]


def test_off_the_pools_to_avoid_it_is_replaced_and_in_one_of_them_it_goes_back() -> None:
    """A pod that was there before is no replacement in any case."""
    leaves = moving("m", avoid=["a"])
    made = plan(census([owned("a", "s1"), owned("b", "s2")], leaves))
    assert steps(made) == [("m", Verb.EVICT, "ReplacementAvailable")]
    made = plan(census([owned("a", "s1"), owned("b", "s1", ready=False)], leaves))
    assert steps(made)[0] == ("m", Verb.ROLL_BACK, "WrongCapacityType")
    assert "not on spot outside the full pools" in made.steps[0].message
    made = plan(census([owned("a", "s1"), owned("b", "o1")], leaves))
    assert steps(made)[0] == ("m", Verb.ROLL_BACK, "WrongCapacityType")
    made = plan(census([owned("a", "s1"), owned("b", "s2", ready=False)], leaves))
    assert steps(made) == [("m", Verb.WAIT, "ReplacementPending")]


def test_moves_to_other_places_are_counted_apart() -> None:
    """The one off zone a has its replacement, and that is none for the one off both."""
    first, second = (
        moving("m1", avoid=["a"]),
        moving("m2", avoid=["a", "b"], since=NOW + seconds(1)),
    )
    made = census([owned("a", "s1"), owned("b", "s2")], first, second, now=NOW + seconds(2))
    released = {each.pod.name: each for each in made.released}
    assert made.is_reached(released["m1"])
    assert not made.is_reached(released["m2"])
    assert made.is_missed(released["m2"])
