"""Who Evenkeel is in the cluster, as kubeconfigs: accounts of the manifests, members of groups."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import yaml

from evenkeel.model import names
from tests.e2e.manifests import deployment
from tests.kit.certificates import Authority
from tests.kit.control_plane import ROOT, ControlPlane
from tests.kit.manifests import resource

GROUPS = ("evenkeel-interruption", "evenkeel-handover", "evenkeel-restore", "evenkeel-placement")
BINDING = "apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/evenkeel-writes"
MASTERS = "system:masters"
SYSTEM = names.SYSTEM_NAMESPACE
ENFORCE = "pod-security.kubernetes.io/enforce"


def kubeconfig_of(control_plane: ControlPlane, account: str, folder: Path) -> Path:
    """A kubeconfig with a token of a service account of ``evenkeel-system``, and nothing else.

    Whoever acts as Evenkeel is ``held``.
    """
    held(control_plane)
    token = control_plane.kubectl("create", "token", account, "-n", SYSTEM).strip()
    return _kubeconfig(control_plane, {"token": token}, folder / f"{account}.yaml")


def kubeconfig_of_member(control_plane: ControlPlane, group: str, folder: Path) -> Path:
    """A kubeconfig of somebody who is in this group and in none besides, and ``held``."""
    held(control_plane)
    return _of_member(control_plane, [group], folder / f"{group}.yaml")


def held(control_plane: ControlPlane) -> Path:
    """A kubeconfig of an administrator who is in all of Evenkeel's groups.

    He may do all that RBAC knows of, and manifests/policies hold him to what Evenkeel writes. They
    are in force when this returns.
    """
    path = control_plane.kubeconfig.with_name("evenkeel.yaml")
    if not path.exists():
        _of_member(control_plane, [*GROUPS, MASTERS], path)
    probe = {**resource("ReplicaSet", "probe", "default"), "spec": deployment("probe", 0)["spec"]}
    target = "apis/apps/v1/namespaces/default/replicasets/probe"
    scaled = {"spec": {"replicas": 1}}

    def is_held() -> bool:
        answer = control_plane.asked_by(GROUPS[0], MASTERS, "PATCH", f"{target}?dryRun=All", scaled)
        return answer.status == 403

    control_plane.apply(probe)
    if control_plane.request("GET", BINDING, fine=(404,))["kind"] == "Status":
        control_plane.kubectl("apply", "-k", str(ROOT / "manifests" / "policies" / "deny"))
    control_plane.wait_for("the API server to go by the policies", is_held)
    return path


def _of_member(control_plane: ControlPlane, groups: Sequence[str], path: Path) -> Path:
    (pki,) = control_plane.kubeconfig.parent.glob("clusters/*/pki")
    authority = Authority.read(pki / "ca.crt", pki / "ca.key")
    pair = authority.issue(f"{path.stem}-function", groups=groups)
    certificate, key = pair.write(path.parent, path.stem)
    user = {"client-certificate": str(certificate), "client-key": str(key)}
    return _kubeconfig(control_plane, user, path)


def _kubeconfig(control_plane: ControlPlane, user: dict[str, str], path: Path) -> Path:
    config = yaml.safe_load(control_plane.kubeconfig.read_text())
    config["users"][0]["user"] = user
    path.write_text(yaml.safe_dump(config))
    return path


@contextmanager
def restricted(control_plane: ControlPlane) -> Iterator[None]:
    """Meanwhile Evenkeel's namespace allows pods of the strictest standard alone."""
    label = ("label", "--overwrite", "namespace", SYSTEM)
    control_plane.kubectl(*label, f"{ENFORCE}=restricted")
    try:
        yield
    finally:
        control_plane.kubectl(*label, f"{ENFORCE}-")


@contextmanager
def applied(control_plane: ControlPlane, manifests: str | Path) -> Iterator[None]:
    """A folder of manifests/, or another, in a namespace that allows restricted pods alone."""
    folder = str(ROOT / "manifests" / manifests)
    with restricted(control_plane):
        control_plane.kubectl("apply", "-k", folder)
        try:
            yield
        finally:
            control_plane.kubectl("delete", "-k", folder, "--ignore-not-found")
