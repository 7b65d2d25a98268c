"""The rights that the manifests give, and those that are used."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import yaml

from evenkeel.errors import ForbiddenError
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.pod import Pod
from evenkeel.model.request import Create, Delete, Evict, Get, List, Patch, Request, Selection
from evenkeel.ports import Arrival, Cluster, OnReply, Reply, Session, TimeLeft
from evenkeel_cli.passing import PassingSession
from tests.kit.control_plane import ROOT, ControlPlane

MANIFESTS = ROOT / "manifests" / "rbac"


KINDS = (
    *("clusterrolebinding", "clusterrole", "flowschema"),
    *("validatingadmissionpolicybinding", "validatingadmissionpolicy"),
)
"""What of them is in no namespace."""


GATE_RIGHTS = ROOT / "manifests" / "gate" / "rights.yaml"


type Right = tuple[str, str]
"""A verb and a resource: ``patch``, ``apps/deployments``; a subresource follows its resource."""


@dataclass
class Rights:
    """What was asked of a Cluster, as RBAC words it, and what was refused."""

    used: set[Right] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)

    def ask(self, request: Request) -> None:
        verb, kind, subresource = _in_rbac(request)
        self.note(verb, kind, subresource)

    def note(self, verb: str, kind: type[KubernetesObject], subresource: str = "") -> None:
        resource = "/".join(filter(None, (kind.resource.group, kind.resource.plural, subresource)))
        self.used.add((verb, resource))

    def hear(self, arrival: Arrival | Reply) -> None:
        if isinstance(arrival, Reply) and isinstance(arrival.error, ForbiddenError):
            self.refused.append(f"{arrival.request}: {arrival.error}")


def _in_rbac(request: Request) -> tuple[str, type[KubernetesObject], str]:
    match request:
        case Get(kind=kind):
            return "get", kind, ""
        case List(selection=selection):
            return "list", selection.kind, ""
        case Patch(kind=kind, subresource=subresource):
            return "patch", kind, subresource
        case Create(object=item):
            return "create", type(item), ""
        case Delete(kind=kind):
            return "delete", kind, ""
        case Evict():
            return "create", Pod, "eviction"


type Before = Callable[[Request], None]
"""What happens just before a session sends a request."""


class WatchedCluster:
    """A Cluster that notes the rights that it needs."""

    def __init__(self, cluster: Cluster, rights: Rights, before: Before = lambda _: None) -> None:
        self._cluster = cluster
        self._rights = rights
        self._before = before

    def perform(self, requests: Sequence[Request]) -> Sequence[Reply]:
        for request in requests:
            self._rights.ask(request)
        replies = self._cluster.perform(requests)
        for reply in replies:
            self._rights.hear(reply)
        return replies

    def session(self) -> Session:
        return WatchedSession(self._cluster.session(), self._rights, self._before)


class WatchedSession(PassingSession):
    def __init__(self, session: Session, rights: Rights, before: Before) -> None:
        super().__init__(session)
        self._rights = rights
        self._before = before

    def submit(
        self, request: Request, then: OnReply | None = None, left: TimeLeft | None = None
    ) -> None:
        self._rights.ask(request)
        self._before(request)
        super().submit(request, then, left)

    def watch(self, selection: Selection[KubernetesObject]) -> None:
        self._rights.note("list", selection.kind)
        self._rights.note("watch", selection.kind)
        super().watch(selection)

    def next(self, timeout: timedelta) -> Sequence[Arrival]:
        arrivals = super().next(timeout)
        for arrival in arrivals:
            self._rights.hear(arrival)
        return arrivals


@contextmanager
def granted(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The rights of all functions; their namespace stays, for other tests."""
    control_plane.kubectl("apply", "-k", str(MANIFESTS))
    try:
        yield control_plane
    finally:
        for kind in KINDS:
            control_plane.kubectl("delete", kind, "-l", "app.kubernetes.io/name=evenkeel")


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
