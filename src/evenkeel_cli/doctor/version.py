"""The version of the functions' code against the version of the rights in the cluster.

Both carry the version of the rights that they were made with: Evenkeel's version and a digest of
what the manifests grant. tools/write-version writes it into the manifests and into the template.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

import evenkeel
from evenkeel.errors import NotFoundError
from evenkeel_cli.doctor.api_server import ApiServer
from evenkeel_cli.doctor.findings import Finding, broken, fine, unknown
from evenkeel_cli.doctor.rights import REMEDY, granted, in_manifests

LABEL: Final = "app.kubernetes.io/version"
OUTPUT: Final = "RightsVersion"
IN_CLUSTER = "version of the rights"
OF_CODE = "version of the code"
ROLES: Final = (
    "evenkeel-interruption",
    "evenkeel-handover",
    "evenkeel-placement",
    "evenkeel-restore",
)
GATE: Final = "evenkeel-gate"
POLICY: Final = "ValidatingAdmissionPolicy"
"""And its binding."""


class Metadata(msgspec.Struct, frozen=True):
    """The labels of an object."""

    labels: dict[str, str] = {}


class ClusterRole(msgspec.Struct, frozen=True):
    """A ClusterRole, as far as it tells its version."""

    metadata: Metadata


def of_command() -> str:
    """The version of the rights that come with this command."""
    return stamp(evenkeel.__version__, in_manifests("rbac", "gate", "policies/deny"))


def stamp(version: str, documents: Iterable[Mapping[str, Any]]) -> str:
    """``0.1.0-1f2e3d4c``: fit for a label; another one as soon as anything else is granted.

    What a policy forbids of what is granted counts as well.
    """
    documents = list(documents)
    told = [
        f"{subject} {right}" for subject, rights in granted(documents).items() for right in rights
    ]
    told += sorted(
        json.dumps(each["spec"], sort_keys=True)
        for each in documents
        if each["kind"].startswith(POLICY)
    )
    return f"{version}-{hashlib.sha256('\n'.join(told).encode()).hexdigest()[:8]}"


type Roles = Mapping[str, str | None]
"""The versions of the roles in the cluster; None of one that is not there."""


def gather(server: ApiServer, *, is_gated: bool) -> Roles:
    """Read the roles' labels. Raises ClusterError."""
    return {name: label_of(server, name) for name in (*ROLES, *([GATE] if is_gated else []))}


def look(roles: Roles, of_code: str | None) -> Iterator[Finding]:
    """Judge the roles. ``of_code`` None: there is no stack that tells."""
    here = of_command()
    yield judge_rights(roles, here)
    if of_code is not None:
        yield judge_code(of_code, roles)


def judge_rights(roles: Roles, here: str) -> Finding:
    """Whether the roles in the cluster are this command's; None: there is no such role."""
    missing = [name for name, label in roles.items() if label is None]
    if missing:
        return broken(IN_CLUSTER, f"there is no ClusterRole {', '.join(missing)}", REMEDY)
    other = [name for name, label in roles.items() if label != here]
    if other:
        found = ", ".join(sorted({roles[name] or "no version" for name in other}))
        return broken(
            IN_CLUSTER,
            f"{', '.join(other)}: {found}, and this command has {here}",
            REMEDY,
        )
    return fine(IN_CLUSTER, here)


def judge_code(of_code: str, roles: Roles) -> Finding:
    """Whether the stack's code was made with the rights that are in the cluster."""
    if not of_code:
        return unknown(OF_CODE, f"the stack has no output {OUTPUT}: it is older", REMEDY)
    found = sorted({label or "none" for label in roles.values()})
    if found == [of_code]:
        return fine(OF_CODE, f"the stack's code has {of_code}, as the rights have")
    return broken(
        OF_CODE, f"the stack's code has {of_code}, the rights have {', '.join(found)}", REMEDY
    )


def label_of(server: ApiServer, name: str) -> str | None:
    """The version of a ClusterRole, empty if it has none; None: there is no such role."""
    target = f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}"
    try:
        role = server.read_as(ClusterRole, target, f"get clusterrole {name}")
    except NotFoundError:
        return None
    return role.metadata.labels.get(LABEL, "")
