"""A Deployment's arithmetic."""

import pytest

from evenkeel_sandbox.simulator.api.objects import Obj
from evenkeel_sandbox.simulator.controllers import rollout


def deployment(replicas: int, surge: int | str = "25%", unavailable: int | str = "25%") -> Obj:
    bounds = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": bounds},
        },
        "status": {"replicas": replicas},
    }


def replica_set(
    name: str, size: int, available: int | None = None, *, most: int = 0, desired: int = 0
) -> Obj:
    annotations = {}
    if most:
        annotations[rollout.MOST] = str(most)
    if desired:
        annotations[rollout.DESIRED] = str(desired)
    return {
        "metadata": {
            "name": name,
            "creationTimestamp": f"2026-01-01T00:00:0{len(name)}Z",
            "annotations": annotations,
        },
        "spec": {"replicas": size},
        "status": {
            "replicas": size,
            "availableReplicas": size if available is None else available,
        },
    }


def sizes(result: rollout.Sizes) -> dict[str, int]:
    return {rs["metadata"]["name"]: size for rs, size in result}


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "expected"),
    [
        (10, "25%", "25%", (3, 2)),
        (1, "25%", "25%", (1, 0)),
        (4, 0, 0, (0, 1)),
        (3, 0, "10%", (0, 1)),
        (2, 0, 5, (0, 2)),
        (0, "25%", "25%", (0, 0)),
    ],
)
def test_bounds_are_rounded_so_that_a_rollout_can_move(
    replicas: int, surge: int | str, unavailable: int | str, expected: tuple[int, int]
) -> None:
    given = deployment(replicas, surge, unavailable)
    assert (rollout.max_surge(given), rollout.max_unavailable(given)) == expected


def test_recreate_has_no_bounds() -> None:
    given = deployment(4)
    given["spec"]["strategy"] = {"type": "Recreate"}
    assert (rollout.max_surge(given), rollout.max_unavailable(given)) == (0, 0)


def test_the_new_replica_set_grows_into_the_surge() -> None:
    given = deployment(10, surge=3)
    old = [replica_set("old", 10)]
    assert rollout.grow(given, None, old) == 3
    assert rollout.grow(given, replica_set("new", 3), old) == 3
    assert rollout.grow(given, replica_set("new", 3), [replica_set("old", 6)]) == 7
    assert rollout.grow(given, replica_set("new", 12), []) == 10


def test_old_replica_sets_shrink_by_what_may_be_missing() -> None:
    given = deployment(10, surge=0, unavailable=2)
    result = rollout.shrink(given, replica_set("new", 0), [replica_set("old", 10)])
    assert sizes(result) == {"old": 8}


def test_old_replica_sets_keep_what_is_needed_when_the_new_pods_are_not_available() -> None:
    given = deployment(10, surge=3, unavailable=2)
    result = rollout.shrink(given, replica_set("new", 5, 0), [replica_set("old", 8)])
    assert sizes(result) == {}


def test_old_pods_that_are_not_available_go_first() -> None:
    given = deployment(4, surge=1, unavailable=1)
    old = [replica_set("broken", 2, 0), replica_set("o", 2)]
    result = rollout.shrink(given, replica_set("new", 1), old)
    assert sizes(result) == {"broken": 0}


def test_a_scaled_rollout_is_scaled_in_proportion() -> None:
    given = deployment(20, surge=0, unavailable=1)
    both = [
        replica_set("new", 3, most=10, desired=10),
        replica_set("old", 7, most=10, desired=10),
    ]
    assert rollout.is_scaling_event(given, both)
    assert sizes(rollout.scale(given, both[0], [both[1]])) == {"old": 14, "new": 6}


def test_a_rollout_scaled_to_nothing_is_nothing() -> None:
    given = deployment(0)
    both = [replica_set("new", 3, most=13), replica_set("old", 8, most=13)]
    assert sizes(rollout.scale(given, both[0], [both[1]])) == {"old": 0, "new": 0}


def test_the_only_active_replica_set_gets_all_replicas() -> None:
    given = deployment(5)
    result = rollout.scale(given, replica_set("new", 0), [replica_set("old", 2)])
    assert sizes(result) == {"old": 5}
    assert sizes(rollout.scale(given, replica_set("new", 0), [])) == {"new": 5}
    assert rollout.scale(given, None, []) == []


def test_a_saturated_new_replica_set_leaves_nothing_to_the_old() -> None:
    given = deployment(5)
    new = replica_set("new", 5, desired=5)
    assert sizes(rollout.scale(given, new, [replica_set("old", 2)])) == {"old": 0}
