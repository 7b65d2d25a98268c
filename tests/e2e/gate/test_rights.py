"""The gate with the rights of manifests/rbac and manifests/gate and no others."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evenkeel.adapters.clock import SystemClock
from evenkeel.adapters.kubernetes import RestCluster
from evenkeel.adapters.telemetry.cluster_events import ClusterEvents
from evenkeel.adapters.telemetry.tee import Tee
from evenkeel.model import names
from evenkeel.model.balancers import LEADING
from evenkeel.settings import GateSettings, Mode, PlacementSettings
from evenkeel_hosting import functions
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_runtime.kubeconfig import from_kubeconfig
from tests.e2e.accounts import kubeconfig_of_member
from tests.e2e.application import CLUSTER_NAME
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment, selector
from tests.e2e.rights import GATE_RIGHTS, MANIFESTS, Right, may, rights_in, used
from tests.e2e.wire import TappedCluster
from tests.kit.control_plane import ControlPlane
from tests.kit.reviews import TOKEN, Document, of_eviction, post

pytestmark = pytest.mark.controlplane

GROUP = "evenkeel-placement"
RBAC = "rbac.authorization.k8s.io/v1"
ROLE = "evenkeel-gate"
OPTIONAL = {("list", f"{each.resource.group}/{each.resource.plural}") for each in LEADING}
"""What it does without: a cluster need not have such objects."""


class Gate:
    """The function placement, a member of its group alone, that is asked about evictions."""

    def __init__(self, cluster: RestCluster) -> None:
        self.recorder = InMemoryRecorder()
        clock = SystemClock()
        self.cluster = TappedCluster(cluster, clock)
        events = ClusterEvents(self.cluster, clock, self.recorder, observes=False)
        self._handler = functions.placement(
            PlacementSettings(mode=Mode.ACT, cluster_name=CLUSTER_NAME, tokens=(TOKEN,)),
            GateSettings(mode=Mode.ACT),
            self.cluster,
            clock,
            Tee(self.recorder, events),
        )

    def ask(self, namespace: str, pod: str) -> Document:
        """The response to the review of an eviction."""
        return post(self._handler, of_eviction(namespace, pod))


@pytest.fixture
def cluster(
    control_plane: ControlPlane, rights: None, gate_rights: None, tmp_path: Path
) -> Iterator[RestCluster]:
    """The cluster as a member of the group sees it."""
    del rights, gate_rights
    path = kubeconfig_of_member(control_plane, GROUP, tmp_path)
    with from_kubeconfig(kubeconfig=str(path)) as opened:
        yield opened


@pytest.fixture
def pods(site: Site) -> list[str]:
    """The pods of a Deployment with a budget, in a gated namespace."""
    site.control_plane.label_namespace(site.namespace, names.GATE)
    site.add_nodes("a")
    site.apply(budget("web", maxUnavailable=1))
    site.run(deployment("web", 2))
    return [pod["metadata"]["name"] for pod in site.witness.pods(**selector("web"))]


def test_nothing_that_the_gate_does_is_forbidden_and_each_right_is_used(
    site: Site, cluster: RestCluster, pods: list[str]
) -> None:
    gate = Gate(cluster)
    response = gate.ask(site.namespace, pods[0])
    assert response["status"]["code"] == 429
    assert [pod["metadata"]["name"] for pod in site.wait_for_releases("web")] == [pods[0]]
    assert gate.cluster.forbidden == []
    assert gate.recorder.total("EventsLeftOut") == 0
    assert gate.recorder.total("GateFailed") == 0
    of_gate = rights_in(GATE_RIGHTS)
    assert of_gate <= used(gate.cluster) <= of_gate | rights_in(MANIFESTS / "placement.yaml")


def test_the_gate_tells_of_each_right_that_it_lacks_and_lets_evictions_pass(
    site: Site, cluster: RestCluster, pods: list[str]
) -> None:
    plane = site.control_plane
    rules = plane.get(RBAC, "ClusterRole", ROLE)["rules"]
    for right in sorted(rights_in(GATE_RIGHTS) - OPTIONAL):
        with lacking(plane, rules, right):
            gate = Gate(cluster)
            assert gate.ask(site.namespace, pods[0])["allowed"], right
            assert gate.recorder.total("GateFailed") == 1, right
            assert gate.cluster.forbidden, right
    assert not site.witness.ever_released()
    for right in sorted(OPTIONAL)[:1]:
        with lacking(plane, rules, right):
            gate = Gate(cluster)
            assert not gate.ask(site.namespace, pods[1])["allowed"]
            assert gate.recorder.total("GateFailed") == 0
    assert not Gate(cluster).ask(site.namespace, pods[0])["allowed"]


@contextmanager
def lacking(plane: ControlPlane, rules: list[dict[str, Any]], right: Right) -> Iterator[None]:
    """The gate's role without one right, once the API server goes by that; then with it again."""
    verb, resource = right
    group, _, plural = resource.rpartition("/")
    kind = f"{plural}.{group}" if group else plural

    def others(rule: Mapping[str, Any]) -> list[dict[str, Any]]:
        if group not in rule["apiGroups"] or plural not in rule["resources"]:
            return [dict(rule)]
        verbs = [each for each in rule["verbs"] if each != verb]
        resources = [each for each in rule["resources"] if each != plural]
        kept = [{**rule, "resources": [plural], "verbs": verbs}] if verbs else []
        return kept + ([{**rule, "resources": resources}] if resources else [])

    def set_rules(these: list[dict[str, Any]], *, allowed: bool) -> None:
        plane.merge(RBAC, "ClusterRole", ROLE, {"rules": these})
        plane.wait_for(
            f"{verb} {resource} to be {'allowed' if allowed else 'forbidden'}",
            lambda: may(plane, GROUP, verb, kind) is allowed,
        )

    set_rules([part for rule in rules for part in others(rule)], allowed=False)
    try:
        yield
    finally:
        set_rules(rules, allowed=True)


@pytest.mark.usefixtures("rights", "gate_rights")
def test_what_lies_outside_is_forbidden(control_plane: ControlPlane) -> None:
    outside = [
        ("create", "pods/eviction"),
        ("create", "pods/exec"),
        ("create", "pods"),
        ("delete", "pods"),
        ("patch", "pods/status"),
        ("patch", "nodes"),
        ("get", "secrets"),
        ("patch", "services"),
        ("patch", "deployments.apps"),
        ("patch", "replicasets.apps"),
        ("patch", "poddisruptionbudgets.policy"),
        ("patch", "leases.coordination.k8s.io"),
        ("patch", "namespaces"),
    ]
    assert [each for each in outside if may(control_plane, GROUP, *each)] == []
    assert may(control_plane, GROUP, "patch", "pods")
