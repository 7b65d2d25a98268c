"""``evenkeel doctor`` on the real control plane: all is fine, then one link after the other."""

import json
from typing import Any

import pytest

from evenkeel.model import names
from tests.e2e.cli.commands import evenkeel
from tests.e2e.harness import Site
from tests.e2e.manifests import deployment
from tests.e2e.placement.restoring import all_ready
from tests.e2e.placement.webhook import Ground
from tests.e2e.rights import MANIFESTS
from tests.kit.manifests import PAUSED

pytestmark = pytest.mark.controlplane


@pytest.fixture
def installed(site: Site, rights: None, gate_rights: None, ground: Ground) -> Ground:
    """Rights, webhook and gate, and a workload that is placed and gated, on a clean cluster."""
    del site, rights, gate_rights
    ground.add_nodes(spot=1, on_demand=1)
    ground.serve()
    ground.gate()
    ground.apply(deployment("web", 1))
    all_ready(ground, 1)
    return ground


def examined(ground: Ground) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and the findings by their links."""
    done = evenkeel(ground.control_plane, "doctor", "-o", "json")
    assert done.stderr == ""
    return done.returncode, {each["link"]: each for each in json.loads(done.stdout)["items"]}


def broken(findings: dict[str, dict[str, Any]]) -> set[str]:
    return {link for link, each in findings.items() if each["verdict"] == "broken"}


def test_each_broken_link_is_seen_and_all_else_is_fine(installed: Ground) -> None:
    ground = installed
    code, found = examined(ground)
    left = {link: each for link, each in found.items() if each["verdict"] != "fine"}
    assert set(left) == {"AWS", "spot nodes in EC2", "headroom", "clock of the reconciler"}, left
    assert {each["verdict"] for each in left.values()} == {"not looked at"}
    assert code == 0
    assert "holds each role" in found["policies"]["reason"]

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

    ground.control_plane.kubectl("apply", "-k", str(MANIFESTS))
    ground.control_plane.delete("v1", "ConfigMap", names.PAUSED, names.SYSTEM_NAMESPACE)
    ground.webhooks[0].kill()
    code, found = examined(ground)
    assert code == 1
    answers = {"answers of placement", "answers of gate"}
    assert broken(found) == {"placement webhook", "eviction gate"} | answers
    assert "went on with a dry-run pod" in found["placement webhook"]["reason"]
    assert found["webhook certificate"]["verdict"] == "not looked at"
