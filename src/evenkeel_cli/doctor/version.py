"""The version of the functions' code against the version of the rights in the cluster.

Both carry the version of the rights that they were made with: Evenkeel's version and a digest of
what the manifests grant. tools/write-version writes it into the manifests and into the template.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

import evenkeel
from evenkeel.errors import NotFoundError
from evenkeel_cli.doctor.api_server import ApiServer
from evenkeel_cli.doctor.findings import Finding, broken, fine, unknown
from evenkeel_cli.doctor.rights import granted, in_manifests

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
APPLY: Final = "kubectl apply -k manifests/rbac"
APPLY_GATE: Final = "kubectl apply -f manifests/gate/rights.yaml"


class Metadata(msgspec.Struct, frozen=True):
    """The labels of an object."""

    labels: dict[str, str] = {}


class ClusterRole(msgspec.Struct, frozen=True):
    """A ClusterRole, as far as it tells its version."""

    metadata: Metadata


def of_checkout() -> str:
    """The version of this checkout's rights."""
    return stamp(evenkeel.__version__, in_manifests("rbac", "gate"))


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


def look(server: ApiServer, of_code: str | None, *, is_gated: bool) -> Iterator[Finding]:
    """Read the roles' labels and judge. ``of_code`` None: there is no stack that tells.

    Raises ClusterError.
    """
    roles = {name: _label(server, name) for name in (*ROLES, *([GATE] if is_gated else []))}
    here = of_checkout()
    yield judge_rights(roles, here)
    if of_code is not None:
        yield judge_code(of_code, roles, here)


def judge_rights(roles: Mapping[str, str | None], here: str) -> Finding:
    """Whether the roles in the cluster are this checkout's; None: there is no such role."""
    missing = [name for name, label in roles.items() if label is None]
    if missing:
        return broken(IN_CLUSTER, f"there is no ClusterRole {', '.join(missing)}", _apply(missing))
    other = [name for name, label in roles.items() if label != here]
    if other:
        found = ", ".join(sorted({roles[name] or "no version" for name in other}))
        return broken(
            IN_CLUSTER,
            f"{', '.join(other)}: {found}, and this checkout has {here}",
            f"{_apply(other)}, from the checkout that the stack was deployed from",
        )
    return fine(IN_CLUSTER, here)


def judge_code(of_code: str, roles: Mapping[str, str | None], here: str) -> Finding:
    """Whether the stack's code was made with the rights that are in the cluster."""
    if not of_code:
        return unknown(
            OF_CODE, f"the stack has no output {OUTPUT}: it is older", "deploy the stack again"
        )
    found = sorted({label or "none" for label in roles.values()})
    if found == [of_code]:
        return fine(OF_CODE, f"the stack's code has {of_code}, as the rights have")
    remedy = APPLY if of_code == here else f"check out what belongs together; then {APPLY}, deploy"
    return broken(
        OF_CODE, f"the stack's code has {of_code}, the rights have {', '.join(found)}", remedy
    )


def _label(server: ApiServer, name: str) -> str | None:
    target = f"/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}"
    try:
        role = server.read_as(ClusterRole, target, f"get clusterrole {name}")
    except NotFoundError:
        return None
    return role.metadata.labels.get(LABEL, "")


def _apply(names: Sequence[str]) -> str:
    commands = [APPLY] if any(name != GATE for name in names) else []
    return ", ".join([*commands, *([APPLY_GATE] if GATE in names else [])])
