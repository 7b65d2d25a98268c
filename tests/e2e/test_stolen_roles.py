"""What a stolen token of a role is worth where manifests/policies hold roles to what they write.

Each attempt is one that RBAC allows the role. All are dry runs: they change nothing.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import pytest

from evenkeel.adapters.kubernetes import wire
from evenkeel.model import names
from evenkeel.model.request import Create
from evenkeel.model.seat import new_seat
from evenkeel_cli import manifests
from evenkeel_sandbox.simulator.api.objects import Obj
from tests.e2e.accounts import MASTERS, SYSTEM, held
from tests.e2e.harness import Site
from tests.e2e.manifests import bare_pod, daemon_set, deployment, selector, stateful_set, timed
from tests.e2e.rights import granted
from tests.kit import argo
from tests.kit.builders import pod
from tests.kit.control_plane import MERGE, ControlPlane
from tests.kit.manifests import Manifest, resource

pytestmark = pytest.mark.controlplane

ACCOUNT: Final = "system:serviceaccount:evenkeel-system:evenkeel-{}"
WHO: Final = {
    **{
        role: ("somebody", f"evenkeel-{role}")
        for role in ("interruption", "handover", "restore", "placement")
    },
    **{role: (ACCOUNT.format(role), "system:serviceaccounts") for role in ("poll", "serve")},
}
"""The user and the group of each role."""

UID: Final = "8c1f0d5e-0000-4000-8000-000000000001"
OF_NODES: Final = ("interruption", "handover", "poll")
OF_PODS: Final = ("handover", "restore", "placement", "poll", "serve")
OF_DEPLOYMENTS: Final = ("handover", "restore", "poll")
OF_HANDOVER: Final = ("handover", "poll")
OF_RESTORE: Final = ("restore", "poll")

type Change = Callable[[Obj], Manifest]
"""A merge patch, made of the object as it is."""

FOREIGN: Final = {"key": "dedicated", "value": "shop", "effect": "NoSchedule"}
OFF: Final = {"key": names.OUT_OF_SERVICE, "value": "evenkeel", "effect": "NoExecute"}
MARK: Final = {"key": names.DOOMED, "value": "spot", "effect": "NoSchedule"}
ANY_SEAT: Final = {"key": names.SEAT, "effect": "NoSchedule"}
SEAT: Final = {**ANY_SEAT, "value": UID}


def without_finalizers(_: Obj) -> Manifest:
    return {"metadata": {"finalizers": None}}


def labelled(**labels: str | None) -> Change:
    return lambda _: {"metadata": {"labels": labels}}


def noted(key: str, value: str = "x") -> Change:
    return lambda _: {"metadata": {"annotations": {key: value}}}


def owned(**changed: Any) -> Change:
    """The first owner is another; with ``kind`` and the like as they are given."""

    def change(found: Obj) -> Manifest:
        (owner,) = found["metadata"]["ownerReferences"]
        return {"metadata": {"ownerReferences": [{**owner, "uid": UID, **changed}]}}

    return change


def adopted(api_version: str, kind: str, *, controller: bool = True) -> Change:
    """The only owner is one that is not there."""
    ghost = {"apiVersion": api_version, "kind": kind, "name": "ghost", "uid": UID}
    return lambda _: {"metadata": {"ownerReferences": [{**ghost, "controller": controller}]}}


def released(template_hash: str) -> Change:
    """The labels of a release from a template hash that the pod did not have."""
    labels = {
        names.TEMPLATE_HASH: names.released_hash(template_hash),
        names.RELEASED_FROM: template_hash,
    }
    return lambda _: {"metadata": {"labels": labels}}


def spec(**fields: Any) -> Change:
    return lambda _: {"spec": fields}


def status(**fields: Any) -> Change:
    return lambda _: {"status": fields}


def taints(*wanted: Manifest) -> Change:
    return spec(taints=list(wanted))


def image(found: Obj) -> Manifest:
    (container,) = found["spec"]["containers"]
    return {"spec": {"containers": [{**container, "image": "miner"}]}}


def bearing(toleration: Manifest) -> Change:
    """A toleration more."""
    return lambda found: {"spec": {"tolerations": [*found["spec"]["tolerations"], toleration]}}


def seat_of(node: Obj) -> Manifest:
    """The taint of a node that is held."""
    return {**SEAT, "value": node["metadata"]["uid"]}


def held_node(found: Obj) -> Manifest:
    made = taints(FOREIGN, seat_of(found))(found)
    return {**made, **labelled(**{names.SEAT: "held"})(found)}


def let_in(found: Obj) -> Manifest:
    made = bearing({**SEAT, "operator": "Equal"})(found)
    return {**made, **noted(names.SEAT, UID)(found)}


def unready(found: Obj) -> Manifest:
    conditions = found["status"]["conditions"]
    return {"status": {"conditions": [{**each, "status": "False"} for each in conditions]}}


def templated(**fields: Any) -> Change:
    return lambda _: {"spec": {"template": {"spec": fields}}}


def template_image(found: Obj) -> Manifest:
    return {"spec": {"template": image(found["spec"]["template"])}}


@dataclass(frozen=True)
class Attempt:
    """A change of an object by each of these roles, and a part of what the API server answers."""

    what: str
    roles: Sequence[str]
    target: str
    change: Change
    told: str


ANYWHERE: Final = {"tolerations": [{"operator": "Exists"}]}
BESIDE: Final = {
    "affinity": {
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": names.HOSTNAME, "labelSelector": {"matchLabels": {"app": "bank"}}}
            ]
        }
    }
}
CHANGES: Final = (
    Attempt(
        "a node's zone", OF_NODES, "node", labelled(**{names.ZONE: "x"}), f"label {names.ZONE}"
    ),
    Attempt(
        "a node's capacity type",
        OF_NODES,
        "node",
        labelled(**{names.EKS_CAPACITY: "ON_DEMAND"}),
        f"label {names.EKS_CAPACITY}",
    ),
    Attempt(
        "a note on a node", OF_NODES, "node", noted("example.com/a"), "annotation example.com/a"
    ),
    Attempt("a node's finalizers", OF_NODES, "node", without_finalizers, "metadata.finalizers"),
    Attempt(
        "a taint that is another's", OF_NODES, "node", taints(), "no taint of a node but its own"
    ),
    Attempt(
        "a taint that drives all pods away",
        OF_NODES,
        "node",
        taints(FOREIGN, {**MARK, "effect": "NoExecute"}),
        "no taint of a node but its own",
    ),
    Attempt(
        "a node out of service, which handover alone says",
        ("interruption",),
        "node",
        taints(FOREIGN, OFF),
        "no taint of a node but its own",
    ),
    Attempt("a pod's image", OF_PODS, "pod", image, "spec.containers"),
    *(
        Attempt(f"a pod that bears {what}", OF_PODS, "pod", bearing(borne), "bear no taint but")
        for what, borne in {
            "every taint": {"operator": "Exists"},
            "a taint of another's": {**SEAT, "key": FOREIGN["key"]},
            "every seat's taint": {**ANY_SEAT, "operator": "Exists"},
            "being driven away": {**SEAT, "effect": "NoExecute"},
            "all effects of a seat's taint": {
                key: value for key, value in SEAT.items() if key != "effect"
            },
        }.items()
    ),
    Attempt(
        "a seat that handover did not take",
        ("restore", "placement", "serve"),
        "pod",
        bearing({**SEAT, "operator": "Equal"}),
        "bear no taint but",
    ),
    Attempt(
        "a seat that handover did not note",
        ("restore", "placement", "serve"),
        "pod",
        noted(names.SEAT, UID),
        "handover alone says which pod",
    ),
    Attempt(
        "a node that handover does not hold",
        ("interruption",),
        "node",
        held_node,
        "no taint of a node but its own",
    ),
    Attempt(
        "a seat on a node that handover did not see",
        ("interruption",),
        "node",
        labelled(**{names.SEAT: "held"}),
        "handover alone says on which nodes",
    ),
    Attempt(
        "a node that is held as another one",
        OF_HANDOVER,
        "node",
        taints(FOREIGN, SEAT),
        "no taint of a node but its own",
    ),
    Attempt(
        "a held node that drives its pods away",
        OF_HANDOVER,
        "node",
        lambda found: taints(FOREIGN, {**seat_of(found), "effect": "NoExecute"})(found),
        "no taint of a node but its own",
    ),
    Attempt("a pod's deadline", OF_PODS, "pod", spec(activeDeadlineSeconds=1), "spec.activeDead"),
    Attempt("the Service of a pod", OF_PODS, "pod", labelled(app="bank"), "label app"),
    Attempt("a label less", OF_PODS, "pod", labelled(app=None), "label app"),
    Attempt(
        "a note on a pod",
        OF_PODS,
        "pod",
        noted(names.SAFE_TO_EVICT, "true"),
        f"annotation {names.SAFE_TO_EVICT}",
    ),
    Attempt("a pod's finalizers", OF_PODS, "pod", without_finalizers, "metadata.finalizers"),
    Attempt(
        "a pod's template hash",
        OF_PODS,
        "pod",
        labelled(**{names.TEMPLATE_HASH: "bank"}),
        "the template hash of a pod only to release it",
    ),
    Attempt(
        "no template hash",
        OF_PODS,
        "pod",
        labelled(**{names.TEMPLATE_HASH: None}),
        "the template hash of a pod only to release it",
    ),
    Attempt(
        "a release from another ReplicaSet",
        OF_PODS,
        "pod",
        released("bank"),
        "the template hash of a pod only to release it",
    ),
    Attempt(
        "a release that leaves the ReplicaSet's label",
        OF_PODS,
        "pod",
        labelled(**{names.RELEASED_FROM: "bank"}),
        "from the template hash that the pod had",
    ),
    Attempt("another ReplicaSet", OF_PODS, "pod", owned(), "no owner of a pod"),
    Attempt("an owner of another kind", OF_PODS, "pod", owned(kind="Job"), "no owner of a pod"),
    Attempt(
        "a StatefulSet's pod for the garbage collector",
        OF_PODS,
        "ordinal",
        owned(kind="Deployment"),
        "no owner of a pod",
    ),
    Attempt(
        "a pod for whoever adopts it", OF_PODS, "pod", owned(controller=False), "no owner of a pod"
    ),
    Attempt(
        "a bare pod for the garbage collector",
        OF_PODS,
        "bare",
        adopted("apps/v1", "ReplicaSet"),
        "no owner of a pod",
    ),
    Attempt(
        "a bare pod with a Deployment",
        OF_PODS,
        "bare",
        adopted("apps/v1", "Deployment"),
        "no owner of a pod",
    ),
    Attempt(
        "a bare pod with a Rollout",
        OF_PODS,
        "bare",
        adopted("argoproj.io/v1alpha1", "Rollout", controller=False),
        "no owner of a pod",
    ),
    Attempt(
        "a Deployment of another group",
        OF_PODS,
        "pod",
        owned(kind="Deployment", apiVersion="example.com/v1"),
        "no owner of a pod",
    ),
    Attempt(
        "a Rollout of another group",
        OF_PODS,
        "pod",
        owned(kind="Rollout", controller=False),
        "no owner of a pod",
    ),
    Attempt(
        "an ordinal with a ReplicaSet",
        OF_PODS,
        "ordinal",
        adopted("apps/v1", "ReplicaSet"),
        "no owner of a pod",
    ),
    Attempt(
        "a node without a mark from behind its load balancers",
        OF_NODES,
        "node",
        labelled(**{names.EXCLUDE_FROM_LOAD_BALANCERS: "true"}),
        "no node without a mark",
    ),
    Attempt(
        "the end of a node that a pod did not ask for",
        OF_PODS,
        "pod",
        noted(names.NODE_ENDS_AT),
        f"annotation {names.NODE_ENDS_AT}",
    ),
    Attempt("a pod's address", OF_HANDOVER, "pod/status", status(podIP="10.0.0.9"), "status.podIP"),
    Attempt("a pod's phase", OF_HANDOVER, "pod/status", status(phase="Failed"), "status.phase"),
    Attempt("a pod's readiness", OF_HANDOVER, "pod/status", unready, "no condition of a pod"),
    Attempt(
        "a template's image", OF_DEPLOYMENTS, "web", template_image, "template.spec.containers"
    ),
    Attempt(
        "a template's service account",
        OF_DEPLOYMENTS,
        "web",
        templated(serviceAccountName="admin"),
        "template.spec.serviceAccountName",
    ),
    Attempt(
        "where pods go whose owner does not ask for that",
        OF_DEPLOYMENTS,
        "web",
        templated(**ANYWHERE),
        "template.spec.tolerations",
    ),
    Attempt("no replicas", OF_DEPLOYMENTS, "web", spec(replicas=0), "spec.replicas"),
    Attempt("a paused rollout", OF_DEPLOYMENTS, "web", spec(paused=True), "spec.paused"),
    Attempt("a workload's label", OF_DEPLOYMENTS, "web", labelled(team="bank"), "label team"),
    Attempt(
        "a workload's finalizers", OF_DEPLOYMENTS, "web", without_finalizers, "metadata.finali"
    ),
    Attempt(
        "what an owner says",
        OF_DEPLOYMENTS,
        "web",
        noted(names.ON_DEMAND, "all"),
        f"annotation {names.ON_DEMAND}",
    ),
    Attempt(
        "an owner's leave to write his template",
        OF_DEPLOYMENTS,
        "web",
        noted(names.PLACEMENT, names.BY_TEMPLATE),
        f"annotation {names.PLACEMENT}",
    ),
    Attempt(
        "the note of a template that was never written",
        OF_DEPLOYMENTS,
        "web",
        noted(names.TEMPLATE),
        f"annotation {names.TEMPLATE}",
    ),
    Attempt(
        "the image of a template that restore writes",
        OF_RESTORE,
        "own",
        template_image,
        "template.spec.containers",
    ),
    Attempt(
        "beside whom the pods of such a template go",
        OF_RESTORE,
        "own",
        templated(**BESIDE),
        "template.spec.affinity.podAffinity",
    ),
    Attempt(
        "a template that only restore writes",
        ("handover",),
        "own",
        templated(**ANYWHERE),
        "template.spec.tolerations",
    ),
    Attempt("an ordinal more", OF_RESTORE, "db", spec(replicas=9), "spec.replicas"),
    Attempt("a StatefulSet's image", OF_RESTORE, "db", template_image, "template.spec.containers"),
    Attempt("a ReplicaSet's size", OF_HANDOVER, "replica set", spec(replicas=9), "spec.replicas"),
    Attempt(
        "a ReplicaSet's image",
        OF_HANDOVER,
        "replica set",
        template_image,
        "template.spec.containers",
    ),
    Attempt("a Rollout's size", OF_HANDOVER, "rollout", spec(replicas=9), "spec.replicas"),
)
"""What RBAC allows and no function does."""

OWN: Final = (
    Attempt(
        "a mark",
        OF_NODES,
        "node",
        lambda _: {
            "metadata": {"labels": {names.DOOMED: "spot"}, "annotations": {names.NOTICE: "{}"}},
            "spec": {"unschedulable": True, "taints": [FOREIGN, MARK]},
        },
        "",
    ),
    Attempt("a node out of service", OF_HANDOVER, "node", taints(FOREIGN, OFF), ""),
    Attempt("a node that is held", OF_HANDOVER, "node", held_node, ""),
    Attempt("a pod that takes its seat", OF_HANDOVER, "pod", let_in, ""),
    Attempt("a pod that Karpenter waits for", OF_PODS, "pod", noted(names.DO_NOT_DISRUPT), ""),
    Attempt(
        "a pod for its Rollout",
        OF_PODS,
        "pod",
        owned(apiVersion="argoproj.io/v1alpha1", kind="Rollout", controller=False),
        "",
    ),
    Attempt("a cooldown", OF_DEPLOYMENTS, "web", noted(names.COOLDOWN), ""),
    Attempt("a template that restore writes", OF_RESTORE, "own", templated(**ANYWHERE), ""),
)
"""What functions do, and so a thief may."""


@dataclass(frozen=True)
class Stolen:
    """A cluster with the rights of all roles, and what is in it."""

    control_plane: ControlPlane
    targets: Mapping[str, str]

    def set_finalizers(self, wanted: Sequence[str] | None) -> None:
        """Give some objects finalizers, as an administrator."""
        for target in ("node", "pod", "web"):
            body = {"metadata": {"finalizers": wanted}}
            self.control_plane.request("PATCH", self.targets[target], body, MERGE)

    def change(self, role: str, target: str, change: Change) -> tuple[int, str]:
        """Try it; the status, and what the API server says."""
        path = self.targets[target]
        found = self.control_plane.request("GET", path)
        return self.ask(role, "PATCH", path, change(found))

    def ask(self, role: str, method: str, path: str, body: object = None) -> tuple[int, str]:
        """The same with any request."""
        query = "&" if "?" in path else "?"
        answer = self.control_plane.asked_by(*WHO[role], method, f"{path}{query}dryRun=All", body)
        return answer.status, json.loads(answer.data).get("message", "")


@pytest.fixture(scope="module")
def stolen(control_plane: ControlPlane) -> Iterator[Stolen]:
    """Every role's rights, on a healthy node with pods of all kinds."""
    accounts = [
        each
        for role in ("poll", "serve")
        for each in manifests.documents(role)
        if each["kind"] in ("ClusterRoleBinding", "RoleBinding")
    ]
    with (
        granted(control_plane),
        control_plane.namespace() as namespace,
        Site.open(control_plane, namespace) as site,
    ):
        control_plane.apply(*accounts, *manifests.documents("gate"))
        held(control_plane)
        made = Stolen(control_plane, _furnished(site))
        made.set_finalizers(["example.com/a"])
        for attempt in OWN:
            for role in attempt.roles:
                control_plane.wait_for(
                    f"the rights of {role}",
                    lambda role=role, at=attempt: made.change(role, at.target, at.change)[0] == 200,  # type: ignore[misc]
                )
        yield made
        made.set_finalizers(None)
        for each in (*accounts, *manifests.documents("gate")):
            kind, where = each["kind"], each["metadata"]
            control_plane.delete(
                each["apiVersion"], kind, where["name"], where.get("namespace", "")
            )


def _furnished(site: Site) -> Mapping[str, str]:
    """The paths of a node, pods and workloads."""
    plane = site.control_plane
    site.add_nodes("healthy", taints=[FOREIGN])
    bears: dict[str, Any] = {"tolerations": [{"key": FOREIGN["key"], "operator": "Exists"}]}
    own = deployment("own", 1, annotations={names.PLACEMENT: names.BY_TEMPLATE}, **bears)
    site.run(deployment("web", 1, **bears), own, stateful_set("db", 1, **bears))
    site.run(daemon_set("agent"), pods=1)
    site.apply(bare_pod("bare", **bears))
    argo.run(plane, site.namespace, "rolled", 0, **timed())

    def pod(app: str) -> str:
        (found,) = site.witness.pods(**selector(app))
        return f"{core}/pods/{found['metadata']['name']}"

    core, apps = f"api/v1/namespaces/{site.namespace}", f"apis/apps/v1/namespaces/{site.namespace}"
    (of_web,) = plane.items("apps/v1", "ReplicaSet", site.namespace, "labelSelector=app%3Dweb")
    return {
        "node": f"api/v1/nodes/{site.node_name('healthy')}",
        "pod": pod("web"),
        "pod/status": f"{pod('web')}/status",
        "ordinal": pod("db"),
        "agent": pod("agent"),
        "bare": f"{core}/pods/bare",
        "web": f"{apps}/deployments/web",
        "own": f"{apps}/deployments/own",
        "db": f"{apps}/statefulsets/db",
        "replica set": f"{apps}/replicasets/{of_web['metadata']['name']}",
        "rollout": f"apis/argoproj.io/v1alpha1/namespaces/{site.namespace}/rollouts/rolled",
        "events": f"{core}/events",
        "leases": f"apis/coordination.k8s.io/v1/namespaces/{SYSTEM}/leases",
    }


def each_role(attempts: Sequence[Attempt]) -> pytest.MarkDecorator:
    """Every attempt by every role of it."""
    return pytest.mark.parametrize(
        ("role", "attempt"),
        [
            pytest.param(role, attempt, id=f"{role}: {attempt.what}")
            for attempt in attempts
            for role in attempt.roles
        ],
    )


@each_role(CHANGES)
def test_what_no_function_changes_is_refused_and_the_answer_says_why(
    role: str, attempt: Attempt, stolen: Stolen
) -> None:
    code, told = stolen.change(role, attempt.target, attempt.change)
    assert code == 403
    assert "evenkeel-writes" in told
    assert attempt.told in told


@each_role(OWN)
def test_what_functions_change_is_allowed(role: str, attempt: Attempt, stolen: Stolen) -> None:
    assert stolen.change(role, attempt.target, attempt.change) == (200, "")


def test_an_object_with_thousands_of_annotations_is_refused_before_they_are_compared(
    stolen: Stolen,
) -> None:
    """A tenant could have the API server compare them with each write of Evenkeel's."""
    path = stolen.targets["replica set"].rpartition("/")[0] + "/crowded"
    crowd = {f"example.com/{number}": "" for number in range(1001)}
    made = {**deployment("crowded", 0, annotations=crowd), "kind": "ReplicaSet"}
    stolen.control_plane.apply(made, namespace=path.split("/")[4])
    note = {"metadata": {"annotations": {names.COOLDOWN: "x"}}}
    code, told = stolen.ask("handover", "PATCH", path, note)
    assert code == 403
    assert "more than 1000 entries" in told


def eviction(path: str, **options: Any) -> Manifest:
    metadata = {"name": path.rpartition("/")[2]}
    made = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    return {**made, "deleteOptions": options} if options else made


@pytest.mark.parametrize("role", ["handover", "restore", "poll"])
def test_no_pod_is_evicted_without_its_grace_period(role: str, stolen: Stolen) -> None:
    path = stolen.targets["pod"]
    body = eviction(path, gracePeriodSeconds=0)
    code, told = stolen.ask(role, "POST", f"{path}/eviction", body)
    assert code == 403
    assert "evenkeel-departures" in told
    assert "their own grace period" in told


@pytest.mark.parametrize(
    ("role", "target", "query", "why"),
    [
        ("restore", "pod", "", "Only handover deletes"),
        ("handover", "pod", "?gracePeriodSeconds=0", "their own grace period"),
        ("poll", "ordinal", "?gracePeriodSeconds=0", "their own grace period"),
        ("handover", "agent", "", "belongs to its node"),
        ("poll", "agent", "", "belongs to its node"),
    ],
)
def test_pods_that_no_function_deletes_are_not_deleted(
    role: str, target: str, query: str, why: str, stolen: Stolen
) -> None:
    code, told = stolen.ask(role, "DELETE", f"{stolen.targets[target]}{query}")
    assert code == 403
    assert "evenkeel-departures" in told
    assert why in told


@pytest.mark.parametrize("role", ["handover", "poll"])
def test_the_node_of_a_pod_that_goes_is_not_seen(role: str, stolen: Stolen) -> None:
    """What docs/security.md says is not held."""
    path = stolen.targets["pod"]
    assert stolen.ask(role, "DELETE", path)[0] == 200
    assert stolen.ask(role, "POST", f"{path}/eviction", eviction(path))[0] == 201


@pytest.mark.parametrize(
    ("role", "target"),
    [(role, "node") for role in OF_NODES] + [(role, "web") for role in OF_DEPLOYMENTS],
)
def test_who_manages_a_field_is_not_held(role: str, target: str, stolen: Stolen) -> None:
    """What docs/security.md says is not held: every write changes managedFields."""
    path, body = stolen.targets[target], {"metadata": {"managedFields": [dict[str, object]()]}}
    answer = stolen.control_plane.asked_by(*WHO[role], "PATCH", f"{path}?dryRun=All", body)
    assert answer.status == 200
    assert not json.loads(answer.data)["metadata"].get("managedFields")


def test_restore_may_evict_any_pod_within_its_budget(stolen: Stolen) -> None:
    path = stolen.targets["ordinal"]
    assert stolen.ask("restore", "POST", f"{path}/eviction", eviction(path))[0] == 201


@pytest.mark.parametrize("role", OF_PODS)
def test_no_event_is_recorded_in_another_s_name(role: str, stolen: Stolen) -> None:
    path = stolen.targets["events"]
    namespace = path.split("/")[3]
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "a", "namespace": namespace},
        "involvedObject": {"kind": "Pod", "name": "a", "namespace": namespace},
        "reason": "Killing",
    }
    for name in ("kubelet", "evenkeel"):
        said = {"source": {"component": name}, "reportingComponent": name}
        code, told = stolen.ask(role, "POST", path, event | said)
        assert (code, "evenkeel-events" in told) == (
            (201, False) if name == "evenkeel" else (403, True)
        )


@pytest.mark.parametrize(
    ("role", "name"),
    [
        ("handover", "evenkeel-slot-a"),
        ("handover", "evenkeel-move-a"),
        ("handover", "evenkeel-scheduler"),
        ("poll", "evenkeel-scheduler"),
        ("restore", "evenkeel-scheduler"),
        ("serve", "evenkeel-handover"),
        ("handover", "evenkeel-handover-8"),
        ("poll", "evenkeel-handover-01"),
        ("placement", "evenkeel-slot-any"),
        ("restore", f"evenkeel-move-{UID}-and-more"),
    ],
)
def test_no_lease_of_another_s_is_made(role: str, name: str, stolen: Stolen) -> None:
    body = resource("Lease", name, SYSTEM)
    code, told = stolen.ask(role, "POST", stolen.targets["leases"], body)
    assert code == 403
    assert "evenkeel-leases" in told


@pytest.mark.parametrize(
    ("role", "name"), [("handover", "evenkeel-handover"), ("serve", f"evenkeel-slot-{UID}-1")]
)
def test_no_lease_is_made_that_fills_the_store(role: str, name: str, stolen: Stolen) -> None:
    crowds = {"a": "x" * 16_385}, {f"a-{number}": "" for number in range(33)}
    for notes in ({"a": "x" * 16_384}, *crowds):
        body = resource("Lease", name, SYSTEM, notes=notes)
        code, told = stolen.ask(role, "POST", stolen.targets["leases"], body)
        if notes in crowds:
            assert code == 403
            assert "32 labels and annotations at most" in told
        else:
            assert code in (201, 409)


def a_seat() -> dict[str, Any]:
    """A seat as handover makes it, for a pod that asks for much."""
    old = pod("db-0", requests={"cpu": "500m", "example.com/gpu": "1"}, uid=UID)
    call = wire.create(Create(new_seat(old, f"shop/{UID}", "eu-central-1a")))
    made: dict[str, Any] = msgspec.json.decode(call.body or b"")
    return made


def test_seats_are_made_in_no_namespace_but_evenkeel_s(stolen: Stolen) -> None:
    """Also where RBAC would let handover make pods."""
    body = with_metadata(namespace="default")(a_seat())
    path = "api/v1/namespaces/default/pods?dryRun=All"
    answer = stolen.control_plane.asked_by("evenkeel-handover", MASTERS, "POST", path, body)
    assert answer.status == 403
    assert "in no namespace but its own" in json.loads(answer.data)["message"]


def with_spec(**fields: Any) -> Change:
    return lambda seat: {**seat, "spec": {**seat["spec"], **fields}}


def with_metadata(**fields: Any) -> Change:
    return lambda seat: {**seat, "metadata": {**seat["metadata"], **fields}}


def with_container(**fields: Any) -> Change:
    def change(seat: Obj) -> Manifest:
        (container,) = seat["spec"]["containers"]
        return with_spec(containers=[{**container, **fields}])(seat)

    return change


def twice(seat: Obj) -> Manifest:
    (container,) = seat["spec"]["containers"]
    return with_spec(containers=[container, {**container, "name": "second"}])(seat)


@pytest.mark.parametrize("role", OF_HANDOVER)
def test_handover_makes_seats(role: str, stolen: Stolen) -> None:
    assert stolen.ask(role, "POST", SEATS, a_seat()) == (201, "")


HOST_FILES: Final = {"name": "a", "hostPath": {"path": "/"}}
SEATS: Final = f"api/v1/namespaces/{SYSTEM}/pods"
NONE: Final = "makes no pods but seats"
BARE: Final = "A seat has no volume"
ALONE: Final = "A seat has one container"


@pytest.mark.parametrize("role", OF_HANDOVER)
@pytest.mark.parametrize(
    ("change", "why"),
    [
        pytest.param(change, why, id=what)
        for what, change, why in (
            ("another name", with_metadata(name="a"), NONE),
            ("no label", with_metadata(labels={}), NONE),
            ("a Service's label", with_metadata(labels={names.SEAT: UID, "app": "bank"}), NONE),
            ("a finalizer", with_metadata(finalizers=["example.com/a"]), NONE),
            (
                "an owner",
                with_metadata(
                    ownerReferences=[
                        {"apiVersion": "v1", "kind": "Node", "name": "ghost", "uid": UID}
                    ]
                ),
                NONE,
            ),
            ("another priority", with_spec(priorityClassName="system-node-critical"), NONE),
            ("no priority", with_spec(priorityClassName=""), NONE),
            ("a token", with_spec(automountServiceAccountToken=True), BARE),
            ("another's account", with_spec(serviceAccountName="evenkeel-poll"), "vice account"),
            ("a file of its node", with_spec(volumes=[HOST_FILES]), BARE),
            ("an empty volume", with_spec(volumes=[{"name": "a", "emptyDir": {}}]), BARE),
            ("the network of its node", with_spec(hostNetwork=True), BARE),
            ("the processes of its node", with_spec(hostPID=True), BARE),
            ("a node by name", with_spec(nodeName="any"), BARE),
            ("as root", with_spec(securityContext={"runAsUser": 0}), BARE),
            ("no end", with_spec(activeDeadlineSeconds=None), BARE),
            ("a late end", with_spec(activeDeadlineSeconds=601), BARE),
            ("a long grace period", with_spec(terminationGracePeriodSeconds=30), BARE),
            ("an init container", with_spec(initContainers=[{"name": "a", "image": "a"}]), BARE),
            ("two containers", twice, ALONE),
            ("another image", with_container(image="miner"), ALONE),
            ("a command", with_container(command=["sh"]), ALONE),
            ("a variable", with_container(env=[{"name": "A", "value": "b"}]), ALONE),
            ("a port of its node", with_container(ports=[{"containerPort": 1}]), ALONE),
            ("privileges", with_container(securityContext={"privileged": True}), ALONE),
            ("no restrictions", with_container(securityContext=None), ALONE),
        )
    ],
)
def test_no_pods_are_made_but_seats(role: str, change: Change, why: str, stolen: Stolen) -> None:
    code, told = stolen.ask(role, "POST", SEATS, change(a_seat()))
    assert code == 403
    assert why in told


@pytest.mark.parametrize("role", WHO)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "api/v1/namespaces/kube-system/secrets"),
        ("POST", "api/v1/namespaces/default/pods"),
        ("PATCH", "apis/apps/v1/namespaces/kube-system/daemonsets/any"),
        ("PATCH", "api/v1/namespaces/default"),
        ("DELETE", "api/v1/nodes/any"),
        ("DELETE", "api/v1/namespaces/default/pods"),
        ("POST", "api/v1/namespaces/kube-system/pods/any/exec"),
        ("GET", "api/v1/namespaces/kube-system/pods/any/log"),
        ("POST", "api/v1/namespaces/kube-system/pods/any/portforward"),
        ("PATCH", "api/v1/namespaces/kube-system/pods/any/ephemeralcontainers"),
        ("PATCH", "api/v1/namespaces/default/pods/any/resize"),
        ("POST", "api/v1/namespaces/default/pods/any/binding"),
        ("PATCH", "apis/apps/v1/namespaces/default/deployments/any/scale"),
        ("PATCH", "api/v1/nodes/any/status"),
        ("GET", "api/v1/nodes/any/proxy/pods"),
        ("POST", "api/v1/namespaces/kube-system/serviceaccounts/default/token"),
        ("POST", "apis/certificates.k8s.io/v1/certificatesigningrequests"),
        ("PATCH", "apis/rbac.authorization.k8s.io/v1/clusterroles/evenkeel-placement"),
        (
            "PATCH",
            "apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/evenkeel",
        ),
        (
            "PATCH",
            "apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/evenkeel-writes",
        ),
        (
            "DELETE",
            "apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/evenkeel-writes",
        ),
    ],
)
def test_rbac_refuses_the_rest_and_the_policies_themselves(
    role: str, method: str, path: str, stolen: Stolen
) -> None:
    code, told = stolen.ask(role, method, path, {} if method in ("POST", "PATCH") else None)
    assert code == 403
    assert "cannot" in told
