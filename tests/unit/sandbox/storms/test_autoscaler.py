"""Which nodes an autoscaler makes for pods without a place."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN, Capacity
from evenkeel.model.node import Node
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.storms.autoscaler import Autoscaler
from tests.kit.manifests import deployment, resource

ZONE = "topology.kubernetes.io/zone"
AFTER = timedelta(seconds=60)


def test_a_node_is_made_in_a_zone_that_the_pods_there_leave_open() -> None:
    clock = SimulatedClock()
    cluster = SimulatedCluster(clock)
    room = {"cpu": "1", "memory": "4Gi", "pods": "110"}
    for name, zone in (("one", "a"), ("two", "b")):
        labels = {"karpenter.sh/capacity-type": "on-demand", ZONE: zone}
        status = {"allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
        cluster.apply(resource("Node", name, labels=labels, spec={}, status=status))
    Autoscaler(clock, cluster, WELL_KNOWN, lambda new: cluster.apply(*new), after=AFTER)
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    cluster.apply(deployment("web", 1, pod={"cpu": "600m", "affinity": apart}))
    clock.advance(timedelta(seconds=5))
    (pod,) = cluster.objects("Pod")
    taken = pod["spec"]["nodeName"]
    other = "two" if taken == "one" else "one"
    cluster.apply(deployment("full", 1, pod={"cpu": "900m", "nodeName": other}))
    clock.advance(timedelta(seconds=5))
    cluster.scale("Deployment", "web", "default", 2)
    clock.advance(AFTER + timedelta(seconds=30))
    nodes = {each["metadata"]["name"]: each for each in cluster.objects("Node")}
    made = [name for name in nodes if name.startswith("scaled-")]
    zones = {nodes[name]["metadata"]["labels"][ZONE] for name in made}
    assert zones == {nodes[other]["metadata"]["labels"][ZONE]}


@pytest.mark.parametrize(
    ("only", "asks"),
    [
        ({names.ARCH: "arm64"}, {"nodeSelector": {names.ARCH: "arm64"}}),
        ({names.OS: "windows"}, {"nodeSelector": {names.OS: "windows"}}),
        ({"example.com/gpu": "1"}, {"resources": {"requests": {"example.com/gpu": "1"}}}),
    ],
)
@pytest.mark.parametrize("tainted", [False, True])
def test_a_kind_of_which_all_nodes_are_spot_is_made_on_demand(
    only: dict[str, str], asks: dict[str, Any], *, tainted: bool
) -> None:
    """Else its pods are at zero for good as soon as spot is gone."""
    clock = SimulatedClock()
    cluster = SimulatedCluster(clock)
    room = {"cpu": "4", "memory": "4Gi", "pods": "110"}
    device = {key: value for key, value in only.items() if key == "example.com/gpu"}
    usual = {names.ARCH: "amd64", names.OS: "linux", ZONE: "a"}
    key = names.KARPENTER_CAPACITY
    taints = [{"key": key, "value": "spot", "effect": "NoSchedule"}] if tainted else []
    for name, capacity, more in (("o", "on-demand", {}), ("s", "spot", only)):
        labels = usual | {k: v for k, v in more.items() if k not in device} | {key: capacity}
        cluster.apply(
            resource(
                "Node",
                name,
                labels=labels,
                spec={"taints": taints if capacity == "spot" else []},
                status={"allocatable": room | (device if more else {})},
            )
        )
    Autoscaler(clock, cluster, WELL_KNOWN, lambda new: cluster.apply(*new), after=AFTER)
    cluster.delete("Node", "s")
    made = deployment("web", 1)
    pod = made["spec"]["template"]["spec"]
    pod["containers"][0].setdefault("resources", {}).setdefault("requests", {})
    pod["containers"][0]["resources"]["requests"] |= asks.get("resources", {}).get("requests", {})
    pod |= {field: value for field, value in asks.items() if field == "nodeSelector"}
    cluster.apply(made)
    clock.advance(AFTER + timedelta(seconds=30))
    (placed,) = cluster.objects("Pod")
    node = placed["spec"].get("nodeName", "")
    assert node.startswith("scaled-")
    (new,) = (each for each in cluster.objects("Node") if each["metadata"]["name"] == node)
    assert WELL_KNOWN.of(msgspec.convert(new, Node)) is Capacity.ON_DEMAND
