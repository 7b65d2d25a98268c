"""Two of four spot nodes go: what must hold then, whatever else does."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from evenkeel_sandbox.observer.following import is_released
from evenkeel_sandbox.simulator.api.objects import Obj
from tests.e2e.application import Evenkeel
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment, selector
from tests.kit.control_plane import ControlPlane

pytestmark = pytest.mark.controlplane

REPLICAS = {"web": 12, "api": 3, "single": 1}


@dataclass(frozen=True)
class Storm:
    """What there was before, who dealt with it, and the site as it is afterwards."""

    site: Site
    evenkeel: Evenkeel
    warnings: Sequence[Mapping[str, Any]]
    disruptions_allowed_before: int
    first_pods: Sequence[Obj]
    bystander: Mapping[str, Any]

    def pods_before(self, *shorts: str) -> set[str]:
        """The uids of the pods that these nodes had."""
        names = {self.site.node_name(short) for short in shorts}
        return {p["metadata"]["uid"] for p in self.first_pods if p["spec"]["nodeName"] in names}


@pytest.fixture
def storm(the_storm: Storm) -> Storm:
    the_storm.site.tell()
    return the_storm


@pytest.fixture(scope="module")
def the_storm(control_plane: ControlPlane) -> Iterator[Storm]:
    """Interruption warnings for the nodes a and b were carried through; c and d had none."""
    with control_plane.namespace() as name, Site.open(control_plane, name) as site:
        site.add_nodes("a", "b")
        site.apply(budget("single", minAvailable=1))
        site.run(deployment("single", 1))
        site.add_nodes("c")
        site.run(deployment("web", 12), deployment("api", 3))
        site.add_nodes("d", spot=False)
        storm = Storm(
            site,
            site.deploy(),
            [site.warning(short) for short in ("a", "b", "a")],
            site.get("policy/v1", "PodDisruptionBudget", "single")["status"]["disruptionsAllowed"],
            site.witness.pods(),
            _given(site.node("c")),
        )
        storm.evenkeel.notify(*storm.warnings)
        with contextlib.suppress(AssertionError):  # a test of its own tells
            storm.evenkeel.wait_until_at_rest()
        yield storm


def _given(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a node that clients set; the rest its kubelet reports."""
    metadata = {key: node["metadata"].get(key) for key in ("labels", "annotations")}
    return {"metadata": metadata, "spec": node["spec"]}


@pytest.mark.parametrize("workload", ["web", "api", "single"])
def test_a_workload_keeps_all_its_replicas_when_its_nodes_are_interrupted(
    storm: Storm, workload: str
) -> None:
    assert storm.pods_before("a", "b")
    assert storm.site.witness.lowest(workload) == REPLICAS[workload]


def test_nothing_runs_any_more_when_all_is_done(storm: Storm) -> None:
    storm.evenkeel.wait_until_at_rest()


def test_the_interrupted_nodes_are_empty_when_all_is_done(storm: Storm) -> None:
    assert not storm.site.pods_on("a")
    assert not storm.site.pods_on("b")


def test_a_single_replica_is_replaced_when_its_budget_allows_no_disruption(storm: Storm) -> None:
    site = storm.site
    assert storm.disruptions_allowed_before == 0
    (left,) = site.witness.departures(**selector("single"))
    assert left.pod["metadata"]["uid"] in storm.pods_before("a", "b")
    assert site.witness.lowest("single") == 1


def test_no_pod_stays_released_when_all_is_done(storm: Storm) -> None:
    assert storm.site.witness.ever_released()
    assert not [pod for pod in storm.site.witness.pods() if is_released(pod)]


def test_a_node_is_never_touched_when_it_has_no_notice(storm: Storm) -> None:
    site = storm.site
    untouched = storm.pods_before("c")
    assert untouched
    assert _given(site.node("c")) == storm.bystander
    assert not untouched & {d.pod["metadata"]["uid"] for d in site.witness.departures()}
    assert not untouched & {pod["metadata"]["uid"] for pod in site.witness.ever_released()}


def test_a_redelivery_writes_nothing_when_all_is_done(storm: Storm) -> None:
    site, evenkeel = storm.site, storm.evenkeel
    before, written = _versions(site), len(evenkeel.cluster.changes)

    evenkeel.notify(*storm.warnings)
    evenkeel.wait_until_at_rest()
    evenkeel.schedule()
    evenkeel.wait_until_at_rest()

    assert not evenkeel.cluster.changes[written:]
    assert _versions(site) == before


def _versions(site: Site) -> Mapping[str, Any]:
    """The resource versions of all pods that stay, and the part of nodes that clients set."""
    pods = {
        pod["metadata"]["name"]: pod["metadata"]["resourceVersion"] for pod in site.witness.pods()
    }
    return pods | {short: _given(site.node(short)) for short in "abcd"}
