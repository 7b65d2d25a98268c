"""``evenkeel doctor`` on the real control plane: all is fine, then one link after the other."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evenkeel.model import names
from tests.e2e.cli.commands import evenkeel
from tests.e2e.manifests import deployment
from tests.e2e.placement.webhook import Ground, opened
from tests.kit.control_plane import ROOT, ControlPlane
from tests.kit.manifests import PAUSED

pytestmark = pytest.mark.controlplane

RBAC = ROOT / "manifests" / "rbac"
GATE = ROOT / "manifests" / "gate" / "rights.yaml"


@pytest.fixture
def ground(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Iterator[Ground]:
    """Rights, webhook and gate, and a workload that is placed and gated."""
    control_plane.kubectl("apply", "-k", str(RBAC))
    control_plane.kubectl("apply", "-f", str(GATE))
    with opened(control_plane, namespace, tmp_path) as made:
        made.add_nodes(spot=1, on_demand=1)
        made.serve()
        made.gate()
        made.apply(deployment("web", 1))
        made.settled(1)
        yield made
    for kind in ("clusterrolebinding", "clusterrole", "flowschema"):
        control_plane.kubectl("delete", kind, "-l", "app.kubernetes.io/name=evenkeel")
    control_plane.kubectl("delete", "-f", str(GATE))


def examined(ground: Ground) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and the findings by their links."""
    done = evenkeel(ground.control_plane, "doctor", "-o", "json")
    assert done.stderr == ""
    return done.returncode, {each["link"]: each for each in json.loads(done.stdout)["items"]}


def broken(findings: dict[str, dict[str, Any]]) -> set[str]:
    return {link for link, each in findings.items() if each["verdict"] == "broken"}


def test_each_broken_link_is_seen_and_all_else_is_fine(ground: Ground) -> None:
    def is_running() -> bool:
        return all(pod["status"]["phase"] == "Running" for pod in ground.pods())

    ground.wait_for("the workload to run", is_running)
    code, found = examined(ground)
    left = {link: each for link, each in found.items() if each["verdict"] != "fine"}
    assert set(left) == {"AWS", "spot nodes in EC2", "headroom", "clock of the reconciler"}, left
    assert {each["verdict"] for each in left.values()} == {"not looked at"}
    assert code == 0

    rule = [{"op": "remove", "path": "/rules/0"}]
    ground.control_plane.kubectl(
        *("patch", "clusterrole", "evenkeel-interruption", "--type", "json", "-p", json.dumps(rule))
    )
    ground.control_plane.apply(PAUSED)
    ground.wait_for(
        "the right to be gone", lambda: "rights of interruption" in broken(examined(ground)[1])
    )
    code, found = examined(ground)
    assert (code, broken(found)) == (1, {"pause", "rights of interruption"})
    assert "get nodes, list nodes, patch nodes" in found["rights of interruption"]["reason"]

    ground.control_plane.kubectl("apply", "-k", str(RBAC))
    ground.control_plane.delete("v1", "ConfigMap", names.PAUSED, names.SYSTEM_NAMESPACE)
    ground.webhooks[0].kill()
    code, found = examined(ground)
    assert code == 1
    answers = {"answers of placement", "answers of gate"}
    assert broken(found) == {"placement webhook", "eviction gate"} | answers
    assert "went on with a dry-run pod" in found["placement webhook"]["reason"]
    assert found["webhook certificate"]["verdict"] == "not looked at"
