"""Somebody drains a node that dies: Evenkeel hands its pods over, and evictions wait meanwhile."""

from tests.kit.manifests import deployment
from tests.stories.gate.gated import Gated


def test_where_nothing_has_room_an_eviction_waits_five_minutes_however_late_its_node_dies(
    gated: Gated,
) -> None:
    gated.scene.add_node("s1", spot=False)
    gated.scene.apply(deployment("web", 1))
    gated.begin()
    gated.scene.scale_in("s1", longest=3_600)
    gated.scene.settle(5)
    drainer = gated.drainer()
    drainer.drain("s1")
    took = gated.finish(drainer, within=400)
    assert 300 <= took < 311
