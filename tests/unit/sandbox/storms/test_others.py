"""Who else acts in a storm: an autoscaler that makes nodes, and a drainer that breaks first."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.names import ZONE
from evenkeel_sandbox import snapshot_cluster, synthetic
from evenkeel_sandbox.events import at_time
from evenkeel_sandbox.simulation import nodes_of
from evenkeel_sandbox.simulator.api.objects import node_of
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from evenkeel_sandbox.storms import drainer
from evenkeel_sandbox.storms.autoscaler import Autoscaler
from evenkeel_sandbox.storms.drainer import Drainer, Tell
from evenkeel_sandbox.storms.starts import kind_of, node_start_of, start_seconds_of
from tests.kit.builders import NOW
from tests.kit.manifests import resource

AFTER = timedelta(seconds=60)


@pytest.fixture
def clock() -> SimulatedClock:
    return SimulatedClock(NOW)


@pytest.fixture
def cluster(clock: SimulatedClock) -> SimulatedCluster:
    """Ten nodes, seven of them spot, with 40 pods."""
    return snapshot_cluster.build(synthetic.objects(10, 40), clock)


def on(cluster: SimulatedCluster, node: str) -> int:
    return sum(node_of(pod) == node for pod in cluster.objects("Pod"))


def waiting(cluster: SimulatedCluster) -> int:
    return on(cluster, "")


def test_a_made_up_cluster_is_at_rest(clock: SimulatedClock, cluster: SimulatedCluster) -> None:
    before = {pod["metadata"]["uid"] for pod in cluster.objects("Pod")}
    clock.advance(timedelta(minutes=5))
    assert {pod["metadata"]["uid"] for pod in cluster.objects("Pod")} == before
    assert len(before) == 40
    spot = [node for node in nodes_of(cluster) if WELL_KNOWN.call_spot(node)]
    assert (len(nodes_of(cluster)), len(spot)) == (10, 7)


def test_its_pods_tell_how_long_they_took_to_start() -> None:
    made = synthetic.objects(10, 40)
    found = start_seconds_of(each for each in made if each["kind"] == "Pod")
    assert set(found.values()) == {(20.0, 20.0)}
    assert len(found) == sum(each["kind"] == "ReplicaSet" for each in made)


def test_nodes_come_for_pods_that_no_node_has_room_for(
    clock: SimulatedClock, cluster: SimulatedCluster
) -> None:
    scaler = Autoscaler(clock, cluster, WELL_KNOWN, lambda new: cluster.apply(*new), after=AFTER)
    cluster.scale("Deployment", "app-6", "team-6", 30)
    clock.advance(timedelta(seconds=30))
    lacking = waiting(cluster)
    assert (lacking > 5, scaler.made) == (True, 0)
    clock.advance(timedelta(seconds=60))
    assert waiting(cluster) == 0
    made = [node for node in nodes_of(cluster) if node.name.startswith("scaled-")]
    assert len(made) == scaler.made == -(-lacking // 5)
    assert not any(WELL_KNOWN.call_spot(node) for node in made)
    clock.advance(timedelta(minutes=5))
    assert scaler.made == len(made)


def late(nodes: int, pods: int, seconds: int) -> list[dict[str, Any]]:
    """A cluster whose nodes were made after its pods, and were Ready so long after those."""
    ready = at_second(seconds)
    made = [dict(each) for each in synthetic.objects(nodes, pods)]
    for each in made:
        if each["kind"] == "Node":
            each["metadata"] |= {"creationTimestamp": at_second(seconds - 10)}
            each["status"]["conditions"][0]["lastTransitionTime"] = ready
    return made


def at_second(seconds: int) -> str:
    return f"2026-01-01T00:{seconds // 60:02d}:{seconds % 60:02d}Z"


def test_pods_that_are_older_than_their_nodes_tell_how_long_nodes_take() -> None:
    found = node_start_of(late(40, 160, 95))
    assert set(found.values()) == {timedelta(seconds=95)}
    nodes = [each for each in late(40, 160, 95) if each["kind"] == "Node"]
    assert set(found) == {kind_of(each) for each in nodes}
    assert node_start_of(synthetic.objects(40, 160)) == {}
    assert node_start_of(late(40, 160, 605)) == {}


def test_a_node_takes_as_long_as_those_of_its_kind(
    clock: SimulatedClock, cluster: SimulatedCluster
) -> None:
    starts = node_start_of(late(10, 40, 95))
    scaler = Autoscaler(
        clock,
        cluster,
        WELL_KNOWN,
        lambda new: cluster.apply(*new),
        after=timedelta(seconds=5),
        after_of=starts,
    )
    cluster.scale("Deployment", "app-6", "team-6", 30)
    clock.advance(timedelta(seconds=90))
    assert scaler.made == 0
    clock.advance(timedelta(seconds=20))
    assert scaler.made > 0


def test_no_node_comes_for_a_pod_that_fits_on_none(
    clock: SimulatedClock, cluster: SimulatedCluster
) -> None:
    scaler = Autoscaler(clock, cluster, WELL_KNOWN, lambda new: cluster.apply(*new), after=AFTER)
    pod = {"containers": [{"name": "big", "resources": {"requests": {"cpu": "500"}}}]}
    cluster.apply(
        resource("Pod", "big", spec=pod),
    )
    clock.advance(timedelta(minutes=5))
    assert (waiting(cluster), scaler.made) == (1, 0)


MOUNTING = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
EVEN = {
    "maxSkew": 1,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": {"app": "big"}},
}


def big(name: str, cpu: int, **spec: Any) -> dict[str, Any]:
    """A pod that asks for so many thousandths of a core."""
    container = {"name": "main", "resources": {"requests": {"cpu": f"{cpu}m"}}}
    labels = {"app": "big"}
    return resource("Pod", name, "default", labels=labels, spec={"containers": [container], **spec})


@pytest.mark.parametrize(
    "own",
    [
        pytest.param(MOUNTING, id="its volume is there"),
        pytest.param({"topologySpreadConstraints": [EVEN]}, id="the other zones have one more"),
    ],
)
def test_nodes_come_in_the_zone_that_a_pod_needs(
    clock: SimulatedClock, cluster: SimulatedCluster, own: dict[str, Any]
) -> None:
    zone = "eu-central-1c"
    clause = {"key": ZONE, "operator": "In", "values": [zone]}
    only = {"required": {"nodeSelectorTerms": [{"matchExpressions": [clause]}]}}
    cluster.apply(
        resource("PersistentVolume", "v", spec={"nodeAffinity": only}),
        resource("PersistentVolumeClaim", "data", "default", spec={"volumeName": "v"}),
        big("in-a", 1, nodeSelector={ZONE: "eu-central-1a"}),
        big("in-b", 1, nodeSelector={ZONE: "eu-central-1b"}),
    )
    clock.advance(timedelta(seconds=5))
    scaler = Autoscaler(clock, cluster, WELL_KNOWN, lambda new: cluster.apply(*new), after=AFTER)
    cluster.apply(big("third", 3 * synthetic.CPU, **own))
    clock.advance(timedelta(minutes=5))
    assert (waiting(cluster), scaler.made) == (0, 1)
    (made,) = [node for node in nodes_of(cluster) if node.name.startswith("scaled-")]
    assert made.metadata.labels[ZONE] == zone


def test_where_all_nodes_are_spot_on_demand_ones_of_their_size_come(clock: SimulatedClock) -> None:
    made = synthetic.objects(10, 40)
    spot = [e for e in made if e["kind"] != "Node" or _capacity(e) == "spot"]
    there = {e["metadata"]["name"] for e in spot if e["kind"] == "Node"}
    kept = [e for e in spot if e["kind"] != "Pod" or e["spec"]["nodeName"] in there]
    cluster = snapshot_cluster.build(kept, clock)
    scaler = Autoscaler(clock, cluster, WELL_KNOWN, lambda new: cluster.apply(*new), after=AFTER)
    clock.advance(timedelta(minutes=3))
    assert (waiting(cluster), scaler.made > 0) == (0, True)
    others = [n for n in cluster.objects("Node") if n["metadata"]["name"] not in there]
    assert {_capacity(node) for node in others} == {"on-demand"}


def test_where_all_nodes_of_a_zone_are_spot_on_demand_ones_of_their_size_come_there(
    clock: SimulatedClock,
) -> None:
    zone = "eu-central-1b"
    kept = [
        each
        for each in synthetic.objects(10, 40)
        if each["kind"] == "Node"
        and (_capacity(each) == "spot" or each["metadata"]["labels"][ZONE] != zone)
    ]
    cluster = snapshot_cluster.build(kept, clock)
    scaler = Autoscaler(clock, cluster, WELL_KNOWN, lambda new: cluster.apply(*new), after=AFTER)
    for number in range(9):
        cluster.apply(big(f"in-zone-{number}", synthetic.CPU * 3, nodeSelector={ZONE: zone}))
    clock.advance(timedelta(minutes=3))
    assert (waiting(cluster), scaler.made > 0) == (0, True)


def _capacity(node: Mapping[str, Any]) -> str:
    text: str = node["metadata"]["labels"]["karpenter.sh/capacity-type"]
    return text


def event(kind: str, node: str, clock: SimulatedClock) -> dict[str, Any]:
    number = int(node.rpartition("-")[2])
    detail: dict[str, Any] = {"instance-id": f"i-{number:017x}"}
    if kind == "EC2 Spot Instance Interruption Warning":
        detail["instance-action"] = "terminate"
    return at_time(
        {
            "version": "0",
            "id": "e1",
            "detail-type": kind,
            "source": "aws.ec2",
            "account": "123456789012",
            "time": "2026-01-01T00:00:00Z",
            "region": "eu-central-1",
            "resources": [],
            "detail": detail,
        },
        clock.now(),
    )


@pytest.mark.parametrize("tell", [drainer.evict, drainer.delete])
def test_a_warned_node_is_emptied_at_once(
    tell: Tell, clock: SimulatedClock, cluster: SimulatedCluster
) -> None:
    acting = Drainer(clock, cluster, tell)
    assert (acting.is_idle, on(cluster, "node-0") > 0) == (True, True)
    acting.send(event("EC2 Instance Rebalance Recommendation", "node-0", clock))
    clock.advance(timedelta(seconds=10))
    assert on(cluster, "node-0") > 0
    acting.send(event("EC2 Spot Instance Interruption Warning", "node-0", clock))
    assert acting.is_idle
    clock.advance(timedelta(seconds=10))
    assert on(cluster, "node-0") == 0


def test_a_budget_keeps_a_pod_from_eviction_and_not_from_deletion(
    clock: SimulatedClock, cluster: SimulatedCluster
) -> None:
    (pod, *_) = [each for each in cluster.objects("Pod") if node_of(each) == "node-0"]
    labels, namespace = pod["metadata"]["labels"], pod["metadata"]["namespace"]
    budget = resource(
        "PodDisruptionBudget",
        "all",
        namespace,
        spec={"maxUnavailable": 0, "selector": {"matchLabels": {"app": labels["app"]}}},
    )
    cluster.apply(budget)
    clock.advance(timedelta(seconds=1))
    evicting = Drainer(clock, cluster, drainer.evict)
    evicting.send(event("EC2 Spot Instance Interruption Warning", "node-0", clock))
    clock.advance(timedelta(seconds=30))
    assert on(cluster, "node-0") >= 1
    assert not evicting.is_idle
    Drainer(clock, cluster, drainer.delete).send(
        event("EC2 Spot Instance Interruption Warning", "node-0", clock)
    )
    clock.advance(timedelta(seconds=10))
    assert (on(cluster, "node-0"), evicting.is_idle) == (0, True)
