"""``evenkeel replay`` as a person runs it, against the real control plane."""

import functools
import json
from pathlib import Path
from typing import Any

import pytest

from evenkeel.model import names
from tests.e2e.cli.commands import evenkeel, started
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment, stateful_set
from tests.kit.control_plane import ControlPlane

pytestmark = pytest.mark.controlplane

DOOMED = ("n00", "n01", "n02", "n03", "n04")
REPLICAS = {"web": 20, "api": 6, "single": 1, "guarded": 1}
STANDING = tuple(f"n{number:02d}" for number in range(5, 20))


AGO = 45
"""How old warnings are, in seconds: so much sooner there is something new to decide."""

APPLY = ("--apply", "--keep-time")


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
