"""Somebody drains a node that dies: Evenkeel hands its pods over, and evictions wait meanwhile."""

from tests.kit.manifests import deployment
from tests.stories.gate.gated import Gated


def test_where_nothing_has_room_an_eviction_waits_five_minutes_however_late_its_node_dies(
    gated: Gated,
) -> None:
    gated.given(deployment("web"), on="o1")
    gated.scale_in("o1", longest=3_600)
    gated.settle(5)
    took = gated.drain("o1", within=400)
    assert 300 <= took < 311
