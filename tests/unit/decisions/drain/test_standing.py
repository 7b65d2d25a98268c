"""Which pods stand last where their nodes die, and until when."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from evenkeel.decisions.drain.agenda import Forced
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.plan import plan
from evenkeel.model import names
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.decision import Verb
from evenkeel.model.pod import Pod
from evenkeel.model.way import Way
from tests.kit import builders
from tests.kit.builders import NOW, seconds

WARNING = builders.notice()
DYING = {"n1": WARNING}
EVICT_BY = WARNING.deadline - seconds(31)
AHEAD = EVICT_BY - seconds(5)
LATEST = WARNING.deadline - seconds(6)
SEEN = seconds(2)


def released_from(replicas: int, owned: Sequence[Pod] = (), **other: Any) -> Census:
    """As many released pods on n1, which dies, and what their ReplicaSet has made since."""
    replica_set = builders.replica_set(replicas=replicas)
    release = builders.release(replica_set, deadline=WARNING.deadline, wanted=replicas)
    options = other.pop("pods", {})
    released = [
        builders.pod(f"old-{number}", of=replica_set, released=release, **options)
        for number in range(replicas)
    ]
    return builders.census(replica_set, owned=owned, released=released, dooms=DYING, **other)


def starting(number: int, replicas: int = 3, **options: Any) -> Sequence[Pod]:
    """So many replacements that have a node, and are not Ready."""
    replica_set = builders.replica_set(replicas=replicas)
    options = {"node": "n2", "ready": False, "creation_timestamp": NOW} | options
    return builders.pods(number, of=replica_set, prefix="new", **options)


def by(census: Census) -> list[datetime]:
    """By when each pod is evicted by force, the earliest first."""
    return sorted(each.evict_by for each in plan(census).forced)


@pytest.mark.parametrize(("size", "majority"), [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (5, 3)])
def test_without_a_budget_a_majority_is_to_serve(size: int, majority: int) -> None:
    assert builders.census(builders.replica_set(replicas=size)).minimum == majority


@pytest.mark.parametrize(
    ("demanded", "minimum"), [([4], 4), ([1], 1), ([0], 1), ([2, 3], 3), ([9], 5)]
)
def test_a_budget_says_how_many_are_to_serve_but_one_always_is(
    demanded: list[int], minimum: int
) -> None:
    budgets: list[PodDisruptionBudget] = [builders.budget(demanded=each) for each in demanded]
    census = builders.census(builders.replica_set(replicas=5), budgets=budgets)
    assert census.minimum == minimum


def test_nothing_stands_of_what_nobody_knows_how_long_it_takes_to_stop() -> None:
    """But the first goes ahead, to show it."""
    assert by(released_from(3)) == [AHEAD, EVICT_BY, EVICT_BY]


def test_what_was_seen_to_stop_stands_as_late_as_that_allows() -> None:
    assert by(released_from(3, stops_in=SEEN)) == [EVICT_BY, LATEST, LATEST]


@pytest.mark.parametrize(("stops_in", "before"), [(0, 6), (5, 6), (20, 21), (40, 31)])
def test_it_gets_what_was_seen_and_no_more_than_its_grace_period(
    stops_in: float, before: float
) -> None:
    latest = WARNING.deadline - seconds(before)
    assert by(released_from(1, stops_in=seconds(stops_in))) == [latest]


def test_a_pod_stands_whose_replacement_starts_although_nothing_was_seen() -> None:
    assert by(released_from(1, starting(1, 1))) == [LATEST]
    assert by(released_from(3, starting(1))) == [AHEAD, EVICT_BY, LATEST]
    assert by(released_from(3, starting(3))) == [AHEAD, LATEST, LATEST]


def test_one_goes_ahead_where_one_other_is_needed() -> None:
    budgets: list[PodDisruptionBudget] = [builders.budget(demanded=1)]
    assert by(released_from(2, budgets=budgets)) == [AHEAD, EVICT_BY]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"waiting": "PodInitializing"}, LATEST),
        ({"waiting": "CrashLoopBackOff"}, EVICT_BY),
        ({"waiting": "ImagePullBackOff"}, EVICT_BY),
        ({"creation_timestamp": NOW - seconds(300)}, EVICT_BY),
    ],
)
def test_none_stands_for_a_replacement_that_fails_or_is_not_young(
    options: dict[str, Any], expected: datetime
) -> None:
    assert by(released_from(1, starting(1, 1, **options))) == [expected]


def test_one_that_is_ready_and_not_yet_available_serves_and_is_not_counted_twice() -> None:
    replica_set = builders.replica_set(replicas=3, min_ready_seconds=30)
    (new,) = builders.pods(1, of=replica_set, node="n2", creation_timestamp=NOW, ready_since=NOW)
    release = builders.release(replica_set, deadline=WARNING.deadline, wanted=3)
    old = builders.pods(3, of=replica_set, prefix="old", released=release)
    census = builders.census(replica_set, owned=[new], released=old, dooms=DYING)
    assert (census.coming, census.starting_off_doomed) == ([new], 0)
    assert by(census) == [AHEAD, EVICT_BY, EVICT_BY]


def test_none_goes_ahead_where_all_are_needed_or_one_is_gone_already() -> None:
    assert by(released_from(2)) == [EVICT_BY, EVICT_BY]
    replica_set = builders.replica_set(replicas=3)
    release = builders.release(replica_set, deadline=WARNING.deadline, wanted=3)
    pods = builders.pods(2, of=replica_set, released=release)
    census = builders.census(replica_set, released=pods, dooms=DYING)
    assert by(census) == [EVICT_BY, EVICT_BY]


def test_those_that_run_elsewhere_are_counted() -> None:
    ready = builders.pod("new", of=builders.replica_set(replicas=3), node="n2")
    census = released_from(3, [ready], stops_in=SEEN)
    assert by(census) == [EVICT_BY, EVICT_BY, LATEST]


def test_a_pod_that_is_not_ready_serves_nobody_and_does_not_stand() -> None:
    census = released_from(3, stops_in=SEEN, pods={"ready": False})
    assert by(census) == [EVICT_BY] * 3


def test_who_asks_for_all_of_the_grace_period_neither_stands_nor_goes_ahead() -> None:
    asks = {"annotations": {names.GRACE_PERIOD: "full"}}
    assert by(released_from(3, stops_in=SEEN, pods=asks)) == [EVICT_BY] * 3
    assert by(released_from(3, pods=asks)) == [EVICT_BY] * 3


def test_it_is_said_what_does_not_fit_and_until_when_it_stays() -> None:
    census = released_from(1, stops_in=SEEN)
    (each,) = plan(census).forced
    (step,) = [step for step in plan(census).steps if step.verb is Verb.WAIT]
    assert each.after == timedelta(seconds=25)
    assert each.eviction().message == (
        "its node dies, and it stood last of its workload: evicted, replacement or not, and 25 s"
        " of its grace period do not fit"
    )
    assert step.until == LATEST


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        (Way.BY_ORDINAL, [EVICT_BY, LATEST, LATEST]),
        (Way.AT_ONCE, [EVICT_BY, LATEST, LATEST]),
        (Way.AT_LAST_MOMENT, [EVICT_BY] * 3),
    ],
)
def test_so_do_pods_of_other_ways_if_another_one_replaces_them(
    way: Way, expected: list[datetime]
) -> None:
    assert [each.evict_by for each in _ordinals(way, stops_in=SEEN)] == expected


def test_of_ordinals_the_lowest_stand_last() -> None:
    found = _ordinals(Way.AT_ONCE, stops_in=SEEN)
    assert [each.pod.name for each in found] == ["db-2", "db-1", "db-0"]


def test_none_of_them_goes_ahead_for_it_would_leave_a_gap() -> None:
    assert [each.evict_by for each in _ordinals(Way.AT_ONCE)] == [EVICT_BY] * 3


def _ordinals(way: Way, **other: Any) -> Sequence[Forced]:
    """What is planned for three ordinals on n1. A budget that may allow it later counts them."""
    stateful_set = builders.stateful_set(replicas=3)
    pods = [builders.pod(f"db-{number}", of=stateful_set) for number in range(3)]
    census = builders.census_of(
        builders.owner(stateful_set),
        pods,
        moving=[builders.moving(pod, way, WARNING) for pod in pods],
        budgets=[builders.budget(demanded=2)],
        **other,
    )
    return plan(builders.with_nodes(census, dooms=DYING)).forced
