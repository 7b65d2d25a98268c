"""``evenkeel pause | resume | cancel | explain | status`` against the real control plane."""

import json
import subprocess
from pathlib import Path

import pytest

from evenkeel.model import names
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment
from tests.kit.control_plane import ROOT

pytestmark = pytest.mark.controlplane


def evenkeel(site: Site, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    kubeconfig = ("--kubeconfig", site.control_plane.kubeconfig)
    return subprocess.run(
        [ROOT / ".venv" / "bin" / "evenkeel", name, *kubeconfig, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def pauses(site: Site) -> list[str]:
    found = site.control_plane.items("v1", "ConfigMap", names.SYSTEM_NAMESPACE)
    return [item["metadata"]["name"] for item in found]


def test_a_pause_is_made_and_ended_only_with_leave(site: Site) -> None:
    asked = evenkeel(site, "pause", "--reason", "upgrade")
    assert (asked.returncode, names.PAUSED in pauses(site)) == (0, False)
    assert "add --apply to do it" in asked.stdout

    done = evenkeel(site, "pause", "--reason", "upgrade", "--apply")
    assert (done.returncode, names.PAUSED in pauses(site)) == (0, True)
    assert "already" in evenkeel(site, "pause", "--apply").stdout

    event = ROOT / "events" / "interruption-warning-terminate.json"
    refused = evenkeel(site, "replay", str(event), "--apply")
    assert refused.returncode == 3
    assert refused.stderr.startswith("error: the current context is paused since ")
    assert refused.stderr.endswith("upgrade: evenkeel resume --apply ends it\n")

    assert "add --apply" in evenkeel(site, "resume").stdout
    assert names.PAUSED in pauses(site)
    assert evenkeel(site, "resume", "--apply").returncode == 0
    assert names.PAUSED not in pauses(site)
    assert "is not paused" in evenkeel(site, "resume", "--apply").stdout


def test_a_notice_is_taken_back_only_with_leave(site: Site, tmp_path: Path) -> None:
    site.add_nodes("a", "b")
    file = tmp_path / "hint.json"
    file.write_text(json.dumps(site.recommendation("a")))

    replayed = evenkeel(site, "replay", str(file), "--apply")
    assert replayed.returncode == 0, replayed.stderr
    assert "stays marked for now" in replayed.stderr
    assert site.node("a")["spec"].get("unschedulable")

    asked = evenkeel(site, "cancel", site.node_name("a"))
    assert "add --apply" in asked.stdout
    assert site.is_marked("a")

    done = evenkeel(site, "cancel", site.node_name("a"), "--apply")
    assert (done.returncode, site.is_marked("a")) == (0, False)
    assert "lift" in done.stdout
    assert not site.node("a")["spec"].get("unschedulable")
    assert "carries no notice" in evenkeel(site, "cancel", site.node_name("a"), "--apply").stdout


def test_a_node_that_is_not_there_cannot_be_cancelled(site: Site) -> None:
    done = evenkeel(site, "cancel", "nowhere", "--apply")

    assert done.returncode == 2
    assert done.stderr == "error: the current context has no node nowhere: check the name\n"


def test_a_context_that_is_not_there_is_bad_input(site: Site) -> None:
    done = evenkeel(site, "resume", "--context", "nowhere")

    assert done.returncode == 2
    assert "no context 'nowhere'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_workload_of_the_cluster_is_explained(site: Site) -> None:
    site.add_nodes("a")
    site.apply(budget("guarded", minAvailable=1))
    site.run(deployment("guarded", 1))

    done = evenkeel(site, "explain", f"{site.namespace}/deploy/guarded", "-o", "json")

    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["items"]
    (warning,), (hint,) = found["onInterruptionWarning"], found["onRebalanceRecommendation"]
    assert (warning["way"], hint["way"]) == ("handover", "handover")
    assert any("the budget guarded allows that" in step for step in warning["steps"])
    assert f"It is on node {site.node_name('a')} (spot)." in found["facts"]


def test_the_split_of_a_cluster_s_workloads_is_shown(site: Site) -> None:
    site.add_nodes("a")
    site.add_nodes("b", spot=False)
    managed = {"metadata": {"labels": {names.MANAGED: "true"}}}
    site.control_plane.merge("v1", "Namespace", site.namespace, managed)
    web = deployment("web", 3)
    web["metadata"].setdefault("annotations", {})[names.ON_DEMAND] = "all"
    site.run(web)

    done = evenkeel(site, "status", "-n", site.namespace, "-o", "json")

    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["items"]
    assert (row["replicas"], row["onDemand"] + row["spot"]) == (3, 3)
    assert row["floor"] == {"replicas": 3, "policy": "all", "source": "workload"}
    assert row["survivors"] == row["onDemand"]
    assert [each["reason"] for each in row["remarks"]] == (["BelowFloor"] if row["spot"] else [])
