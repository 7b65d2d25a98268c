"""Drains of pods beside which no second one comes: behind the gate they take as long as without."""

from tests.kit.manifests import apart, deployment
from tests.kit.queueing import GATED, opens_gates
from tests.stories.gate.gated import Gated

ZONE = "topology.kubernetes.io/zone"


def test_pods_that_are_kept_one_a_zone_pass_in_turns(gated: Gated) -> None:
    for zone in "abc":
        gated.add_node(f"s{zone}", spot=True, room="", **{ZONE: zone})
    gated.given(deployment("web", 3, pod=apart("web", ZONE)), on="")
    for zone in "abc":
        gated.add_node(f"o{zone}", spot=False, room="", **{ZONE: zone})
    drainers = [gated.drainer() for _ in "abc"]
    for drainer, zone in zip(drainers, "abc", strict=True):
        drainer.drain(f"s{zone}")
    assert gated.finish(*drainers, within=90) > 5
    gated.settle(10)
    assert gated.lowest("web") == 2
    assert {pod.spec.node_name for pod in gated.pods("web") if pod.ready} == {"oa", "ob", "oc"}


def test_gated_pods_pass_in_turns(gated: Gated) -> None:
    """A queue lets in no more pods than there were."""
    opens_gates(gated.clock, gated.cluster, 3)
    gated.given(deployment("web", 3, pod=GATED), spare="s2")
    took = gated.drain("s1", within=90)
    gated.settle(10)
    assert took > 5
    assert gated.lowest("web") == 2
