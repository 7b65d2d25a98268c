"""What a service account of the manifests may do, as a kubeconfig."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from evenkeel.model import names
from tests.kit.control_plane import ROOT, ControlPlane

SYSTEM = names.SYSTEM_NAMESPACE
ENFORCE = "pod-security.kubernetes.io/enforce"


def kubeconfig_of(control_plane: ControlPlane, account: str, folder: Path) -> Path:
    """A kubeconfig with a token of a service account of ``evenkeel-system``, and nothing else."""
    config = yaml.safe_load(control_plane.kubeconfig.read_text())
    token = control_plane.kubectl("create", "token", account, "-n", SYSTEM).strip()
    (user,) = config["users"]
    user["user"] = {"token": token}
    path = folder / f"{account}.yaml"
    path.write_text(yaml.safe_dump(config))
    return path


@contextmanager
def applied(control_plane: ControlPlane, manifests: str | Path) -> Iterator[None]:
    """A folder of manifests/, or another, in a namespace that allows restricted pods alone."""
    kubectl, folder = control_plane.kubectl, str(ROOT / "manifests" / manifests)
    kubectl("label", "namespace", SYSTEM, f"{ENFORCE}=restricted")
    kubectl("apply", "-k", folder)
    try:
        yield
    finally:
        kubectl("delete", "-k", folder, "--ignore-not-found")
        kubectl("label", "namespace", SYSTEM, f"{ENFORCE}-")
