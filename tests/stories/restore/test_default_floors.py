"""Floors that nobody asked for: new pods prefer on-demand, and no pod goes or waits for it."""

import pytest

from evenkeel.model import names
from tests.kit.manifests import resource, stateful_set
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
