import json
from io import BufferedReader, BytesIO
from itertools import chain
from typing import Any

import pytest

from evenkeel_cli import snapshot
from evenkeel_cli.snapshot import KINDS
from evenkeel_sandbox import snapshot_cluster, synthetic
from evenkeel_sandbox.built_in import cluster as built_in
from evenkeel_sandbox.simulator.api.objects import controller_of
from evenkeel_sandbox.simulator.clock import SimulatedClock
from evenkeel_sandbox.simulator.cluster import SimulatedCluster
from tests.kit.builders import NOW, seconds


def exported(cluster: SimulatedCluster, *kinds: str) -> bytes:
    """What kubectl would print."""
    items = [item for kind in kinds for item in cluster.objects(kind)]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()


def restored(content: bytes) -> SimulatedCluster:
    return snapshot_cluster.build(
        snapshot.parse("s.json", BufferedReader(BytesIO(content))).objects, SimulatedClock(NOW)
    )


def pods_of(cluster: SimulatedCluster) -> dict[str, Any]:
    return {
        pod["metadata"]["uid"]: (pod["metadata"]["name"], pod["spec"]["nodeName"])
        for pod in cluster.objects("Pod")
    }


@pytest.fixture(scope="module")
def original() -> SimulatedCluster:
    return built_in.build(SimulatedClock(NOW))


def test_a_cluster_at_rest_stays_as_it_is_when_it_comes_from_a_snapshot(
    original: SimulatedCluster,
) -> None:
    copy = restored(exported(original, *KINDS))

    copy.clock.advance(seconds(30))

    assert pods_of(copy) == pods_of(original)
    ready = [d["status"]["readyReplicas"] for d in copy.objects("Deployment")]
    assert ready == [d["spec"]["replicas"] for d in copy.objects("Deployment")]


def test_controllers_go_on_when_the_copy_changes(original: SimulatedCluster) -> None:
    copy = restored(exported(original, *KINDS))

    copy.scale("Deployment", "login", "shop", 3)
    copy.clock.advance(seconds(30))

    assert sum(p["metadata"]["name"].startswith("login") for p in copy.objects("Pod")) == 3


def test_pods_stay_when_the_snapshot_lacks_their_daemon_set_and_namespaces(
    original: SimulatedCluster,
) -> None:
    copy = restored(exported(original, *(kind for kind in KINDS if kind != "Namespace")))

    copy.clock.advance(seconds(60))

    agents = [p for p in copy.objects("Pod") if p["metadata"]["name"].startswith("node-agent")]
    assert len(agents) == 60
    assert copy.objects("DaemonSet") == []


def test_pods_stay_when_the_snapshot_lacks_their_owners(original: SimulatedCluster) -> None:
    copy = restored(exported(original, "Node", "Pod"))

    copy.clock.advance(seconds(60))

    assert pods_of(copy) == pods_of(original)


def test_it_goes_on_from_where_the_controllers_have_nothing_left_to_write() -> None:
    """They write statuses in their own words first, and adopt: 20 requests a second each."""
    objects = [
        {**each, "metadata": {k: v for k, v in each["metadata"].items() if k != "ownerReferences"}}
        for each in synthetic.objects(20, 600)
    ]
    clock = SimulatedClock(NOW)

    cluster = snapshot_cluster.build(objects, clock)

    assert all(controller_of(pod) is not None for pod in cluster.objects("Pod"))
    before = cluster.server.store.revision
    clock.advance(seconds(30))
    assert cluster.server.store.revision == before


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet"])
def test_a_workload_that_asks_for_thousands_of_millions_has_no_pods_made_for_it(
    original: SimulatedCluster, kind: str
) -> None:
    """A quota keeps them away in the cluster; a copy of it has none, and would never end."""
    kinds = ("Deployment", "ReplicaSet", "StatefulSet", "Node")
    others = {each: original.objects(each) for each in kinds}
    first, pods = others[kind].pop(0), original.objects("Pod")
    asking = {**first, "spec": {**first["spec"], "replicas": 2**31 - 1}}
    clock = SimulatedClock(NOW)
    copy = snapshot_cluster.build([asking, *chain(*others.values()), *pods], clock)
    clock.advance(seconds(120))
    assert len(copy.objects("Pod")) <= len(pods) + 20


def test_a_workload_that_lacks_some_pods_gets_them() -> None:
    lacking = {"kind": "Job", "spec": {"parallelism": 1_005}, "status": {"active": 5}}
    assert snapshot_cluster.bounded(lacking) == lacking
    more = {"kind": "Job", "spec": {"parallelism": 1_006}, "status": {"active": 5}}
    assert snapshot_cluster.bounded(more) == lacking | {"spec": {"parallelism": 5}}
    assert snapshot_cluster.bounded({"kind": "Node"}) == {"kind": "Node"}
