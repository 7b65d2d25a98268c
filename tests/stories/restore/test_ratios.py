"""Restore brings every workload to its floor, and what is above it to spot."""

import pytest

from evenkeel.model import names
from tests.kit.manifests import deployment
from tests.kit.restoring import RestoreScene


@pytest.mark.parametrize(
    ("on", "spare", "before", "moves"),
    [("o0 o1", "s0 s1", {"on-demand": 5}, 3), ("s0 s1", "o0 o1", {"spot": 5}, 2)],
    ids=["what is above a floor goes to spot", "a floor that is missing is made"],
)
def test_pods_go_one_at_a_time_to_where_they_belong(
    scene: RestoreScene, on: str, spare: str, before: dict[str, int], moves: int
) -> None:
    """They were placed while no webhook answered."""
    scene.webhook.down = True
    scene.place(deployment("web", 5, notes={names.ON_DEMAND: "2"}), on=on)
    scene.webhook.down = False
    scene.given(on=spare)
    assert scene.split("web") == before

    scene.run(until=300)

    assert scene.split("web") == {"on-demand": 2, "spot": 3}
    assert len(scene.moves("web")) == moves
    assert scene.lowest("web") == 5
