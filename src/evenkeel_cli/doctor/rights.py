"""What the manifests grant to each role, its version, and what of it the API server forbids.

The list of rights is read from the manifests themselves. The API server is asked about each by a
SubjectAccessReview: as the role's group, or as the service account of the webhook in the cluster.
Rights and code carry the version that they were made with: Evenkeel's own and a digest of what the
manifests grant. tools/write-version writes it into the manifests and into the template.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

import evenkeel
from evenkeel_cli import manifests
from evenkeel_cli.doctor.api_server import ApiServer

REVIEWS: Final = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
LABEL: Final = "app.kubernetes.io/version"
OUTPUT: Final = "RightsVersion"
"""Where rights and the stack's code carry their version."""

ROLES: Final = (
    "evenkeel-interruption",
    "evenkeel-handover",
    "evenkeel-placement",
    "evenkeel-restore",
)
POLICY: Final = "ValidatingAdmissionPolicy"
"""And its binding."""


class Subject(msgspec.Struct, frozen=True, order=True):
    """Who is granted rights: a group, or the service account of a namespace."""

    kind: str
    name: str
    namespace: str = ""

    @property
    def title(self) -> str:
        """``interruption`` for the group evenkeel-interruption."""
        return self.name.removeprefix("evenkeel-") if self.kind == "Group" else self.name

    def __str__(self) -> str:
        """``the group evenkeel-interruption``."""
        if self.kind == "Group":
            return f"the group {self.name}"
        return f"the service account {self.namespace}/{self.name}"

    def to_wire(self) -> Mapping[str, Any]:
        """The user and the groups that a review asks for."""
        if self.kind == "Group":
            return {"user": f"{self.name}-doctor", "groups": [self.name, "system:authenticated"]}
        accounts = ("system:serviceaccounts", f"system:serviceaccounts:{self.namespace}")
        return {
            "user": f"system:serviceaccount:{self.namespace}:{self.name}",
            "groups": [*accounts, "system:authenticated"],
        }


class Right(msgspec.Struct, frozen=True, order=True):
    """One right: a verb and a resource, in a namespace or, where that is empty, in all.

    As the ResourceAttributes of a review have it.
    """

    verb: str
    group: str
    resource: str
    subresource: str = ""
    name: str = ""
    namespace: str = ""
    version: str = "*"

    def __str__(self) -> str:
        """``patch pods/status``, ``get leases.coordination.k8s.io/evenkeel-handover in ...``."""
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        parts = "/".join(filter(None, (resource, self.subresource, self.name)))
        return f"{self.verb} {parts}" + (f" in {self.namespace}" if self.namespace else "")


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


def refused(server: ApiServer, wanted: Granted) -> Granted:
    """What of this the API server forbids. Raises ClusterError."""
    asked = [(subject, right) for subject, rights in wanted.items() for right in rights]
    answers = server.ask(REVIEWS, [_review(*each) for each in asked], Review)
    found: defaultdict[Subject, list[Right]] = defaultdict(list)
    for (subject, right), answer in zip(asked, answers, strict=True):
        if not answer.status.allowed:
            found[subject].append(right)
    return found


def of_command() -> str:
    """The version of the rights that come with this command."""
    return stamp(evenkeel.__version__, in_manifests("rbac", "gate", "policies/deny"))


def stamp(version: str, documents: Iterable[Mapping[str, Any]]) -> str:
    """``0.1.0-1f2e3d4c``: fit for a label; another one as soon as anything else is granted.

    What a policy forbids of what is granted counts as well.
    """
    documents = list(documents)
    told = [
        f"{subject!r} {right}" for subject, rights in granted(documents).items() for right in rights
    ]
    told += sorted(
        json.dumps(each["spec"], sort_keys=True)
        for each in documents
        if each["kind"].startswith(POLICY)
    )
    return f"{version}-{hashlib.sha256('\n'.join(told).encode()).hexdigest()[:8]}"


def _review(subject: Subject, right: Right) -> Mapping[str, Any]:
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {**subject.to_wire(), "resourceAttributes": msgspec.to_builtins(right)},
    }


def _rights(rules: Iterable[Mapping[str, Any]], namespace: str) -> Iterator[Right]:
    for rule in rules:
        for group in rule["apiGroups"]:
            for whole in rule["resources"]:
                resource, _, subresource = whole.partition("/")
                for verb in rule["verbs"]:
                    for name in rule.get("resourceNames", ("",)):
                        yield Right(verb, group, resource, subresource, name, namespace)
