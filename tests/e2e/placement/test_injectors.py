"""Webhooks of others that change pods as well, before Evenkeel's is asked and after it.

The API server asks by the order of the configurations' names. Istio's and Vault's injectors add
containers and are asked once (``reinvocationPolicy: Never``); this one is harder: it also replaces
what the pod says of nodes.
https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from evenkeel.model import names
from tests.contract.webhooks import Hook, real
from tests.e2e.manifests import deployment, stateful_set
from tests.e2e.placement.restoring import all_ready, planned, restore
from tests.e2e.placement.webhook import LEASES, Ground, on_demand
from tests.kit.manifests import Manifest

pytestmark = pytest.mark.controlplane

MESH = {"example.com/mesh": "yes"}
IN_ZONE = {"key": "example.com/zone", "operator": "In", "values": ["a"]}
AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [IN_ZONE]}]
        }
    }
}
IN_MESH = ("spot-0", "spot-1", "demand-3")
INJECTED = (
    {"op": "add", "path": "/spec/containers/0", "value": {"name": "proxy", "image": "proxy"}},
    {"op": "add", "path": "/spec/nodeSelector", "value": MESH},
    {"op": "add", "path": "/spec/affinity", "value": AFFINITY},
)


@contextmanager
def injector(ground: Ground, order: str) -> Iterator[Hook]:
    """A webhook that adds a sidecar to pods and sends them to nodes of its own."""
    prefix = {"before": "a", "after": "z"}[order]
    hook = Hook(*INJECTED)
    name = f"{prefix}-{ground.namespace}"
    with real(ground.control_plane, ground.namespace, [hook], name):
        yield hook


def names_of(pod: dict[str, Any]) -> list[str]:
    return [each["name"] for each in pod["spec"]["containers"]]


def claims(ground: Ground) -> list[Manifest]:
    """The places of floors that are taken."""
    query = f"?labelSelector={names.CLAIM_OF.replace('/', '%2F')}"
    return list(ground.control_plane.request("GET", LEASES + query)["items"])


def add_nodes(ground: Ground) -> None:
    """Some of each capacity type, of which all but one are in the zone and the mesh."""
    ground.add_nodes(spot=3, on_demand=2)
    wanted = {"metadata": {"labels": MESH | {"example.com/zone": "a"}}}
    for node in IN_MESH:
        ground.control_plane.merge("v1", "Node", f"{ground.namespace}-{node}", wanted)


@pytest.mark.parametrize("order", ["before", "after"])
def test_pods_that_an_injector_changes_are_placed_where_both_want_them(
    ground: Ground, order: str
) -> None:
    add_nodes(ground)
    ground.serve()
    with injector(ground, order) as hook:
        floor = {names.ON_DEMAND: "2"}
        ground.apply(deployment("web", 4, start="200ms", annotations=floor))
        pods = all_ready(ground, 4)

        assert len(hook.requests) == 4
        assert all(names_of(pod) == ["proxy", "main"] for pod in pods)
        assert all(pod["spec"]["nodeName"].endswith(IN_MESH) for pod in pods)
        assert len(on_demand(pods)) == len(claims(ground)) == 2
        assert planned(ground)["web"]["reason"] == "AsWanted"

        fewer = {"metadata": {"annotations": {names.ON_DEMAND: "1"}}}
        ground.control_plane.merge("apps/v1", "Deployment", "web", fewer, ground.namespace)
        done = restore(ground, "--apply")
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        pods = all_ready(ground, 4)
        assert len(on_demand(pods)) == 1
        assert all(pod["spec"]["nodeName"].endswith(IN_MESH) for pod in pods)


def test_the_policy_is_evaluated_again_for_pods_whose_rules_an_injector_replaces(
    ground: Ground,
) -> None:
    add_nodes(ground)
    ground.police()
    with injector(ground, "after") as hook:
        made = stateful_set("db", 4, start="200ms")
        made["spec"]["template"]["metadata"]["annotations"][names.ON_DEMAND] = "2"
        ground.apply(made)
        pods = all_ready(ground, 4)

        assert len(hook.requests) == 4
        assert all(pod["spec"]["nodeName"].endswith(IN_MESH) for pod in pods)
        found = {pod["metadata"]["name"] for pod in on_demand(pods)}
        assert found == {"db-0", "db-1"}
        assert planned(ground)["db"]["reason"] == "AsWanted"


@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("way", ["webhook", "policy"])
def test_an_injected_container_sleeps_before_its_sigterm_as_the_others_do(
    ground: Ground, way: str, order: str
) -> None:
    """The API server takes the hook. Half of a grace period of 9 s is 4."""
    notes = {"metadata": {"annotations": {names.PRE_STOP_SLEEP: "5s"}}}
    ground.control_plane.merge("v1", "Namespace", ground.namespace, notes)
    add_nodes(ground)
    if way == "webhook":
        ground.serve()
    else:
        ground.police()
    with injector(ground, order):
        ground.apply(deployment("web", 2, start="200ms", grace=9))
        pods = all_ready(ground, 2)
    for pod in pods:
        containers = pod["spec"]["containers"]
        assert [each["name"] for each in containers] == ["proxy", "main"]
        hooks = [each["lifecycle"]["preStop"] for each in containers]
        assert hooks == [{"sleep": {"seconds": 4}}] * 2
