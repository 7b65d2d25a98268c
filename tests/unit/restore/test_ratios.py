"""Restore brings every workload to its floor, and what is above it to spot."""

from evenkeel.model import names
from tests.fixtures.restoring import RestoreScene
from tests.unit.drain.manifests import deployment

FLOOR_OF_TWO = {names.ON_DEMAND: "2"}


def test_what_is_above_its_floor_goes_to_spot_one_pod_at_a_time(scene: RestoreScene) -> None:
    scene.add_nodes("o", 2, spot=False)
    scene.webhook.down = True
    scene.apply(deployment("web", 5, notes=FLOOR_OF_TWO))
    scene.settle()
    scene.webhook.down = False
    scene.add_nodes("s", 2, spot=True)
    scene.begin()
    assert scene.split("web") == {"on-demand": 5}

    scene.run(until=300)

    assert scene.split("web") == {"on-demand": 2, "spot": 3}
    assert len(scene.moves("web")) == 3
    assert scene.lowest("web") == 5


def test_a_floor_that_is_missing_is_made(scene: RestoreScene) -> None:
    scene.add_nodes("s", 2, spot=True)
    scene.webhook.down = True
    scene.apply(deployment("web", 5, notes=FLOOR_OF_TWO))
    scene.settle()
    scene.webhook.down = False
    scene.add_nodes("o", 2, spot=False)
    scene.begin()
    assert scene.split("web") == {"spot": 5}

    scene.run(until=300)

    assert scene.split("web") == {"on-demand": 2, "spot": 3}
    assert len(scene.moves("web")) == 2
    assert scene.lowest("web") == 5
