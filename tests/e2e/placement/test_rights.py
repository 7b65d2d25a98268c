"""Webhook and restore with the rights of manifests/rbac and no others: enough for all they do."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from evenkeel.decisions.restore.snapshot import Terms
from evenkeel.flows.placement.claims import sweep_claims
from evenkeel.flows.restore.reading import TRACES
from evenkeel.model import gang, names
from evenkeel.model.decision import Verb
from evenkeel.model.request import List, Listing
from evenkeel_runtime.kubeconfig import from_kubeconfig
from tests.e2e.accounts import kubeconfig_of_member
from tests.e2e.audit import Audit, audited
from tests.e2e.harness import ShiftedClock
from tests.e2e.manifests import bare_pod, deployment, job, pod_quota, stateful_set, timed
from tests.e2e.placement.restoring import Runs, workload_of
from tests.e2e.placement.webhook import Ground, on_demand
from tests.e2e.rights import Right, allowed
from tests.kit import argo
from tests.kit.control_plane import ControlPlane
from tests.kit.custom_kinds import owned, serve
from tests.kit.kruise import clone_set
from tests.kit.manifests import MAJORITY, Manifest

pytestmark = pytest.mark.controlplane


def grouped(ground: Ground) -> Iterator[Manifest]:
    """Five pods that name groups, of each kind. The group of Kubernetes' own has the basic policy.

    The others are not there: all of their pods are on one capacity type.
    """
    for number, label in enumerate([*gang.LABELS, gang.SET_NAME]):
        made = deployment(f"gang-{number}", 1, annotations={names.ON_DEMAND: "all"})
        made["spec"]["template"]["metadata"]["labels"][label] = "none"
        yield made
    groups, named = ground.control_plane.pod_groups, {}
    if groups is not None:
        spec: Manifest = {"schedulingPolicy": {"basic": {}}}
        metadata = {"name": "basic"}
        api = groups.api_version
        yield {"apiVersion": api, "kind": "PodGroup", "metadata": metadata, "spec": spec}
        named = {"schedulingGroup": {"podGroupName": "basic"}}
    yield deployment("basic", 2, annotations={names.ON_DEMAND: "1"}, **named)


def usable(ground: Ground, function: str) -> set[Right]:
    """What a function may do of what this Kubernetes has."""
    has_groups = ground.control_plane.pod_groups is not None
    return allowed(function) - (set() if has_groups else {("list", "scheduling.k8s.io/podgroups")})


@pytest.fixture(scope="module")
def logged(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[tuple[ControlPlane, Audit]]:
    """A control plane of this module's own, which keeps a log of who asked for what."""
    with audited(tmp_path_factory.mktemp("audit"), request) as started:
        yield started


@pytest.fixture(scope="module")
def control_plane(logged: tuple[ControlPlane, Audit]) -> ControlPlane:
    return logged[0]


@pytest.fixture(scope="module")
def audit(logged: tuple[ControlPlane, Audit]) -> Audit:
    return logged[1]


@pytest.fixture
def kubeconfig(control_plane: ControlPlane, rights: None, tmp_path: Path) -> Path:
    """That of a member of placement's group alone."""
    del rights
    return kubeconfig_of_member(control_plane, "evenkeel-placement", tmp_path)


def test_nothing_that_it_does_is_refused_and_each_right_is_used(
    ground: Ground, kubeconfig: Path, audit: Audit
) -> None:
    ground.add_nodes()
    ground.serve(kubeconfig=kubeconfig)
    ground.apply(pod_quota(0))  # refuses a pod when webhooks have seen it
    ground.apply(deployment("web", 6, annotations={names.ON_DEMAND: "2"}))
    ground.wait_for(
        "a place that a refused pod had claimed to be taken over",
        lambda: ("patch", "coordination.k8s.io/leases") in audit.used("evenkeel-placement"),
    )
    ground.control_plane.delete("v1", "ResourceQuota", "pods", ground.namespace)
    ground.apply(deployment("typo", 1, annotations={names.ON_DEMAND: "tow"}))
    ground.apply(stateful_set("db", 3, annotations=MAJORITY))
    counted = job("batch")
    counted["metadata"]["annotations"] = {names.ON_DEMAND: "1"}
    ground.apply(counted)
    for each in grouped(ground):
        ground.apply(each)
    notes = {names.ON_DEMAND: "all"}
    argo.run(ground.control_plane, ground.namespace, "rolled", 1, notes, **timed())
    serve(ground.control_plane, "CloneSet")
    cloned = clone_set("cloned", 1, namespace="", notes=notes)
    ground.apply(cloned)
    owner = ground.control_plane.get(cloned["apiVersion"], "CloneSet", "cloned", ground.namespace)
    ground.apply(owned(bare_pod("cloned"), owner))
    assert len(on_demand(ground.settled(18))) == 2 + 1 + 2 + 1 + 3 + 1 + 1 + 1
    told = ground.wait_for(
        "the warning",
        lambda: [
            each
            for each in ground.control_plane.items("v1", "Event", ground.namespace)
            if each["reason"] == "BadFloor"
        ],
    )
    assert told[0]["involvedObject"]["name"] == "typo"
    assert "forbidden" not in ground.log().lower()
    clock = ShiftedClock()
    clock.skip(timedelta(minutes=3))
    with from_kubeconfig(kubeconfig=str(kubeconfig)) as cluster:
        assert sweep_claims(cluster, clock.now()) == 4
    assert audit.refused("evenkeel-placement") == set()
    assert audit.used("evenkeel-placement") == usable(ground, "placement")


def test_nothing_that_restore_does_is_refused_and_each_right_is_used(
    ground: Ground, kubeconfig: Path, tmp_path: Path, audit: Audit
) -> None:
    ground.add_nodes(spot=0, on_demand=2)
    ground.serve(kubeconfig=kubeconfig)
    ground.apply(deployment("web", 3, annotations={names.ON_DEMAND: "1"}))
    ground.apply(stateful_set("db", 3, annotations=MAJORITY))
    stuck = deployment("stuck", 1, annotations={names.ON_DEMAND: "all"})
    only_spot = {"kubernetes.io/hostname": f"{ground.namespace}-spot-0"}
    stuck["spec"]["template"]["spec"]["nodeSelector"] = only_spot
    ground.apply(stuck)
    notes = {names.ON_DEMAND: "1", names.PLACEMENT: names.BY_TEMPLATE}
    ground.apply(deployment("own", 2, annotations=notes))
    for each in grouped(ground):
        ground.apply(each)
    ground.wait_for("14 pods", lambda: len(ground.pods()) == 14)
    ground.wait_for("db is ready", lambda: _ready(ground, "StatefulSet", "db") == 3)
    ground.add_nodes(spot=1, on_demand=0)

    folder = tmp_path / "restore"
    folder.mkdir()
    restricted = kubeconfig_of_member(ground.control_plane, "evenkeel-restore", folder)
    with from_kubeconfig(kubeconfig=str(restricted)) as cluster:
        run = Runs(ground, cluster, Terms(relax_after=timedelta(minutes=1)))
        run.clock.skip(timedelta(seconds=70))
        last = _uid(ground, "db-2")
        outcome = run()
        (traces,) = cluster.perform([List(TRACES)])
        # The next move of the same workload is told by the same Lease, which goes an hour later.
        ground.wait_for("its pod to be another", lambda: _uid(ground, "db-2") not in ("", last))
        ground.wait_for("db is ready", lambda: _ready(ground, "StatefulSet", "db") == 3)
        note = {"metadata": {"annotations": {names.ON_DEMAND: "1"}}}
        ground.control_plane.merge("apps/v1", "StatefulSet", "db", note, ground.namespace)
        run.clock.skip(timedelta(minutes=15))
        run()
        run.clock.skip(timedelta(hours=2))
        run()

    assert isinstance(traces.result, Listing)
    assert len(traces.result.items) == 1
    assert outcome.reason == "Restored"
    moved = {workload_of(step.decision) for step in outcome.done}
    assert moved == {"web", "db", "stuck", "own", "basic"}
    verbs = {step.decision.verb for step in outcome.done}
    assert verbs == {Verb.RELEASE, Verb.EVICT, Verb.RELAX, Verb.PATCH_TEMPLATE}
    assert run.wake_ups.next_visible is not None
    assert audit.refused("evenkeel-restore") == set()
    assert audit.used("evenkeel-restore") == usable(ground, "restore")


def _ready(ground: Ground, kind: str, name: str) -> int:
    found = ground.control_plane.get("apps/v1", kind, name, ground.namespace)
    ready: int = found["status"].get("readyReplicas", 0)
    return ready


def _uid(ground: Ground, pod: str) -> str:
    """The uid of a pod; empty where there is none."""
    return next((p["metadata"]["uid"] for p in ground.pods() if p["metadata"]["name"] == pod), "")
