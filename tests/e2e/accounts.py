"""What a service account of the manifests may do, or a member of a group, as a kubeconfig."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from evenkeel.model import names
from tests.kit.certificates import Authority
from tests.kit.control_plane import ROOT, ControlPlane

SYSTEM = names.SYSTEM_NAMESPACE
ENFORCE = "pod-security.kubernetes.io/enforce"


def kubeconfig_of(control_plane: ControlPlane, account: str, folder: Path) -> Path:
    """A kubeconfig with a token of a service account of ``evenkeel-system``, and nothing else."""
    token = control_plane.kubectl("create", "token", account, "-n", SYSTEM).strip()
    return _kubeconfig(control_plane, {"token": token}, folder / f"{account}.yaml")


def kubeconfig_of_member(control_plane: ControlPlane, group: str, folder: Path) -> Path:
    """A kubeconfig of somebody who is in this group and in none besides."""
    (pki,) = control_plane.kubeconfig.parent.glob("clusters/*/pki")
    pair = Authority.read(pki / "ca.crt", pki / "ca.key").issue(f"{group}-function", group=group)
    certificate, key = pair.write(folder, group)
    user = {"client-certificate": str(certificate), "client-key": str(key)}
    return _kubeconfig(control_plane, user, folder / f"{group}.yaml")


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
