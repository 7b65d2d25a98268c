"""Pools on the real API server with the real scheduler: one that is too full, one that dies."""

from collections import Counter
from collections.abc import Mapping

import pytest

from evenkeel.model import names
from tests.e2e.harness import ShiftedClock
from tests.e2e.manifests import deployment
from tests.e2e.placement.restoring import all_ready, planned, restore
from tests.e2e.placement.webhook import Ground
from tests.e2e.witness import Witness

pytestmark = pytest.mark.controlplane

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
BIG, SMALL = "m5.large", "c5.large"


def add_pool(ground: Ground, kind: str, nodes: int, zone: str = "eu-central-1a") -> None:
    """Add spot nodes of a type."""
    for number in range(nodes):
        name = f"{ground.namespace}-{kind[:2]}-{number}"
        labels = {names.INSTANCE_TYPE: kind}
        ground.control_plane.add_node(name, spot=True, labels=labels, zone=zone, cpu="64")


def by_type(ground: Ground, pods: int) -> Mapping[str, int]:
    """How many pods are on nodes of which type, once there are so many and all are Ready."""
    ready = all_ready(ground, pods)
    return Counter(pod["spec"]["nodeName"].split("-")[-2] for pod in ready)


def test_a_pod_goes_from_a_full_pool_to_another_and_none_is_missed(ground: Ground) -> None:
    with Witness(ground.control_plane, ground.namespace, ShiftedClock()) as witness:
        add_pool(ground, BIG, 4)
        ground.serve()
        goal = {names.ONE_POOL_AT_MOST: "3"}
        ground.apply(deployment("web", 4, annotations=goal, start="200ms"))
        assert by_type(ground, 4) == {"m5": 4}
        assert witness.count("web", {"app": "web"}) == 4
        assert planned(ground)["web"]["reason"] == "PoolTooFull"
        add_pool(ground, SMALL, 1)

        done = restore(ground, "--apply")

        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        assert by_type(ground, 4) == {"m5": 3, "c5": 1}
        assert witness.lowest("web") == 4
    web = ground.control_plane.get("apps/v1", "Deployment", "web", ground.namespace)
    assert web["metadata"]["annotations"][names.FULL_POOLS] == f'[["{BIG}","eu-central-1a"]]'
    before = {pod["metadata"]["uid"] for pod in ground.pods()}
    ground.scale("Deployment", "web", 5)
    (new,) = (pod for pod in all_ready(ground, 5) if pod["metadata"]["uid"] not in before)
    liked = new["spec"]["affinity"]["nodeAffinity"][PREFERRED]
    clauses = [clause for term in liked for clause in term["preference"]["matchExpressions"]]
    assert {"key": names.INSTANCE_TYPE, "operator": "NotIn", "values": [BIG]} in clauses
