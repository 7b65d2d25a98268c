"""Traffic is shifted away from a zone: its nodes are no place, and its pods stay where they are.

EKS cordons the nodes that are there when the shift begins. In these stories nobody does: they are
about nodes that EKS has not cordoned yet, or that joined during the shift.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.model import names
from evenkeel.model.zonal_shift import COUNTS_FOR
from tests.kit.manifests import Manifest, deployment, stateful_set
from tests.kit.restoring import RestoreScene
from tests.stories.restore.pools import MINUTE

SOUND: dict[str, Any] = {names.ZONE_ID: "euc1-az1"}
AWAY: dict[str, Any] = {names.ZONE_ID: "euc1-az2"}


def web(floor: int, replicas: int = 3, app: str = "web") -> Manifest:
    """A Deployment with so many of its pods on on-demand nodes."""
    return deployment(app, replicas, notes={names.ON_DEMAND: str(floor)})


def db(floor: int) -> Manifest:
    """A StatefulSet of three."""
    return stateful_set("db", 3, notes={names.ON_DEMAND: str(floor)})


def shift(scene: RestoreScene) -> None:
    """Shift away from the second zone, and wait until the schedule has noted it."""
    scene.zonal_shifts.shift("euc1-az2")
    scene.begin()
    scene.run(until=65)


def on_nodes(scene: RestoreScene, app: str) -> Mapping[str, int]:
    """How many pods are on which node."""
    return Counter(pod.spec.node_name for pod in scene.pods(app) if pod.active)


def left(scene: RestoreScene, app: str) -> set[str]:
    """Why restore did not move pods of a workload since the shift was noted."""
    return {
        each.reason
        for at, each in scene.told()
        if at > 65 and each.workload is not None and each.workload.name == app and not each.write
    }


def test_a_floor_is_not_moved_into_the_zone(scene: RestoreScene) -> None:
    scene.add_node("s1", **SOUND)
    scene.place(web(0), on="")
    shift(scene)
    scene.add_node("o1", spot=False, **AWAY)
    scene.apply(web(1))
    scene.run(until=10 * MINUTE)
    assert on_nodes(scene, "web") == {"s1": 3}

    scene.add_node("o2", spot=False, **SOUND)
    scene.run(until=60 * MINUTE)
    assert on_nodes(scene, "web") == {"s1": 2, "o2": 1}
    assert scene.lowest("web") == 3


def test_what_is_above_a_floor_does_not_go_to_spot_nodes_of_the_zone(scene: RestoreScene) -> None:
    scene.add_node("o1", spot=False, **SOUND)
    scene.place(web(3), db(3), on="")
    shift(scene)
    scene.add_node("s1", **AWAY)
    scene.apply(web(1), db(1))

    scene.run(until=30 * MINUTE)

    assert on_nodes(scene, "web") == {"o1": 3, "": 1}  # it waits for a node that nobody makes
    assert on_nodes(scene, "db") == {"o1": 3}
    assert scene.lowest("web") == scene.lowest("db") == 3


def test_pods_in_the_zone_stay_until_it_is_over(scene: RestoreScene) -> None:
    scene.add_node("o1", spot=False, **AWAY)
    scene.place(web(3), db(3), on="")
    shift(scene)
    scene.add_node("s1", **SOUND)
    scene.apply(web(1), db(1))
    scene.run(until=10 * MINUTE)
    assert on_nodes(scene, "web") == on_nodes(scene, "db") == {"o1": 3}
    assert left(scene, "web") == left(scene, "db") == {"ZoneShifted"}

    scene.zonal_shifts.end("euc1-az2")
    scene.run(until=20 * MINUTE)
    assert on_nodes(scene, "web") == on_nodes(scene, "db") == {"o1": 1, "s1": 2}


def test_a_floor_whose_pods_are_in_the_zone_is_not_held_there(scene: RestoreScene) -> None:
    """One of the floor of two gets no traffic: the third stays on on-demand, too."""
    scene.add_node("o1", spot=False, room="0.15", **AWAY)
    scene.add_node("o2", spot=False, room="0.25", **SOUND)
    scene.place(web(3), on="")
    held = on_nodes(scene, "web")
    assert held == {"o1": 1, "o2": 2}
    shift(scene)
    scene.add_node("s1", **SOUND)
    scene.apply(web(2))

    scene.run(until=10 * MINUTE)

    assert on_nodes(scene, "web") == held
    assert left(scene, "web") == {"FloorNotReady"}


@pytest.mark.parametrize(("floor", "node"), [(0, "s1"), (1, "o1")])
def test_new_pods_rather_go_to_other_zones(scene: RestoreScene, floor: int, node: str) -> None:
    for zone, labels in enumerate((AWAY, SOUND)):
        scene.add_node(f"s{zone}", **labels)
        scene.add_node(f"o{zone}", spot=False, **labels)
    shift(scene)
    scene.apply(*(web(floor, 1, app=f"web-{number}") for number in range(6)))
    scene.run(until=90)
    assert scene.cluster.objects("Pod")
    assert {pod["spec"]["nodeName"] for pod in scene.cluster.objects("Pod")} == {node}


def test_where_only_the_zone_has_room_new_pods_go_there(scene: RestoreScene) -> None:
    scene.add_node("s1", **AWAY)
    shift(scene)
    scene.apply(web(0))
    scene.run(until=90)
    assert on_nodes(scene, "web") == {"s1": 3}


def test_without_word_of_it_a_shift_is_forgotten(scene: RestoreScene) -> None:
    scene.add_node("s1", **SOUND)
    scene.place(web(0), on="")
    shift(scene)
    scene.schedule.stop()
    scene.add_node("o1", spot=False, **AWAY)
    scene.apply(web(1))
    scene.run(until=COUNTS_FOR / timedelta(seconds=1))
    assert on_nodes(scene, "web") == {"s1": 3}
    scene.run(until=20 * MINUTE)
    assert on_nodes(scene, "web") == {"s1": 2, "o1": 1}
