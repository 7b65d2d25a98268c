"""Both functions with the rights of manifests/rbac and no others: enough for all that they do."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from evenkeel.adapters.kubernetes import RestCluster
from evenkeel.decisions.drain.route import SETTLES
from evenkeel.decisions.notice import rebalance_recommendation
from evenkeel.errors import ForbiddenError
from evenkeel.model import gang, names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.instance import Instance
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.release import ReleaseReason
from evenkeel.model.request import Delete, Get, Patch, Request
from evenkeel.model.times import in_words
from evenkeel_runtime.kubeconfig import from_kubeconfig
from tests.e2e import rights
from tests.e2e.accounts import kubeconfig_of_member
from tests.e2e.application import CLUSTER_NAME, FUNCTIONS, Evenkeel
from tests.e2e.harness import Site
from tests.e2e.manifests import (
    bare_pod,
    budget,
    deployment,
    job,
    selector,
    stateful_set,
    timed,
    volume,
)
from tests.e2e.rights import allowed, may, used
from tests.e2e.wire import TappedCluster
from tests.kit import argo
from tests.kit.control_plane import ROOT, ControlPlane
from tests.kit.custom_kinds import owned, serve
from tests.kit.kruise import clone_set
from tests.kit.manifests import Manifest, resource

pytestmark = pytest.mark.controlplane

HINT = rebalance_recommendation.EXPIRY
"""A hint that ends within a minute releases nothing."""
AGO = 95.0
"""How old the warning is when it comes: 25 s are left of its 120."""

ROBOT = {
    "apiVersion": "example.com/v1",
    "kind": "Robot",
    "name": "robot",
    "uid": "8c1f0d5e-0000-4000-8000-000000000001",
    "controller": True,
}
"""An owner that Kubernetes knows nothing of."""


MANY = 9
"""So many owners of one kind are read by one listing."""


class Meddler:
    """Somebody else: gives another owner to the first pod that is changed, just before."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self._control_plane = control_plane
        self._is_done = False

    def __call__(self, request: Request) -> None:
        if self._is_done or not isinstance(request, Patch) or request.kind is not Pod:
            return
        self._is_done = True
        get, namespace = self._control_plane.get, request.namespace
        owners = get("v1", "Pod", request.name, namespace)["metadata"]["ownerReferences"]
        name = "kube-root-ca.crt"
        uid = get("v1", "ConfigMap", name, namespace)["metadata"]["uid"]
        another = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": uid}
        patch = {"metadata": {"ownerReferences": [another, *owners]}}
        self._control_plane.merge("v1", "Pod", request.name, patch, namespace)


@dataclass(frozen=True)
class Story:
    """Both functions, each a member of its group alone, and the site as it is afterwards."""

    site: Site
    functions: Evenkeel


@pytest.fixture(scope="module")
def control_plane(control_plane_with_gangs: ControlPlane) -> ControlPlane:
    """One that has Kubernetes' own groups of pods: who names one asks for it."""
    return control_plane_with_gangs


@pytest.fixture(scope="module")
def granted(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """A control plane with the manifests' rights."""
    with rights.granted(control_plane) as with_rights:
        yield with_rights


@pytest.fixture(scope="module")
def clusters(
    granted: ControlPlane, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, RestCluster]]:
    """The cluster as each function sees it."""
    folder = tmp_path_factory.mktemp("kubeconfigs")
    paths = {n: kubeconfig_of_member(granted, f"evenkeel-{n}", folder) for n in FUNCTIONS}
    opened = {name: from_kubeconfig(kubeconfig=str(path)) for name, path in paths.items()}
    yield opened
    for cluster in opened.values():
        cluster.close()


@pytest.fixture(scope="module")
def story(control_plane: ControlPlane, clusters: dict[str, RestCluster]) -> Iterator[Story]:
    """A hint that comes to nothing, and then a warning, with workloads of every kind.

    The node of the warning is lost in the end.
    """
    with control_plane.namespace() as namespace, Site.open(control_plane, namespace) as site:
        meddler = Meddler(control_plane)
        tapped = {n: TappedCluster(c, site.clock, meddler) for n, c in clusters.items()}
        functions = site.deploy(clusters=tapped, rebalance_share=1.0, seats=50)
        _hint(site, functions)
        _warning(site, functions)
        yield Story(site, functions)


def _hint(site: Site, functions: Evenkeel) -> None:
    """No replacement finds room: at the end of the hint everything goes back and rests."""
    site.apply(*volume("shelf", site.namespace))
    mounted = {"name": "data", "persistentVolumeClaim": {"claimName": "shelf"}}
    stuck = deployment("stuck", 1, cpu="5")
    alone = {**deployment("alone", 1, cpu="5"), "kind": "ReplicaSet"}
    alone["spec"]["selector"]["matchLabels"][names.TEMPLATE_HASH] = "own"
    alone["spec"]["template"]["metadata"]["labels"][names.TEMPLATE_HASH] = "own"
    site.add_nodes("hinted", cpu="17")
    site.run(stuck, alone, stateful_set("shelf", 1, volumes=[mounted]))
    _run_rollout(site, "rolled", cpu="5")
    serve(site.control_plane, "CloneSet")
    site.run(job("early"), _of_clone_set(site, "cloned"), pods=1)
    site.clock.skip(SETTLES)  # a recommendation moves no pod of a StatefulSet that is younger
    functions.notify(site.recommendation("hinted"))
    for app in ("stuck", "rolled"):
        site.wait_for_releases(app)
    _released_before(site, "alone")
    site.clock.skip(HINT)

    def rests(kind: str, name: str, version: str = "apps/v1") -> bool:
        notes = site.get(version, kind, name)["metadata"].get("annotations", {})
        return names.COOLDOWN in notes

    site.wait_for(
        "all workloads to rest",
        lambda: (
            rests("Deployment", "stuck")
            and rests("ReplicaSet", "alone")
            and rests("Rollout", "rolled", "argoproj.io/v1alpha1")
        ),
    )
    site.cordon("hinted")


def _run_rollout(site: Site, app: str, **pod: Any) -> None:
    """A Rollout of Argo's with one pod."""
    argo.run(site.control_plane, site.namespace, app, 1, **timed(**pod))
    site.await_pods(app, 1)


def _released_before(site: Site, name: str) -> None:
    """As the version before released the pod of a ReplicaSet without Deployment; ours does not."""
    (pod,) = site.witness.pods(**selector(name))
    owner = pod["metadata"]["ownerReferences"][0]
    now = site.clock.now()
    note = {
        "v": 1,
        "reason": ReleaseReason.REBALANCE.value,
        "deadline": in_words(now + HINT),
        "since": in_words(now),
        "wanted": 1,
        "controller": owner["name"],
        "controllerUid": owner["uid"],
        "there": 0,
    }
    change = {
        "ownerReferences": None,
        "labels": {names.RELEASED_FROM: "own", names.TEMPLATE_HASH: names.released_hash("own")},
        "annotations": {names.RELEASE: json.dumps(note)},
    }
    site.merge("v1", "Pod", pod["metadata"]["name"], {"metadata": change})


def _warning(site: Site, functions: Evenkeel) -> None:
    site.add_nodes("doomed", cpu="6")
    site.apply(*volume("ledger", site.namespace), budget("web", minAvailable=1))
    # A budget that never allows a disruption: at the last moment they are deleted.
    site.apply(budget("db", minAvailable=1), budget("batch", minAvailable=1))
    mounted = {"name": "data", "persistentVolumeClaim": {"claimName": "ledger"}}
    ports = [{"port": 80}]
    site.apply(resource("Service", "api", spec={"selector": selector("api"), "ports": ports}))
    site.run(deployment("web", 1), deployment("api", 3))
    site.run(deployment("ledger", 1, volumes=[mounted]), stateful_set("db", 1))
    robots = bare_pod("robots")
    robots["metadata"]["ownerReferences"] = [ROBOT]
    site.run(job("batch"), bare_pod("shell"), robots, pods=1)
    site.run(*_in_groups(site, site.node_name("doomed")), pods=1)
    for make in (deployment, stateful_set):
        site.run(*(make(f"many-{make.__name__}-{n}".replace("_", "-"), 1) for n in range(MANY)))
    site.run(*(job(f"many-{n}") for n in range(MANY)), pods=1)
    for number in range(MANY):
        _run_rollout(site, f"many-rolled-{number}")
    site.run(*(_of_clone_set(site, f"many-cloned-{number}") for number in range(MANY)), pods=1)
    site.add_nodes("other", spot=False, cpu="6")
    lost = bare_pod("lost", nodeName=site.node_name("other"))
    lost["metadata"]["labels"][names.RELEASED_FROM] = "gone"
    site.run(lost, pods=1)
    booting = Instance(
        instance_id="i-0123456789abcdef0",
        state="running",
        tags={f"kubernetes.io/cluster/{CLUSTER_NAME}": "owned"},
    )
    site.instances.add(booting)
    unborn = dict(site.warning("doomed", ago=AGO))
    unborn["detail"] = {**unborn["detail"], "instance-id": booting.instance_id}
    functions.notify(site.warning("doomed", ago=AGO), unborn)
    site.wait_for("the doomed node to be empty", lambda: not site.pods_on("doomed"))
    # As their controller would: a seat is there until the next pod is.
    site.run(*(_of_clone_set(site, f"many-cloned-{number}") for number in range(MANY)), pods=1)
    site.terminate("doomed")
    site.control_plane.delete_node(site.node_name("doomed"))
    functions.wait_until_quiet()


def _of_clone_set(site: Site, app: str) -> Manifest:
    """The pod of a CloneSet, which nobody makes again."""
    made = clone_set(app, 1, namespace="")
    site.apply(made)
    owner = site.get(made["apiVersion"], made["kind"], app)
    return owned(bare_pod(app, cpu="10m"), {**owner})


def _in_groups(site: Site, node: str) -> Iterator[Manifest]:
    """A pod of a group of each kind; that the groups are not there does not matter."""
    own = {"schedulingGroup": {"podGroupName": "train"}}
    has_own = site.control_plane.pod_groups is not None
    labels = [*([""] if has_own else []), *gang.LABELS, gang.SET_NAME]
    for number, label in enumerate(labels):
        pod = bare_pod(f"member-{number}", nodeName=node, cpu="10m", **({} if label else own))
        if label:
            pod["metadata"]["labels"][label] = "train"
        yield pod


def test_functions_may_do_what_they_do_and_no_more(story: Story) -> None:
    """One test, so that one process plays the story."""
    site, functions = story.site, story.functions
    has_groups = site.control_plane.pod_groups is not None
    unused = set() if has_groups else {("list", "scheduling.k8s.io/podgroups")}
    for function in FUNCTIONS:
        assert functions.clusters[function].forbidden == []
        assert used(functions.clusters[function]) == allowed(function) - unused
    assert functions.recorder.total("WritesConflicted") > 0
    assert functions.recorder.total("WritesFailed") == 0

    assert site.is_settled("web", 1, "other")
    assert site.is_settled("api", 3, "other")
    doomed = site.node_name("doomed")
    told = site.control_plane.items(
        "v1", "Event", "default", f"fieldSelector=involvedObject.name%3D{doomed}"
    )
    assert any(event["source"]["component"] == "evenkeel" for event in told)


LEASES = "leases.coordination.k8s.io"
OUTSIDE = {
    "interruption": [
        ("list", "pods"),
        ("create", "pods/eviction"),
        ("delete", "nodes"),
        ("create", "events", "", "kube-system"),
        ("patch", LEASES, names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE),
        ("get", "configmaps", "other", names.SYSTEM_NAMESPACE),
    ],
    "handover": [
        ("delete", "nodes"),
        ("create", "pods"),
        ("create", "pods/exec"),
        ("get", "secrets"),
        ("patch", "statefulsets.apps"),
        ("delete", "deployments.apps"),
        ("patch", LEASES, "other", names.SYSTEM_NAMESPACE),
        ("patch", LEASES, names.HANDOVER_LEASE, "kube-system"),
        ("delete", "configmaps", names.PAUSED, names.SYSTEM_NAMESPACE),
        ("create", "namespaces"),
    ],
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_lies_outside_is_forbidden(function: str, granted: ControlPlane) -> None:
    group = f"evenkeel-{function}"
    assert [each for each in OUTSIDE[function] if may(granted, group, *each)] == []
    assert may(granted, group, "patch", "nodes")


def test_a_group_cannot_do_what_is_the_others(clusters: dict[str, RestCluster]) -> None:
    asked: dict[str, Request] = {
        "interruption": Get(Lease, names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE),
        "handover": Delete(Node, "whichever"),
    }
    for function, request in asked.items():
        (reply,) = clusters[function].perform([request])
        assert isinstance(reply.error, ForbiddenError)


PATH = "apis/coordination.k8s.io/v1/namespaces/{}/leases"
POLICY = "evenkeel-leases"
LEASE = f"{PATH.format(names.SYSTEM_NAMESPACE)}/{names.HANDOVER_LEASE}"
RENEWAL = {"spec": {"renewTime": "2026-11-23T02:00:00.000000Z"}}
UID = "8c1f0d5e-0000-4000-8000-000000000001"
SLOT = f"{names.CLAIM_PREFIX}{UID}-1"
OF_ITS_OWN = {
    "placement": (SLOT, f"{names.MOVE_PREFIX}{UID}"),
    "restore": (f"{names.MOVE_PREFIX}{UID}", f"{names.TEMPLATE_PREFIX}{UID}", names.SPOT_REST),
    "handover": (names.HANDOVER_LEASE,),
}
SERVE = "system:serviceaccount:evenkeel-system:evenkeel-serve"


def lease(name: str) -> Manifest:
    return resource("Lease", name, names.SYSTEM_NAMESPACE)


def tried(granted: ControlPlane, method: str, name: str, group: str, user: str = "one") -> str:
    """What the API server says of a write of a Lease, in a dry run; nothing where it is allowed."""
    path = PATH.format(names.SYSTEM_NAMESPACE)
    target = path if method == "POST" else f"{path}/{name}"
    body = {"POST": lease(name), "PATCH": RENEWAL}.get(method)
    answer = granted.asked_by(user, group, method, f"{target}?dryRun=All", body)
    told: str = answer.json()["message"] if answer.status >= 300 else ""
    return told


@pytest.fixture(scope="module")
def leases(granted: ControlPlane) -> Iterator[ControlPlane]:
    """The reconciler's Lease is there, and the policy is in force."""
    granted.apply(lease(names.HANDOVER_LEASE))
    granted.wait_for(
        "the API server to go by the policy",
        lambda: POLICY in tried(granted, "POST", "any", "evenkeel-restore"),
    )
    yield granted
    granted.delete("coordination.k8s.io/v1", "Lease", names.HANDOVER_LEASE, names.SYSTEM_NAMESPACE)


@pytest.mark.parametrize("method", ["POST", "PATCH", "DELETE"])
@pytest.mark.parametrize("function", ["placement", "restore"])
def test_the_reconciler_s_lease_is_no_business_of_placement_and_restore(
    function: str, method: str, leases: ControlPlane
) -> None:
    assert POLICY in tried(leases, method, names.HANDOVER_LEASE, f"evenkeel-{function}")


def test_nor_of_the_webhook_in_the_cluster(leases: ControlPlane) -> None:
    leases.kubectl("apply", "-k", str(ROOT / "manifests" / "serve"))
    group = "system:serviceaccounts"
    try:
        leases.wait_for("its rights", lambda: not tried(leases, "POST", SLOT, group, SERVE))
        assert POLICY in tried(leases, "PATCH", names.HANDOVER_LEASE, group, SERVE)
    finally:
        leases.kubectl("delete", "-k", str(ROOT / "manifests" / "serve"))


@pytest.mark.parametrize("function", OF_ITS_OWN)
def test_a_function_writes_leases_of_its_own(function: str, leases: ControlPlane) -> None:
    for name in OF_ITS_OWN[function]:
        method = "PATCH" if name == names.HANDOVER_LEASE else "POST"
        assert tried(leases, method, name, f"evenkeel-{function}") == ""


@pytest.fixture(scope="module")
def lease_schema(granted: ControlPlane) -> str:
    """The uid of the FlowSchema of the manifests, once the API server goes by it."""
    kind = ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema")
    made = granted.get(*kind, "evenkeel-handover-lease")
    uid: str = made["metadata"]["uid"]
    granted.wait_for(
        "the API server to go by the FlowSchema",
        lambda: granted.flow_schema_of("evenkeel-handover", "GET", LEASE) == uid,
    )
    return uid


def test_the_lease_is_renewed_at_the_priority_of_leader_elections(
    granted: ControlPlane, lease_schema: str
) -> None:
    assert granted.flow_schema_of("evenkeel-handover", "PATCH", LEASE, RENEWAL) == lease_schema
    kind = ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema")
    ours, builtin = (
        granted.get(*kind, name) for name in ("evenkeel-handover-lease", "system-leader-election")
    )
    levels = [each["spec"]["priorityLevelConfiguration"]["name"] for each in (ours, builtin)]
    assert levels[0] == levels[1]
    (dangling,) = [c for c in ours["status"]["conditions"] if c["type"] == "Dangling"]
    assert dangling["status"] == "False"


@pytest.mark.parametrize(
    ("group", "method", "path"),
    [
        ("evenkeel-handover", "POST", "api/v1/namespaces/default/pods/any/eviction"),
        ("evenkeel-handover", "DELETE", "api/v1/namespaces/default/pods/any"),
        ("evenkeel-handover", "GET", "api/v1/pods?limit=1"),
        ("evenkeel-handover", "PATCH", f"{PATH.format('kube-system')}/kube-scheduler"),
        ("evenkeel-interruption", "PATCH", LEASE),
        ("evenkeel-restore", "GET", LEASE),
    ],
)
def test_nothing_else_has_the_priority_of_leader_elections(
    group: str, method: str, path: str, granted: ControlPlane, lease_schema: str
) -> None:
    assert granted.flow_schema_of(group, method, path) != lease_schema
