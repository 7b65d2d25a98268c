"""``evenkeel replay`` as a person runs it, against the real control plane."""

import functools
import json
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from evenkeel.model import names
from tests.e2e.cli.commands import evenkeel, started
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment, stateful_set
from tests.kit.control_plane import ROOT, ControlPlane

pytestmark = pytest.mark.controlplane

DOOMED = ("n00", "n01", "n02", "n03", "n04")
REPLICAS = {"web": 20, "api": 6, "single": 1, "guarded": 1}
STANDING = tuple(f"n{number:02d}" for number in range(5, 20))


AGO = 45
"""How old warnings are, in seconds: so much sooner there is something new to decide."""

APPLY = ("--apply", "--keep-time")


def about(event: Mapping[str, Any], instance_id: str) -> Mapping[str, Any]:
    return {**event["detail"], "instance-id": instance_id}


@pytest.fixture
def warnings(site: Site, tmp_path: Path) -> Path:
    """Five of twenty nodes get a warning; all pods of four Deployments are on those five."""
    site.add_nodes(*DOOMED)
    site.apply(budget("guarded", minAvailable=1))
    site.run(*(deployment(name, replicas) for name, replicas in REPLICAS.items()))
    site.run(stateful_set("db", 2))
    site.add_nodes(*STANDING, spot=False)
    file = tmp_path / "warnings.json"
    file.write_text(json.dumps([site.warning(short, ago=AGO) for short in DOOMED]))
    return file


def test_no_workload_misses_a_replica_when_five_of_twenty_nodes_go(
    site: Site, warnings: Path
) -> None:
    control_plane = site.control_plane
    with started(control_plane, "replay", warnings, *APPLY, "-o", "json") as process:
        for name, replicas in (REPLICAS | {"db": 2}).items():
            settled = functools.partial(site.is_settled, name, replicas, *STANDING)
            site.wait_for(f"{name} is off the doomed nodes", settled, seconds=90)
        for short in DOOMED:
            control_plane.delete_node(site.node_name(short))
        out, err = process.communicate(timeout=90)

    assert (process.returncode, err) == (0, "")
    for name, replicas in REPLICAS.items():
        assert site.witness.lowest(name) == replicas
    told = by_name(json.loads(out)["items"][0]["workloads"])
    for name, replicas in REPLICAS.items():
        row = told[name]
        assert (row["lowest"], row["wanted"]) == (replicas, replicas)
        assert set(row["moves"]) == {"handed over"}
    assert set(told["db"]["moves"]) == {"one at a time"}
    reasons = {event["reason"] for event in control_plane.items("v1", "Event", site.namespace)}
    assert "ReplacementAvailable" in reasons


def test_nothing_is_written_when_only_the_plan_is_asked_for(site: Site, warnings: Path) -> None:
    control_plane = site.control_plane
    before, leases = _versions(site), _leases(control_plane)

    done = evenkeel(control_plane, "replay", warnings, "-o", "json")

    assert (done.returncode, done.stderr) == (0, "")
    (found,) = json.loads(done.stdout)["items"]
    ways = {name: move["way"] for name, move in by_name(found["moves"]).items()}
    assert ways == dict.fromkeys(REPLICAS, "handover") | {"db": "by-ordinal"}
    assert {d["verb"] for d in found["decisions"]} >= {"mark", "release"}
    assert _versions(site) == before
    assert _leases(control_plane) == leases


def _leases(control_plane: ControlPlane) -> list[dict[str, Any]]:
    return list(control_plane.items("coordination.k8s.io/v1", "Lease", names.SYSTEM_NAMESPACE))


def test_the_plan_is_told_to_people_with_the_way_to_carry_it_out(
    site: Site, warnings: Path
) -> None:
    done = evenkeel(site.control_plane, "replay", warnings)

    assert done.returncode == 0
    rows = [line.split()[:2] for line in done.stdout.splitlines()]
    assert [site.namespace, "deploy/guarded"] in rows
    assert "\nNothing was written to " in done.stdout
    assert "\\n" not in done.stdout
    assert done.stdout.endswith("add --apply to do it.\n")
    assert "\x1b" not in done.stdout


def test_an_event_about_another_instance_is_bound_to_a_node(site: Site, tmp_path: Path) -> None:
    """The node's own provider id is of no cloud, as on a cluster of containers."""
    control_plane = site.control_plane
    site.add_nodes("a", provider_id="kind://docker/kind/a")
    site.run(deployment("web", 2))
    site.add_nodes("b", spot=False)
    instance_id = "i-0123456789abcdef0"
    warning = site.warning("b", ago=AGO)
    event = tmp_path / "warning.json"
    event.write_text(json.dumps({**warning, "detail": about(warning, instance_id)}))

    strange = evenkeel(control_plane, "replay", event)
    bound = ("--instance", f"{instance_id}={site.node_name('a')}")
    with started(control_plane, "replay", event, *APPLY, *bound) as process:
        site.wait_for("the pods to move", lambda: site.is_settled("web", 2, "b"), seconds=60)
        control_plane.delete_node(site.node_name("a"))
        out, _ = process.communicate(timeout=90)

    assert f"bind it with --instance {instance_id}=NODE" in strange.stderr
    assert process.returncode == 0
    assert site.witness.lowest("web") == 2
    assert "2 handed over" in out


def test_the_next_run_goes_on_when_the_first_was_interrupted(site: Site, tmp_path: Path) -> None:
    control_plane = site.control_plane
    site.add_nodes("a")
    site.run(deployment("web", 4, start="8s"))
    site.add_nodes("b", spot=False)
    file = tmp_path / "warning.json"
    file.write_text(json.dumps(site.warning("a", ago=70)))

    with started(control_plane, "replay", file, *APPLY) as process:
        site.wait_for_releases("web")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.startswith("note: interrupted: marks and releases stay")
    assert "Traceback" not in err

    with started(control_plane, "replay", file, *APPLY) as process:
        site.wait_for("the pods to move", lambda: site.is_settled("web", 4, "b"), seconds=90)
        control_plane.delete_node(site.node_name("a"))
        process.communicate(timeout=90)
    assert process.returncode == 0
    assert site.witness.lowest("web") == 4


def test_a_snapshot_that_kubectl_takes_shows_what_would_happen(
    site: Site, warnings: Path, tmp_path: Path
) -> None:
    kinds = "nodes,pods,rs,deploy,sts,jobs,pdb,svc,ns,pvc,netpol,quota"
    file = tmp_path / "cluster.json"
    file.write_text(site.control_plane.kubectl("get", kinds, "-A", "-o", "json"))

    done = subprocess.run(
        [
            *(ROOT / ".venv" / "bin" / "evenkeel", "replay", warnings),
            *("--snapshot", file, "-o", "json", "-n", site.namespace),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    told = by_name(json.loads(done.stdout)["items"][0]["workloads"])
    assert set(told) == {*REPLICAS, "db"}
    for name, replicas in REPLICAS.items():
        assert told[name]["lowest"] == replicas


def by_name(items: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {each["subject"]["name"]: each for each in items}


def _versions(site: Site) -> dict[str, Any]:
    """What a write would change: specs and metadata; the nodes' heartbeats change their status."""
    nodes = site.control_plane.items("v1", "Node")
    pods = site.control_plane.items("v1", "Pod", site.namespace)
    return {
        item["metadata"]["uid"]: (
            item["spec"],
            item["metadata"].get("labels"),
            item["metadata"].get("annotations"),
            item["metadata"].get("ownerReferences"),
        )
        for item in [*nodes, *pods]
    }
