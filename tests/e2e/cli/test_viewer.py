"""The rights of manifests/viewer are enough for what only reads, and an error names them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.accounts import kubeconfig_of_member
from tests.e2e.cli.commands import evenkeel
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment, stateful_set
from tests.kit.control_plane import ROOT, ControlPlane

pytestmark = pytest.mark.controlplane

RIGHTS = ROOT / "manifests" / "viewer"
NAMESPACE = ROOT / "manifests" / "rbac" / "namespace.yaml"
NOTICE = "interruption-warning-terminate"


@pytest.fixture
def viewer(control_plane: ControlPlane, tmp_path: Path) -> Iterator[Path]:
    """The kubeconfig of somebody who has these rights and no others."""
    control_plane.kubectl("apply", "-f", str(NAMESPACE))
    control_plane.kubectl("apply", "-k", str(RIGHTS))
    yield kubeconfig_of_member(control_plane, "evenkeel-viewers", tmp_path)
    control_plane.kubectl("delete", "-k", str(RIGHTS))


def test_a_viewer_reads_all_that_the_commands_show(site: Site, viewer: Path) -> None:
    site.add_nodes("a")
    site.apply(budget("web", minAvailable=1))
    site.run(deployment("web", 1), stateful_set("db", 1))
    site.add_nodes("b", spot=False)
    node = site.node_name("a")
    for arguments in (
        ("status", "-A"),
        ("status", "-n", site.namespace),
        ("status", "-A", "--cost"),
        ("nodes",),
        ("explain", f"{site.namespace}/deploy/web"),
        ("explain", node),
        ("restore", "-A"),
        ("headroom", "--replicas", "1", "--cpu", "1", "--memory", "1Gi"),
        ("drain", node),
        ("cancel", node),
        ("replay", "--sample", NOTICE, "--instance", f"i-1234567890abcdef0={node}"),
    ):
        done = evenkeel(site.control_plane, *arguments, "--kubeconfig", viewer)
        assert done.returncode == 0, (arguments, done.stderr)
        assert "forbidden" not in done.stdout + done.stderr, arguments
    done = evenkeel(site.control_plane, "status", "-n", "defualt", "--kubeconfig", viewer)
    assert done.stderr == "error: there is no namespace defualt: did you mean default?\n"


def test_who_may_not_is_told_which_role_to_apply(site: Site, viewer: Path, tmp_path: Path) -> None:
    nobody = kubeconfig_of_member(site.control_plane, "nobody", tmp_path)
    done = evenkeel(site.control_plane, "status", "-A", "--kubeconfig", nobody)
    assert done.returncode == 3
    assert done.stderr.endswith(
        ": kubectl apply -k manifests/viewer gives that to the group evenkeel-viewers\n"
    )
    site.add_nodes("a")
    node = site.node_name("a")
    done = evenkeel(site.control_plane, "drain", node, "--apply", "--kubeconfig", viewer)
    assert done.returncode == 3
    assert done.stderr.endswith(
        ": kubectl apply -k manifests/rbac gives that to the group evenkeel-handover\n"
    )


@pytest.mark.usefixtures("viewer")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "api/v1/secrets"),
        ("GET", "api/v1/namespaces/default/pods/any/log"),
        ("POST", "api/v1/namespaces/default/pods/any/exec"),
        (
            "GET",
            "apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/evenkeel",
        ),
        ("GET", "apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"),
        ("PATCH", "api/v1/nodes/any"),
        ("PATCH", "apis/apps/v1/namespaces/default/deployments/any"),
        ("DELETE", "api/v1/namespaces/default/pods/any"),
        ("POST", "api/v1/namespaces/default/pods/any/eviction"),
        ("POST", "api/v1/namespaces/evenkeel-system/configmaps"),
    ],
)
def test_a_viewer_reads_no_secret_and_writes_nothing(
    control_plane: ControlPlane, method: str, path: str
) -> None:
    body = None if method in {"GET", "DELETE"} else dict[str, object]()
    answer = control_plane.asked_by("somebody", "evenkeel-viewers", method, path, body)
    assert answer.status == 403
