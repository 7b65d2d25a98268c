"""Whether the policies stand that hold the roles to what they write: manifests/policies."""

from collections.abc import Collection, Mapping
from typing import Final

import msgspec

from evenkeel_cli import manifests
from evenkeel_cli.doctor import version
from evenkeel_cli.doctor.api_server import ApiServer
from evenkeel_cli.doctor.findings import Finding, broken, fine, not_looked
from evenkeel_cli.doctor.rights import REMEDY
from evenkeel_cli.program import NAME

LINK: Final = "policies"
TARGET: Final = (
    "/apis/admissionregistration.k8s.io/v1/{}?labelSelector=app.kubernetes.io%2Fname%3Devenkeel"
)
DENY: Final = "Deny"


class Metadata(msgspec.Struct, frozen=True):
    """The name and the labels of an object."""

    name: str
    labels: dict[str, str] = {}


class Spec(msgspec.Struct, frozen=True, rename="camel"):
    """Of a binding: the policy, and what becomes of a request that it refuses."""

    policy_name: str = ""
    validation_actions: tuple[str, ...] = ()


class Object(msgspec.Struct, frozen=True):
    """A policy or a binding."""

    metadata: Metadata
    spec: Spec


class Objects(msgspec.Struct, frozen=True):
    """A list of these."""

    items: tuple[Object, ...] = ()


def look(server: ApiServer) -> Finding:
    """Read the policies and their bindings, and judge. Raises ClusterError."""
    policies, bindings = (
        server.read_as(Objects, TARGET.format(kind), f"list {kind}").items
        for kind in ("validatingadmissionpolicies", "validatingadmissionpolicybindings")
    )
    found = {each.metadata.name: each.metadata.labels.get(version.LABEL, "") for each in policies}
    actions = {each.spec.policy_name: each.spec.validation_actions for each in bindings}
    return judge(found, actions, version.of_command())


def judge(found: Mapping[str, str], actions: Mapping[str, Collection[str]], here: str) -> Finding:
    """Whether the roles are held to what they write.

    ``found``: the versions of the policies in the cluster by name; ``actions``: what their bindings
    do; ``here``: this command's version of the rights.
    """
    policies = [each for each in manifests.policies() if each["kind"] == version.POLICY]
    names = sorted(each["metadata"]["name"] for each in policies)
    there = [name for name in names if name in found and name in actions]
    if not there:
        advice = f"{NAME} install --policies audit, then deny (docs/security.md)"
        return not_looked(LINK, "none: a role may write all that RBAC lets it", advice)
    if lacking := [name for name in names if name not in there]:
        return broken(LINK, f"{', '.join(lacking)} is not there, or not bound", REMEDY)
    if others := sorted({found[name] for name in names} - {here}):
        message = f"they have {', '.join(others)}, and this command has {here}"
        return broken(LINK, f"{message}: they may refuse what the code writes", REMEDY)
    if audited := [name for name in names if DENY not in actions[name]]:
        return fine(LINK, f"{', '.join(audited)}: what it would refuse is noted, and passes")
    return fine(LINK, "the API server holds each role to what Evenkeel writes")
