"""How many pods may be missing at a time, and who goes where none comes beside the first."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.drain import turns
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.movers import MovingPod
from evenkeel.decisions.drain.plan import plan
from evenkeel.model import names
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.decision import Verb
from evenkeel.model.meta import Condition
from evenkeel.model.pod import Pod
from evenkeel.model.way import Way
from tests.kit import builders
from tests.kit.builders import NOW, apart, seconds

WARNING, HINT = builders.notice(), builders.hint()
MADE = NOW - seconds(600)
START = seconds(5)
"""How long the pods took to get Ready."""


def ordinals(
    number: int, *, policy: str = "Parallel", missing: Sequence[Pod] = (), **other: Any
) -> tuple[Census, Sequence[MovingPod]]:
    """So many ordinals on a dying node, of a set that has the ``missing`` ones as well."""
    made = builders.stateful_set(replicas=number + len(missing))
    spec = msgspec.structs.replace(made.spec, pod_management_policy=policy)
    stateful_set = msgspec.structs.replace(made, spec=spec)
    pods = [
        builders.pod(
            f"db-{each}", of=stateful_set, creation_timestamp=MADE, ready_since=MADE + START
        )
        for each in range(number)
    ]
    notice = other.pop("notice", WARNING)
    line = [builders.moving(pod, Way.BY_ORDINAL, notice) for pod in pods]
    owner = builders.owner(stateful_set)
    census = builders.census_of(owner, [*pods, *missing], moving=line, **other)
    return builders.with_nodes(census, dooms={"n1": notice}), line


def pending(name: str = "db-9", *, age: float = 1, refused: str = "") -> Pod:
    """A pod of the set without a node, of which the scheduler says this."""
    said = Condition(type="PodScheduled", status="False", reason="Unschedulable", message=refused)
    return builders.pod(
        name,
        of=builders.stateful_set(),
        node="",
        ready=False,
        creation_timestamp=NOW - seconds(age),
        conditions=[said] if refused else (),
    )


def most(census: Census, line: Sequence[MovingPod], takes: float) -> int:
    return turns.most_missing(census, line, seconds(takes))


@pytest.mark.parametrize(
    ("takes", "at_a_time"),
    [
        (11, 1),  # Nine turns begin by 89 s.
        (12, 2),
        (40, 3),
        (80, 4),  # It would take five, and a majority stays.
        (1000, 4),
    ],
)
def test_as_many_go_at_a_time_as_it_takes_for_the_last_turn_to_begin_in_time(
    takes: float, at_a_time: int
) -> None:
    assert most(*ordinals(9), takes) == at_a_time


def next_of(number: int, *missing: Pod, **other: Any) -> list[str]:
    """Who goes next of so many ordinals that take long to start, where one is made at a time."""
    census, _ = ordinals(
        number, policy="OrderedReady", missing=missing, stops_in=seconds(60), **other
    )
    return [step.subject.name for step in plan(census).evictions]


def test_where_one_is_made_after_the_other_the_next_below_goes_once_the_last_is_made() -> None:
    assert next_of(5) == ["db-4"]
    assert next_of(5, pending("db-5")) == ["db-4"]
    assert next_of(5, pending("db-5"), told_first=NOW - seconds(1)) == []
    census, _ = ordinals(5, policy="OrderedReady", missing=[pending("db-5")], stops_in=seconds(60))
    not_made = msgspec.structs.replace(census, pods=census.pods[:-1])
    assert not plan(not_made).evictions


@pytest.mark.parametrize(("missing", "expected"), [("db-2", ["db-1"]), ("db-1", ["db-0"])])
def test_none_goes_above_one_that_is_not_available(missing: str, expected: list[str]) -> None:
    census, _ = ordinals(5, policy="OrderedReady", stops_in=seconds(60))
    pods = [pending(missing) if pod.name == missing else pod for pod in census.pods]
    moving = [each for each in census.moving if each.pod.name != missing]
    found = plan(msgspec.structs.replace(census, pods=pods, moving=moving))
    assert [step.subject.name for step in found.evictions] == expected


def test_no_more_go_at_a_time_for_a_hint() -> None:
    assert most(*ordinals(9, notice=HINT), 80) == 1


@pytest.mark.parametrize(("demanded", "at_a_time"), [(8, 1), (6, 3), (2, 5), (9, 1)])
def test_a_budget_says_how_many_have_to_stay(demanded: int, at_a_time: int) -> None:
    budgets: list[PodDisruptionBudget] = [builders.budget(demanded=demanded)]
    assert most(*ordinals(9, budgets=budgets), 80) == at_a_time


def test_a_later_deadline_leaves_time_for_more_turns() -> None:
    census, line = ordinals(9)
    later = builders.moving(
        line[0].pod, Way.BY_ORDINAL, builders.notice(deadline=WARNING.deadline + seconds(60))
    )
    assert most(census, line, 40) == 3
    assert most(census, [later, *line[1:]], 40) == 3
    assert most(census, [later, *line[1:]], 36) == 2


@pytest.mark.parametrize(
    ("missing", "may_go"),
    [
        ([], 1),
        ([pending()], 0),
        ([pending(refused="0/3 nodes are available")], 1),
        ([pending(age=10)], 0),
        ([pending(age=10.1)], 1),
        ([pending(age=19), pending("db-8", age=19)], 1),
        ([pending("db-7", age=19), pending("db-8", age=19), pending(age=19)], 1),
    ],
)
def test_a_missing_pod_without_a_place_or_late_holds_nobody_up(
    missing: Sequence[Pod], may_go: int
) -> None:
    census, line = ordinals(7, missing=missing)
    assert turns.may_go(census, line) == may_go


def test_it_costs_one_of_those_that_may_be_missing_while_the_minimum_serves() -> None:
    late = [pending("db-8", age=19), pending("db-9", age=19)]
    census, line = ordinals(3, missing=late)
    assert census.minimum == 3
    assert turns.may_go(census, line) == 0


def test_none_goes_while_the_controller_has_pods_too_many() -> None:
    census, line = ordinals(3)
    more = builders.pod("db-3", of=builders.stateful_set(), node="n2")
    census = msgspec.structs.replace(census, pods=[*census.pods, more])
    assert census.count.excess
    assert turns.may_go(census, line) == 0


@pytest.mark.parametrize(
    ("seen", "told_ago", "stop"),
    [(None, None, 0), (10, None, 10), (None, 4, 4), (10, 4, 10), (10, 14, 14)],
)
def test_a_turn_is_as_long_as_was_seen(
    seen: float | None, told_ago: float | None, stop: float
) -> None:
    census, _ = ordinals(
        3,
        stops_in=None if seen is None else seconds(seen),
        told_first=None if told_ago is None else NOW - seconds(told_ago),
    )
    assert turns.seen_length(census) == seconds(stop) + seconds(1) + START
    assert turns.turn_length(census, seconds(30)) == seconds(30) + seconds(1) + START


def test_who_may_go_changes_when_there_is_time_for_one_turn_less() -> None:
    census, line = ordinals(9)
    at = turns.changes_at(census, line, seconds(40))
    assert at == NOW + seconds(89 - 80) + turns.A_MOMENT
    then = msgspec.structs.replace(census, now=at)
    before = msgspec.structs.replace(census, now=at - turns.A_MOMENT)
    assert (most(before, line, 40), most(then, line, 40)) == (3, 4)


@pytest.mark.parametrize(("number", "told_ago", "stops_in"), [(9, 1, None), (9, 1, 20), (5, 3, 2)])
def test_who_may_go_changes_while_a_pod_still_stops(
    number: int, told_ago: float, stops_in: float | None
) -> None:
    census, line = ordinals(
        number,
        told_first=NOW - seconds(told_ago),
        stops_in=None if stops_in is None else seconds(stops_in),
    )
    at = turns.changes_at(census, line, turns.seen_length(census))
    assert at is not None
    assert NOW < at < NOW + seconds(60)
    then = msgspec.structs.replace(census, now=at)
    before = msgspec.structs.replace(census, now=at - 2 * turns.A_MOMENT)
    assert turns.may_go(before, line) == turns.may_go(census, line)
    assert turns.may_go(then, line) == turns.may_go(census, line) + 1


def test_one_that_is_there_after_its_grace_period_stops_no_more() -> None:
    census, _ = ordinals(3, told_first=NOW - seconds(500))
    assert turns.seen_length(census) == census.pods[0].grace + seconds(1) + START


def test_the_pod_goes_first_whose_zone_has_another_node() -> None:
    census, line = ordinals(3)
    moved = [
        builders.moving(move(each.pod, f"n{number}"), Way.BY_ORDINAL, WARNING)
        for number, each in enumerate(line)
    ]
    zones = {"n0": "a", "n1": "b", "n2": "c"}

    def order(left: dict[str, bool]) -> list[str]:
        found = builders.with_nodes(census, zones=zones, left=left)
        return [each.pod.name for each in sorted(moved, key=found.turn_of)]

    assert order({}) == ["db-2", "db-1", "db-0"]
    assert order({"c": False}) == ["db-1", "db-0", "db-2"]
    assert order({"a": True, "b": False, "c": False}) == ["db-0", "db-2", "db-1"]


def move(pod: Pod, node: str) -> Pod:
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=node))


@pytest.mark.parametrize(
    "other",
    [
        {"notice": HINT},
        {"budgets": [builders.budget(demanded=8)]},
    ],
    ids=["hint", "budget"],
)
def test_nothing_changes_by_time_where_no_more_may_go(other: dict[str, Any]) -> None:
    census, line = ordinals(9, told_first=NOW, **other)
    assert turns.changes_at(census, line, seconds(6)) is None


def test_who_may_go_changes_when_a_missing_pod_is_late() -> None:
    census, line = ordinals(5, missing=[pending(age=1), pending("db-8", age=30)])
    at = turns.changes_at(census, line, turns.seen_length(census))
    assert at == NOW + seconds(9) + turns.A_MOMENT
    then = msgspec.structs.replace(census, now=at)
    assert (turns.may_go(census, line), turns.may_go(then, line)) == (0, 1)
    just_then = msgspec.structs.replace(census, now=at - turns.A_MOMENT)
    assert turns.may_go(just_then, line) == 0
    assert turns.changes_at(just_then, line, turns.seen_length(just_then)) == at


# Where no second pod comes beside the first.

REFUSED = "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules."
ZONE, HOST = "topology.kubernetes.io/zone", names.HOSTNAME


def beside(
    *keys: str,
    replicas: int = 3,
    said: tuple[str, str] = ("Unschedulable", REFUSED),
    age: float = 5,
    node: str = "",
    notice: Any = WARNING,
    **other: Any,
) -> Census:
    """All pods of a ReplicaSet are released, and none of what it made has a node."""
    replica_set = builders.replica_set(replicas=replicas)
    release = builders.release(replica_set, deadline=notice.deadline, wanted=replicas)
    why = Condition(type="PodScheduled", status="False", reason=said[0], message=said[1])
    new = [
        builders.pod(
            f"new-{number}",
            of=replica_set,
            node=node if number == 0 else "",
            ready=False,
            creation_timestamp=NOW - seconds(age),
            conditions=[why],
        )
        for number in range(replicas)
    ]
    old = [
        builders.pod(f"old-{number}", of=replica_set, released=release)
        for number in range(replicas)
    ]
    return builders.census(
        replica_set,
        owned=[apart(each, *keys) for each in new],
        released=[apart(each, *keys) for each in old],
        dooms={"n1": notice},
        **other,
    )


def going(census: Census) -> list[str]:
    found = plan(census)
    return [each.subject.name for each in found.evictions if each.verb is Verb.EVICT]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [((ZONE,), ["old-0"]), ((HOST, ZONE), ["old-0"]), ((HOST,), []), ((), [])],
)
def test_one_goes_where_rules_keep_the_next_out_of_its_whole_zone(
    keys: tuple[str, ...], expected: list[str]
) -> None:
    assert going(beside(*keys)) == expected


def test_none_goes_once_a_replacement_has_a_node() -> None:
    assert going(beside(ZONE, node="n2")) == []


def test_none_goes_that_the_minimum_needs() -> None:
    assert going(beside(ZONE, replicas=2)) == []
    assert going(beside(ZONE, replicas=1)) == []
    assert going(beside(ZONE, budgets=[builders.budget(demanded=3)])) == []


def test_none_goes_for_a_hint() -> None:
    assert going(beside(ZONE, notice=HINT)) == []


def test_none_goes_while_the_one_before_is_not_replaced() -> None:
    census = beside(ZONE)
    rest = [pod for pod in census.pods if pod.name != "old-0"]
    assert going(msgspec.structs.replace(census, pods=rest)) == []


def test_several_go_at_a_time_where_one_after_the_other_is_too_slow() -> None:
    assert going(beside(ZONE, replicas=5, stops_in=seconds(80))) == ["old-0", "old-1"]


@pytest.mark.parametrize(("age", "expected"), [(1.9, []), (2, ["old-0"])])
def test_one_goes_where_replacements_wait_at_their_gates_for_more_than_a_moment(
    age: float, expected: list[str]
) -> None:
    gated = ("SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates")
    census = beside(said=gated, age=age)
    assert going(census) == expected
    due = plan(census).due
    assert due is not None
    assert (due == NOW + seconds(0.1)) is (age < 2)


def test_when_that_is_known_is_due_and_only_until_then() -> None:
    gate: dict[str, Any] = {"said": ("SchedulingGated", "gates")}
    assert beside(age=1, **gate).gates_known_at == NOW + seconds(1)
    assert beside(age=2, **gate).gates_known_at is None


def test_others_may_go_later_only_where_no_second_pod_comes_beside_the_first() -> None:
    seen: dict[str, Any] = {"stops_in": seconds(40), "replicas": 9}
    assert turns.beside_changes_at(beside(ZONE, **seen)) is not None
    assert turns.beside_changes_at(beside(**seen)) is None


def test_it_is_said_why_it_goes() -> None:
    (step,) = plan(beside(ZONE)).evictions
    assert (step.reason, step.forced) == ("NoPlace", False)
    assert step.message == f"no place for a second pod beside it: {REFUSED}: it goes in its turn"


def test_a_pod_whose_condition_says_neither_is_not_known_to_lack_a_place() -> None:
    assert going(beside(ZONE, said=("SomebodyElses", "wait"))) == []
    assert beside(ZONE, said=("SomebodyElses", "wait")).lacks_place == ""


def with_seat(pod: Pod, **annotations: str) -> Census:
    """Three ordinals, and a missing one, for whom there is a seat."""
    metadata = msgspec.structs.replace(pod.metadata, annotations=dict(annotations))
    missing = msgspec.structs.replace(pod, metadata=metadata)
    seats = {"before": builders.pod("seat", node="o1")}
    return ordinals(3, missing=[missing], seats=seats)[0]


@pytest.mark.parametrize(
    ("age", "annotations", "takes"),
    [(4.999, {}, True), (5, {}, False), (60, {names.SEAT: "before"}, True)],
    ids=["it is new", "it waits for long", "it was let in"],
)
def test_a_pod_that_takes_its_seat_is_about_to_have_a_place(
    age: float, annotations: dict[str, str], *, takes: bool
) -> None:
    """The room was taken by its seat when the scheduler looked."""
    pod = pending(age=age, refused="Insufficient cpu")
    census = with_seat(pod, **annotations)
    (missing,) = (each for each in census.pods if each.name == pod.name)
    assert census.takes_seat(missing) is takes
    assert census.takes_seat(census.pods[0]) is False
    without = msgspec.structs.replace(census, seats={})
    assert without.takes_seat(missing) is bool(annotations)


def test_a_pod_whose_age_is_not_known_takes_no_seat() -> None:
    pod = pending()
    metadata = msgspec.structs.replace(pod.metadata, creation_timestamp=None)
    census = with_seat(msgspec.structs.replace(pod, metadata=metadata))
    assert not census.takes_seat(msgspec.structs.replace(pod, metadata=metadata))


def test_a_pod_that_takes_its_seat_holds_up_the_others() -> None:
    """Else two would be missing where one may be."""
    pod = pending(age=1, refused="Insufficient cpu")
    census, line = ordinals(7, missing=[pod])
    assert turns.may_go(census, line) == 1
    seats = {"before": builders.pod("seat", node="o1")}
    assert turns.may_go(msgspec.structs.replace(census, seats=seats), line) == 0
