"""``evenkeel replay`` as a person runs it, against the real control plane."""

import functools
import json
from pathlib import Path

import pytest

from tests.e2e.cli.commands import started
from tests.e2e.harness import Site
from tests.e2e.manifests import budget, deployment, stateful_set

pytestmark = pytest.mark.controlplane

DOOMED = ("n00", "n01", "n02", "n03", "n04")
REPLICAS = {"web": 20, "api": 6, "single": 1, "guarded": 1}
STANDING = tuple(f"n{number:02d}" for number in range(5, 20))

AGO = 45
"""How old warnings are, in seconds: so much sooner there is something new to decide."""


def test_no_workload_misses_a_replica_when_five_of_twenty_nodes_go(
    site: Site, tmp_path: Path
) -> None:
    """Five of twenty nodes get a warning; all pods of four Deployments are on those five."""
    site.add_nodes(*DOOMED)
    site.apply(budget("guarded", minAvailable=1))
    site.run(*(deployment(name, replicas) for name, replicas in REPLICAS.items()))
    site.run(stateful_set("db", 2))
    site.add_nodes(*STANDING, spot=False)
    warnings = tmp_path / "warnings.json"
    warnings.write_text(json.dumps([site.warning(short, ago=AGO) for short in DOOMED]))
    plane = site.control_plane
    with started(plane, "replay", warnings, "--apply", "--keep-time", "-o", "json") as process:
        for name, replicas in (REPLICAS | {"db": 2}).items():
            settled = functools.partial(site.is_settled, name, replicas, *STANDING)
            site.wait_for(f"{name} is off the doomed nodes", settled)
        for short in DOOMED:
            plane.delete_node(site.node_name(short))
        out, err = process.communicate(timeout=180)

    assert (process.returncode, err) == (0, "")
    told = {each["subject"]["name"]: each for each in json.loads(out)["items"][0]["workloads"]}
    for name, replicas in REPLICAS.items():
        row = told[name]
        assert site.witness.lowest(name) == row["lowest"] == row["wanted"] == replicas
        assert set(row["moves"]) == {"handed over"}
    assert set(told["db"]["moves"]) == {"one at a time"}
    reasons = {event["reason"] for event in plane.items("v1", "Event", site.namespace)}
    assert "ReplacementAvailable" in reasons
