"""The rights that the manifests give, and those that are used."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from evenkeel.model.meta import KubernetesObject
from evenkeel.model.pod import Pod
from evenkeel.model.request import Create, Delete, Evict, Get, List, Patch, Request
from tests.e2e.wire import TappedCluster
from tests.kit.asking import kind_of
from tests.kit.control_plane import ROOT, ControlPlane

MANIFESTS = ROOT / "manifests" / "rbac"


CLUSTER_WIDE = (
    *("clusterrolebinding", "clusterrole", "flowschema", "priorityclass"),
    *("validatingadmissionpolicybinding", "validatingadmissionpolicy"),
)
"""The kinds of theirs that are in no namespace."""


GATE_RIGHTS = ROOT / "manifests" / "gate" / "rights.yaml"
RESPONDER_RIGHTS = ROOT / "manifests" / "responder"


type Right = tuple[str, str]
"""A verb and a resource: ``patch``, ``apps/deployments``; a subresource follows its resource."""


VERBS = {Get: "get", List: "list", Patch: "patch", Create: "create", Delete: "delete"}


def used(cluster: TappedCluster) -> set[Right]:
    """What was asked of a cluster, as RBAC words it."""
    rights = {_in_rbac(each.request) for each in cluster.asked}
    return rights | {(verb, _named(k)) for k in cluster.watched for verb in ("list", "watch")}


def _in_rbac(request: Request) -> Right:
    if isinstance(request, Evict):
        return "create", _named(Pod, "eviction")
    subresource = request.subresource if isinstance(request, Patch) else ""
    return VERBS[type(request)], _named(kind_of(request), subresource)


def _named(kind: type[KubernetesObject], subresource: str = "") -> str:
    return "/".join(filter(None, (kind.resource.group, kind.resource.plural, subresource)))


@contextmanager
def granted(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The rights of all functions; their namespace stays, for other tests."""
    control_plane.kubectl("apply", "-k", str(MANIFESTS))
    try:
        yield control_plane
    finally:
        ours = ("-l", "app.kubernetes.io/name=evenkeel")
        control_plane.kubectl("delete", ",".join(CLUSTER_WIDE), *ours)


def may(
    control_plane: ControlPlane,
    group: str,
    verb: str,
    resource: str,
    name: str = "",
    namespace: str = "default",
) -> bool:
    """Whether RBAC allows the members of a group this.

    ``resource`` is as kubectl has it: ``deployments.apps``, ``pods/eviction``.
    """
    resource, _, subresource = resource.partition("/")
    resource, _, api_group = resource.partition(".")
    attributes = {
        "verb": verb,
        "group": api_group,
        "resource": resource,
        "subresource": subresource,
        "name": name,
        "namespace": namespace,
    }
    groups = [group, "system:authenticated"]
    answer = control_plane.request(
        "POST",
        "apis/authorization.k8s.io/v1/subjectaccessreviews",
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": "somebody", "groups": groups, "resourceAttributes": attributes},
        },
    )
    return bool(answer["status"]["allowed"])


def allowed(function: str) -> set[Right]:
    """What the manifests allow a function's group, wherever it is allowed."""
    return rights_in(MANIFESTS / f"{function}.yaml")


def rights_in(manifest: Path) -> set[Right]:
    """What the roles of a manifest allow."""
    documents = list(yaml.safe_load_all(manifest.read_text()))
    return {
        (verb, "/".join(filter(None, (group, resource))))
        for document in documents
        for rule in document.get("rules", ())
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
