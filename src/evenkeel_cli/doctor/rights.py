"""What each role may do in the cluster, against what the manifests grant.

The list of rights is read from the manifests themselves. The API server is asked about each by a
SubjectAccessReview: as the role's group, or as the service account of the webhook in the cluster.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from evenkeel_cli import manifests
from evenkeel_cli.doctor.api_server import ApiServer
from evenkeel_cli.doctor.findings import Finding, broken, fine
from evenkeel_cli.program import NAME

REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
MOST_NAMED: Final = 3
"""Rights that are named where many are missing."""

REMEDY: Final = f"{NAME} upgrade --cluster-name NAME --apply, or apply manifests/ again"
"""A wheel has no folder that a person could apply; an installation by hand may have no stack."""


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """Who is granted rights: a group, or the service account of a namespace."""

    kind: str
    name: str
    namespace: str = ""

    @property
    def title(self) -> str:
        """``interruption`` for the group evenkeel-interruption."""
        return self.name.removeprefix("evenkeel-") if self.kind == "Group" else self.name

    def to_wire(self) -> Mapping[str, Any]:
        """The user and the groups that a review asks for."""
        if self.kind == "Group":
            return {"user": f"{self.name}-doctor", "groups": [self.name, "system:authenticated"]}
        return {
            "user": f"system:serviceaccount:{self.namespace}:{self.name}",
            "groups": [
                "system:serviceaccounts",
                f"system:serviceaccounts:{self.namespace}",
                "system:authenticated",
            ],
        }


@dataclass(frozen=True, slots=True, order=True)
class Right:
    """One right: a verb and a resource, in a namespace or, where that is empty, in all."""

    verb: str
    group: str
    resource: str
    subresource: str = ""
    name: str = ""
    namespace: str = ""

    def __str__(self) -> str:
        """``patch pods/status``, ``get leases.coordination.k8s.io/evenkeel-handover in ...``."""
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        parts = "/".join(filter(None, (resource, self.subresource, self.name)))
        return f"{self.verb} {parts}" + (f" in {self.namespace}" if self.namespace else "")

    def to_wire(self) -> Mapping[str, Any]:
        """The ResourceAttributes of a review."""
        return {
            "verb": self.verb,
            "group": self.group,
            "version": "*",
            "resource": self.resource,
            "subresource": self.subresource,
            "name": self.name,
            "namespace": self.namespace,
        }


type Granted = Mapping[Subject, Sequence[Right]]
"""The rights of each subject."""


class ReviewStatus(msgspec.Struct, frozen=True):
    """Whether it is allowed."""

    allowed: bool = False


class Review(msgspec.Struct, frozen=True):
    """An answered SubjectAccessReview."""

    status: ReviewStatus


def in_manifests(*folders: str) -> Sequence[Mapping[str, Any]]:
    """The objects of these folders' rights, as ``kubectl apply`` would make them."""
    return [each for folder in folders for each in manifests.documents(folder)]


def granted(documents: Iterable[Mapping[str, Any]]) -> Granted:
    """Which rights these roles and bindings come to, each once and in order."""
    documents = list(documents)
    rules = {
        (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"]): each
        for each in documents
        if each["kind"] in ("ClusterRole", "Role")
    }
    found: defaultdict[Subject, set[Right]] = defaultdict(set)
    for binding in documents:
        if binding["kind"] not in ("ClusterRoleBinding", "RoleBinding"):
            continue
        where = binding["metadata"].get("namespace", "")
        role = binding["roleRef"]
        of_role = rules[role["kind"], where if role["kind"] == "Role" else "", role["name"]]
        for each in binding["subjects"]:
            subject = Subject(each["kind"], each["name"], each.get("namespace", ""))
            found[subject].update(_rights(of_role["rules"], where))
    return {subject: sorted(rights) for subject, rights in sorted(found.items())}


def look(server: ApiServer, wanted: Granted) -> Iterator[Finding]:
    """Ask about every right. Raises ClusterError."""
    asked = [(subject, right) for subject, rights in wanted.items() for right in rights]
    bodies = [_review(subject, right) for subject, right in asked]
    answers = server.ask(REVIEWS, bodies, Review)
    refused: defaultdict[Subject, list[Right]] = defaultdict(list)
    for (subject, right), answer in zip(asked, answers, strict=True):
        if not answer.status.allowed:
            refused[subject].append(right)
    for subject, rights in wanted.items():
        yield judge(subject, rights, refused[subject])


def judge(subject: Subject, wanted: Sequence[Right], refused: Sequence[Right]) -> Finding:
    """Whether a role may do all that it has to."""
    link = f"rights of {subject.title}"
    if not refused:
        return fine(link, f"it may do all {len(wanted)} things that the manifests grant")
    named = ", ".join(map(str, refused[:MOST_NAMED]))
    more = f", and {len(refused) - MOST_NAMED} more" if len(refused) > MOST_NAMED else ""
    return broken(link, f"the API server forbids {_told(subject)}: {named}{more}", REMEDY)


def _told(subject: Subject) -> str:
    if subject.kind == "Group":
        return f"the group {subject.name}"
    return f"the service account {subject.namespace}/{subject.name}"


def _review(subject: Subject, right: Right) -> Mapping[str, Any]:
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {**subject.to_wire(), "resourceAttributes": right.to_wire()},
    }


def _rights(rules: Iterable[Mapping[str, Any]], namespace: str) -> Iterator[Right]:
    for rule in rules:
        for group in rule["apiGroups"]:
            for whole in rule["resources"]:
                resource, _, subresource = whole.partition("/")
                for verb in rule["verbs"]:
                    for name in rule.get("resourceNames", ("",)):
                        yield Right(verb, group, resource, subresource, name, namespace)
