"""Nodes whose capacity label says neither type: no floor holds there, and no pod is sent there."""

from evenkeel.model import names
from evenkeel.model.capacity import CapacityLabels
from evenkeel_cli.decisions.unknown_capacity import UnknownCapacity
from evenkeel_cli.status.gather import Found, gather
from tests.kit.manifests import deployment
from tests.kit.restoring import RestoreScene
from tests.stories.restore.conftest import MakeScene

LABELS = CapacityLabels(("lifecycle",))
HOUR = 3_600
FLOOR_OF_TWO = {names.ON_DEMAND: "2"}


def status(scene: RestoreScene) -> Found:
    return gather(scene.cluster, "default", scene.clock, LABELS)


def scattered(make_scene: MakeScene) -> RestoreScene:
    """Four pods on two such nodes, placed while no webhook answered."""
    scene = make_scene(capacity_labels=LABELS)
    scene.webhook.down = True
    for name in ("s0", "s1"):
        scene.add_node(name, lifecycle="Ec2Spot")
    scene.place(deployment("web", 4, notes=FLOOR_OF_TWO), on="")
    scene.webhook.down = False
    return scene


def test_a_floor_that_is_on_such_nodes_alone_is_missing_and_its_pods_stay(
    make_scene: MakeScene,
) -> None:
    scene = scattered(make_scene)
    before = {pod.uid for pod in scene.pods("web")}
    scene.begin()
    scene.run(until=HOUR)

    found = status(scene)
    (standing,) = found.standings
    assert (standing.survivors, standing.missing, standing.on_demand) == (0, 2, 0)
    assert found.unknown_capacity == UnknownCapacity([], {"lifecycle=Ec2Spot": ["s0", "s1"]})
    assert {pod.uid for pod in scene.pods("web")} == before
    assert scene.lowest("web") == 4


def test_a_floor_leaves_such_nodes_once_for_on_demand_ones(make_scene: MakeScene) -> None:
    scene = scattered(make_scene)
    scene.add_node("o0", spot=False, lifecycle="OnDemand")
    scene.begin()
    scene.run(until=HOUR)

    assert len(scene.pods("web", "o0")) == 2
    assert status(scene).standings[0].survivors == 2
    assert len(scene.moves("web")) == 2
    assert scene.lowest("web") == 4


def test_nothing_above_a_floor_is_sent_to_such_nodes(make_scene: MakeScene) -> None:
    scene = make_scene(capacity_labels=LABELS)
    scene.add_node("o0", spot=False, lifecycle="OnDemand")
    scene.webhook.down = True
    scene.place(deployment("web", 4, notes=FLOOR_OF_TWO), on="o0")
    scene.webhook.down = False
    scene.add_node("s0", lifecycle="Ec2Spot")
    scene.begin()
    scene.run(until=HOUR)

    assert len(scene.pods("web", "o0")) == 4
    assert scene.lowest("web") == 4


def test_a_value_that_the_setting_names_is_spot(make_scene: MakeScene) -> None:
    labels = CapacityLabels(("lifecycle",), values={"lifecycle": ("Ec2Spot",)})
    scene = make_scene(capacity_labels=labels)
    scene.add_node("s0", lifecycle="Ec2Spot")
    scene.add_node("o0", spot=False, lifecycle="OnDemand")
    scene.webhook.down = True
    scene.place(deployment("web", 4, notes=FLOOR_OF_TWO), on="o0")
    scene.webhook.down = False
    scene.begin()
    scene.run(until=HOUR)

    assert len(scene.pods("web", "s0")) == 2
    assert scene.lowest("web") == 4
