"""``evenkeel pause | resume | cancel`` against the real control plane."""

import json
from pathlib import Path

import pytest

from evenkeel.model import names
from tests.e2e.cli.commands import evenkeel
from tests.e2e.harness import Site
from tests.kit.control_plane import ROOT

pytestmark = pytest.mark.controlplane


def pauses(site: Site) -> list[str]:
    found = site.control_plane.items("v1", "ConfigMap", names.SYSTEM_NAMESPACE)
    return [item["metadata"]["name"] for item in found]


def test_a_pause_is_made_and_ended_only_with_leave(site: Site) -> None:
    asked = evenkeel(site.control_plane, "pause", "--reason", "upgrade")
    assert (asked.returncode, names.PAUSED in pauses(site)) == (0, False)
    assert "add --apply to do it" in asked.stdout

    done = evenkeel(site.control_plane, "pause", "--reason", "upgrade", "--apply")
    assert (done.returncode, names.PAUSED in pauses(site)) == (0, True)
    assert "already" in evenkeel(site.control_plane, "pause", "--apply").stdout

    event = ROOT / "events" / "interruption-warning-terminate.json"
    refused = evenkeel(site.control_plane, "replay", str(event), "--apply")
    assert refused.returncode == 3
    assert refused.stderr.startswith("error: the current context is paused since ")
    assert refused.stderr.endswith("upgrade: evenkeel resume --apply ends it\n")

    assert "add --apply" in evenkeel(site.control_plane, "resume").stdout
    assert names.PAUSED in pauses(site)
    assert evenkeel(site.control_plane, "resume", "--apply").returncode == 0
    assert names.PAUSED not in pauses(site)
    assert "is not paused" in evenkeel(site.control_plane, "resume", "--apply").stdout


def test_a_notice_is_taken_back_only_with_leave(site: Site, tmp_path: Path) -> None:
    site.add_nodes("a", "b")
    file = tmp_path / "hint.json"
    file.write_text(json.dumps(site.recommendation("a")))

    replayed = evenkeel(site.control_plane, "replay", str(file), "--apply")
    assert replayed.returncode == 0, replayed.stderr
    assert "stays marked for now" in replayed.stderr
    assert site.is_marked("a")

    asked = evenkeel(site.control_plane, "cancel", site.node_name("a"))
    assert "add --apply" in asked.stdout
    assert site.is_marked("a")

    done = evenkeel(site.control_plane, "cancel", site.node_name("a"), "--apply")
    assert (done.returncode, site.is_marked("a")) == (0, False)
    assert "lift" in done.stdout
    assert not site.node("a")["spec"].get("taints")
    assert (
        "carries no notice"
        in evenkeel(site.control_plane, "cancel", site.node_name("a"), "--apply").stdout
    )
