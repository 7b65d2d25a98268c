"""Reserved capacity that EC2 takes back counts as spot: no floor stands on it."""

from evenkeel.model import names
from evenkeel_cli.status.gather import gather
from tests.kit.manifests import deployment
from tests.kit.restoring import RestoreScene

FLOOR_OF_TWO = {names.ON_DEMAND: "2"}
RESERVED = {names.CAPACITY_LABELS[2]: "reserved"}
LENT = RESERVED | {names.INTERRUPTIBLE: "true"}


def survivors(scene: RestoreScene) -> int:
    """What ``evenkeel status`` prints as SURVIVE."""
    (standing,) = gather(scene.cluster, "default", scene.clock).standings
    return standing.survivors


def test_a_floor_leaves_lent_nodes_for_on_demand_ones(scene: RestoreScene) -> None:
    """It was placed while no webhook answered."""
    scene.webhook.down = True
    scene.add_node("r0", spot=False, **LENT)
    scene.place(deployment("web", 4, notes=FLOOR_OF_TWO), on="")
    scene.webhook.down = False
    assert survivors(scene) == 0
    scene.given(on="o0")
    scene.run(until=600)

    assert scene.split("web") == {"on-demand": 2, "reserved": 2}
    assert survivors(scene) == 2
    assert scene.lowest("web") == 4


def test_pods_of_a_floor_wait_rather_than_go_to_a_lent_node(scene: RestoreScene) -> None:
    scene.add_node("r0", spot=False, **LENT)
    scene.settle()
    scene.place(deployment("web", 4, notes=FLOOR_OF_TWO), on="")

    assert scene.split("web") == {"reserved": 2, "none": 2}


def test_what_is_above_the_floor_goes_to_lent_nodes(scene: RestoreScene) -> None:
    scene.place(deployment("web", 4, notes=FLOOR_OF_TWO), on="o0")
    scene.add_node("r0", spot=False, **LENT)
    scene.begin()
    scene.run(until=600)

    assert scene.split("web") == {"on-demand": 2, "reserved": 2}
    assert scene.moves() != []


def test_reserved_capacity_that_is_not_lent_keeps_a_floor(scene: RestoreScene) -> None:
    scene.add_node("r0", spot=False, **RESERVED, **{names.INTERRUPTIBLE: "false"})
    scene.given(deployment("web", 2, notes=FLOOR_OF_TWO), on="", settle=0)
    scene.run(until=200)

    assert scene.split("web") == {"reserved": 2}
    assert survivors(scene) == 2
    assert scene.moves() == []


def test_a_template_with_a_floor_keeps_off_lent_nodes(scene: RestoreScene) -> None:
    """Its spread knows two capacity types by one label, of which lent nodes have a third value."""
    scene.add_node("r0", spot=False, **LENT)
    notes = FLOOR_OF_TWO | {names.PLACEMENT: names.BY_TEMPLATE}
    scene.given(deployment("web", 4, notes=notes), on="s0 o0", settle=0)
    scene.run(until=600)

    assert scene.split("web") == {"on-demand": 2, "spot": 2}
