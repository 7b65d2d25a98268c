"""Which nodes an autoscaler makes for pods without a place."""

from datetime import timedelta

from evenkeel.model.capacity import WELL_KNOWN
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
