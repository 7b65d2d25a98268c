"""What an owner asks of where pods are stays true under restore, by the real scheduler.

It counts a spread over those nodes alone that a pod's affinity allows, and a move allows one
capacity type.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from evenkeel.model import names
from tests.e2e.manifests import deployment, stateful_set
from tests.e2e.placement.restoring import all_ready, planned, restore
from tests.e2e.placement.webhook import Ground
from tests.kit.manifests import Manifest

pytestmark = pytest.mark.controlplane


def spread(key: str, skew: int = 1, **fields: Any) -> Sequence[Manifest]:
    """A hard spread over a label of nodes."""
    selector = {"matchLabels": {"app": "web"}}
    constraint = {"maxSkew": skew, "topologyKey": key, "labelSelector": selector, **fields}
    return [{**constraint, "whenUnsatisfiable": "DoNotSchedule"}]


def add(ground: Ground, *added: str) -> None:
    """Add nodes, which are called by type, zone and number, as ``s-a-1``."""
    called = [f"{ground.namespace}-{name}" for name in added]
    for name in called:
        _, kind, zone, _ = name.rsplit("-", 3)
        ground.control_plane.add_node(
            name, spot=kind == "s", zone=f"eu-central-1{zone}", cpu="64", pods=200, wait=False
        )
    for name in called:
        ground.control_plane.wait_for_node(name)


def where(ground: Ground, number: int, part: int) -> Mapping[str, int]:
    """How many of the pods are on which type (-3), in which zone (-2), or on which node (-1)."""
    pods = all_ready(ground, number)
    parts = [pod["spec"]["nodeName"].rsplit("-", 3) for pod in pods]
    return Counter(each[part] if part != -1 else "-".join(each[1:]) for each in parts)


def asks_for(ground: Ground, kind: str, floor: str) -> None:
    """Write a floor on the workload ``web`` that runs already."""
    asked = {"metadata": {"annotations": {names.ON_DEMAND: floor}}}
    ground.control_plane.merge("apps/v1", kind, "web", asked, ground.namespace)


def test_a_soft_spread_of_a_floors_pods_counts_those_on_spot_too(ground: Ground) -> None:
    """Two pods each are in two zones on spot, and three more belong on on-demand."""
    add(ground, "s-a-0", "s-b-0")
    soft = spread(names.ZONE)[0] | {"whenUnsatisfiable": "ScheduleAnyway"}
    floored: dict[str, Any] = {"annotations": {names.ON_DEMAND: "3"}}
    web = deployment("web", 4, start="200ms", topologySpreadConstraints=[soft], **floored)
    ground.apply(web)
    assert where(ground, 4, -2) == {"a": 2, "b": 2}
    add(ground, "o-a-0", "o-b-0", "o-c-0")
    ground.serve()

    ground.scale("Deployment", "web", 7)

    assert where(ground, 7, -3) == {"o": 3, "s": 4}
    assert sorted(where(ground, 7, -2).values()) == [2, 2, 3]


def test_a_floor_that_is_asked_for_later_empties_no_zone(ground: Ground) -> None:
    add(ground, "s-a-0", "s-b-0", "s-c-0")
    ground.serve()
    rules: dict[str, Any] = {"topologySpreadConstraints": spread(names.ZONE)}
    ground.apply(deployment("web", 6, start="200ms", **rules))
    assert [*where(ground, 6, -2).values()] == [2, 2, 2]
    add(ground, "o-a-0")
    asks_for(ground, "Deployment", "all")

    restore(ground, "--apply")

    assert where(ground, 6, -2) == {"a": 2, "b": 2, "c": 2}
    assert where(ground, 6, -3) == {"o": 2, "s": 4}
    assert planned(ground)["web"]["reason"] == "LessEven"


@pytest.mark.parametrize("rules", [{}, {"topologySpreadConstraints": spread(names.HOSTNAME)}])
def test_a_spot_node_that_comes_gets_no_more_than_the_others_have(
    ground: Ground, rules: Mapping[str, Any]
) -> None:
    add(ground, *(f"o-a-{number}" for number in range(6)))
    ground.serve()
    apart = {"topologySpreadConstraints": spread(names.HOSTNAME)}
    ground.apply(deployment("web", 6, start="200ms", **(rules or apart)))
    assert max(where(ground, 6, -1).values()) == 1
    add(ground, "s-a-0")

    restore(ground, "--apply")

    assert max(where(ground, 6, -1).values()) == 1
    assert where(ground, 6, -3) == {"o": 5, "s": 1}


def test_ordinals_stay_in_their_zones(ground: Ground) -> None:
    add(ground, "o-a-0", "o-b-0", "o-c-0")
    ground.serve()
    soft = spread(names.ZONE)[0] | {"whenUnsatisfiable": "ScheduleAnyway"}
    web = stateful_set("web", 3, start="200ms", topologySpreadConstraints=[soft])
    web["metadata"]["annotations"] = {names.ON_DEMAND: "none"}
    ground.apply(web)
    assert where(ground, 3, -2) == {"a": 1, "b": 1, "c": 1}
    add(ground, "s-a-0", "s-a-1", "s-a-2")

    restore(ground, "--apply")

    assert where(ground, 3, -2) == {"a": 1, "b": 1, "c": 1}
    assert where(ground, 3, -3) == {"o": 2, "s": 1}


@pytest.mark.parametrize(
    ("skew", "replicas", "split"), [(6, 10, {"o": 2, "s": 8}), (1, 6, {"o": 3, "s": 3})]
)
def test_a_spread_over_capacity_types_is_its_owners_ratio(
    ground: Ground, skew: int, replicas: int, split: Mapping[str, int]
) -> None:
    add(ground, "o-a-0", "o-a-1", "s-a-0", "s-a-1")
    ground.serve()
    rules: dict[str, Any] = {
        "topologySpreadConstraints": spread(names.EKS_CAPACITY, skew, minDomains=2)
    }
    ground.apply(deployment("web", replicas, start="200ms", **rules))
    assert where(ground, replicas, -3) == split
    assert planned(ground)["web"]["reason"] == "OwnSpread"

    restore(ground, "--apply")

    assert where(ground, replicas, -3) == split


def test_a_template_that_prefers_on_demand_keeps_what_is_there(ground: Ground) -> None:
    add(ground, "o-a-0", "o-a-1")
    ground.serve()
    clause = {"key": names.EKS_CAPACITY, "operator": "In", "values": ["ON_DEMAND"]}
    term = {"weight": 100, "preference": {"matchExpressions": [clause]}}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [term]}
    ground.apply(deployment("web", 4, start="200ms", affinity={"nodeAffinity": preferred}))
    assert where(ground, 4, -3) == {"o": 4}
    add(ground, "s-a-0", "s-a-1")
    assert planned(ground)["web"]["reason"] == "OwnPreference"

    restore(ground, "--apply")

    assert where(ground, 4, -3) == {"o": 4}


@pytest.mark.parametrize("is_placed", [True, False], ids=["placed", "not placed"])
def test_new_pods_go_where_their_template_prefers(ground: Ground, *, is_placed: bool) -> None:
    add(ground, "o-a-0", "o-a-1", "s-a-0", "s-a-1")
    if is_placed:
        ground.serve()
    clause = {"key": names.EKS_CAPACITY, "operator": "In", "values": ["ON_DEMAND"]}
    term = {"weight": 100, "preference": {"matchExpressions": [clause]}}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [term]}
    ground.apply(deployment("web", 4, start="200ms", affinity={"nodeAffinity": preferred}))
    assert where(ground, 4, -3) == {"o": 4}
