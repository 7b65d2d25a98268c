"""``kubectl evenkeel``: the real kubectl runs the plugin, and completes its line."""

import subprocess

import pytest

import evenkeel
from tests.e2e.harness import Site
from tests.e2e.manifests import deployment
from tests.kit.control_plane import ROOT, ControlPlane

pytestmark = pytest.mark.controlplane

NO_FILES = ":4"


def kubectl(control_plane: ControlPlane, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [control_plane.binaries / "kubectl", *arguments],
        env={
            "HOME": "/nonexistent",
            "PATH": f"{ROOT / '.venv' / 'bin'}:/usr/bin:/bin",
            "KUBECONFIG": str(control_plane.kubeconfig),
        },
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def completed(control_plane: ControlPlane, *words: str) -> list[str]:
    """What kubectl's completion scripts get for a line that begins with ``kubectl evenkeel``."""
    done = kubectl(control_plane, "__completeNoDesc", "evenkeel", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_kubectl_runs_the_plugin(control_plane: ControlPlane) -> None:
    done = kubectl(control_plane, "evenkeel", "--version")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"kubectl evenkeel {evenkeel.__version__}\n"


def test_the_plugin_calls_itself_so(control_plane: ControlPlane) -> None:
    refused = kubectl(control_plane, "evenkeel", "xyz")

    assert refused.returncode == 2
    assert refused.stderr == "error: No such command 'xyz': see kubectl evenkeel --help\n"


def test_kubectl_completes_commands_options_and_choices(control_plane: ControlPlane) -> None:
    assert completed(control_plane, "re") == ["replay", "report", "restore", "resume", NO_FILES]
    assert completed(control_plane, "pause", "--rea") == ["--reason", NO_FILES]
    assert completed(control_plane, "install", "--mode", "") == ["observe", "act", NO_FILES]


def test_kubectl_completes_files_by_itself_where_one_is_wanted(control_plane: ControlPlane) -> None:
    assert completed(control_plane, "demo", "--snapshot-to", "") == [":0"]
    assert completed(control_plane, "install", "--render", "") == [":16"]


@pytest.mark.nightly
def test_kubectl_completes_what_the_cluster_has(site: Site) -> None:
    site.add_nodes("a", "b")
    site.apply(deployment("web", 1))
    a, b = sorted(map(site.node_name, "ab"))
    plane, namespace = site.control_plane, site.namespace
    prefix = a[:-1]

    for words, found in (
        (("drain", prefix), [a, b]),
        (("drain", a, prefix), [b]),
        (("status", "-n", namespace), [namespace]),
        (("explain", "-n", namespace, ""), ["deploy/web"]),
        (("explain", "-A", f"{namespace}/"), [f"{namespace}/deploy/web"]),
    ):
        # Who presses Tab waits a second at most: on a busy machine for nothing.
        plane.wait_for(
            f"{words} to be completed",
            lambda words=words, found=found: completed(plane, *words) == [*found, NO_FILES],  # type: ignore[misc]
        )
