"""Floors that nobody asked for: new pods prefer on-demand, and no pod goes or waits for it."""

import pytest

from evenkeel.model import names
from tests.kit.manifests import deployment, resource, stateful_set
from tests.kit.restoring import RestoreScene
from tests.stories.restore.conftest import MakeScene

HOUR = 3600.0


def seconds_without_a_ready_pod(scene: RestoreScene, until: float) -> int:
    """Run, and count the seconds in which no pod of ``db`` is Ready."""
    without = 0
    while scene.seconds < until:
        scene.run(until=scene.seconds + 1)
        without += not any(pod.ready for pod in scene.pods("db"))
    return without


@pytest.mark.parametrize("managed", ["true", "false"])
def test_a_single_ordinal_is_back_on_spot_as_soon_as_if_nobody_placed_it(
    make_scene: MakeScene, managed: str
) -> None:
    scene = make_scene()
    scene.apply(resource("Namespace", "default", labels={names.MANAGED: managed}))
    scene.given(stateful_set("db", 1), on="s0 s1 s2")
    node = scene.pods("db")[0].spec.node_name
    made = scene.made("db")
    without = seconds_without_a_ready_pod(scene.interrupt(node), until=HOUR)
    assert without <= 4
    assert len(made) == 2
    assert scene.split("db") == {"spot": 1}
    assert not scene.moves("db")
    assert not scene.told("FloorRelaxed")


def test_its_next_pod_goes_to_on_demand_where_that_has_room(scene: RestoreScene) -> None:
    scene.given(stateful_set("db", 3), on="s0 s1 s2", spare="o0 o1")
    scene.interrupt("s0", "s1", "s2").run(until=240)
    scene.add_nodes("t", 2, spot=True)
    assert scene.split("db")["on-demand"] == 3
    made = scene.made("db")
    scene.run(until=HOUR)
    assert len(made) == 3
    assert scene.split("db") == {"on-demand": 3}
    assert {str(decision.reason) for _, decision in scene.told("DefaultFloor")} == {"DefaultFloor"}


@pytest.mark.parametrize("floor", ["two", "+2", "30 %", "2.0", ""])
def test_a_typo_moves_nothing_and_the_namespaces_floor_counts_before_it(
    scene: RestoreScene, floor: str
) -> None:
    notes = {names.ON_DEMAND: floor}
    scene.given(deployment("web", 4, notes={names.ON_DEMAND: "2"}), on="o0 o1 s0 s1", spare="s2")
    assert scene.split("web") == {"on-demand": 2, "spot": 2}
    scene.apply(deployment("web", 4, notes=notes))
    scene.run(until=HOUR)
    assert scene.moves("web") == []
    scene.manage("default", **{names.ON_DEMAND: "all"})
    scene.run(until=2 * HOUR)
    assert scene.split("web") == {"on-demand": 4}


@pytest.mark.parametrize("by", ["namespace", "setting"])
def test_a_required_default_is_brought_back_and_stands_in_a_storm(
    make_scene: MakeScene, by: str
) -> None:
    scene = make_scene(defaults_required=by == "setting")
    if by == "namespace":
        scene.manage("default", **{names.DEFAULT_FLOORS: "required"})
    scene.webhook.down = True
    scene.given(stateful_set("db", 1), stateful_set("big", 3), deployment("web", 2), on="s0 s1 s2")
    scene.webhook.down = False
    scene.add_nodes("o", 3, spot=False)
    scene.run(until=HOUR)
    assert scene.split("db") == {"on-demand": 1}
    assert scene.split("big") == {"on-demand": 2, "spot": 1}
    assert scene.split("web") == {"spot": 2}
    (before,) = scene.pods("db")
    scene.interrupt("s0", "s1", "s2").run(until=HOUR + 300)
    (after,) = scene.pods("db")
    assert (after.uid, after.ready) == (before.uid, True)
