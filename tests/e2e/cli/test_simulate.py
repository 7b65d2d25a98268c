"""``evenkeel simulate`` says beforehand what a storm on the real control plane then does."""

import json
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from click.testing import CliRunner

from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.node import Node
from evenkeel_cli.main import main
from evenkeel_cli.snapshot import COMMAND
from evenkeel_sandbox.storms.shapes import Share, Strike, pools_among
from tests.e2e.harness import Site
from tests.e2e.manifests import RECREATE, budget, deployment, stateful_set

pytestmark = pytest.mark.controlplane

SPREAD: Final = 10
LIFE: Final = timedelta(minutes=2)
SPOT: Final = tuple(f"spot-{number:02d}" for number in range(14))
OTHERS: Final = tuple(f"own-{number}" for number in range(6))

NEVER: Final = {"annotations": {"evenkeel.dev/handover": "never"}}

REPLICAS: Final = {
    "login": 1,
    "mailer": 1,
    "web": 12,
    "guarded": 2,
    "chat": 6,
    "large": 2,
    "db": 1,
    "queue": 3,
}


@pytest.fixture
def cluster(site: Site) -> Site:
    """Twenty nodes: all pods are on fourteen spot ones, and ``large`` has room on no other."""
    half = len(SPOT) // 2
    for zone, shorts in (("eu-central-1a", SPOT[:half]), ("eu-central-1b", SPOT[half:])):
        site.add_nodes(*shorts, zone=zone, cpu="4")
    site.apply(budget("guarded", minAvailable=1))
    site.run(
        *(deployment(name, REPLICAS[name]) for name in ("login", "web", "guarded")),
        deployment("mailer", 1, strategy=RECREATE),
        deployment("chat", REPLICAS["chat"], **NEVER),
        deployment("large", REPLICAS["large"], cpu="2500m"),
        *(stateful_set(name, REPLICAS[name]) for name in ("db", "queue")),
    )
    site.add_nodes(*OTHERS, spot=False, cpu="2")
    return site


def taken(site: Site, path: Path) -> list[dict[str, Any]]:
    """A snapshot of this part of the cluster, as a person takes it; answers its objects."""
    _, *arguments = COMMAND.split()
    every = json.loads(site.control_plane.kubectl(*arguments))
    kept = [each for each in every["items"] if _is_of(site, each)]
    path.write_text(json.dumps({**every, "items": kept}))
    return kept


def _is_of(site: Site, each: Mapping[str, Any]) -> bool:
    name, namespace = each["metadata"]["name"], each["metadata"].get("namespace")
    if each["kind"] == "Node":
        return str(name).startswith(f"{site.namespace}-")
    return site.namespace in {name, namespace}


def needing_a_floor(lowest: Mapping[str, int]) -> Mapping[str, int]:
    """The floors that keep half of each workload, where less of it was left."""
    wanted = {name: ceil(REPLICAS[name] / 2) for name in lowest}
    return {name: wanted[name] for name in lowest if lowest[name] < wanted[name]}


def storm(site: Site, strikes: list[Strike]) -> Mapping[str, int]:
    """Let it come over the real cluster; the fewest Ready pods that each workload had.

    When all that has a place is there, Evenkeel's clock goes on to the end of the nodes.
    """
    functions = site.deploy()
    begins = site.clock.now()
    for strike in strikes:
        left = begins + strike.after - site.clock.now()
        site.let_pass(max(0.0, left.total_seconds()))
        functions.notify(site.warning(strike.node.removeprefix(f"{site.namespace}-")))
    for name in sorted(REPLICAS.keys() - {"large"}):
        settled = partial(site.is_settled, name, REPLICAS[name], *OTHERS)
        site.wait_for(f"{name} to be whole", settled)
    site.clock.skip(LIFE)
    site.wait_for("the rest to be told to go", lambda: not any(map(site.pods_on, SPOT)))
    return {name: site.witness.lowest(name) for name in REPLICAS}


def test_a_storm_over_twenty_nodes_goes_as_it_was_simulated(cluster: Site, tmp_path: Path) -> None:
    snapshot = tmp_path / "mine.json"
    objects = taken(cluster, snapshot)
    nodes = [msgspec.convert(each, Node) for each in objects if each["kind"] == "Node"]
    assert len(nodes) == 20
    strikes = Share(1.0, timedelta(seconds=SPREAD)).strikes(pools_among(nodes, WELL_KNOWN), 0)
    storms = ("--storm", "all", "--spread", f"{SPREAD}s", "--seeds", "1", "--node-start", "1h")
    told = CliRunner().invoke(
        main, ["simulate", "--snapshot", str(snapshot), *storms, "-o", "json"]
    )
    assert told.exit_code == 0, told.stderr
    items = json.loads(told.stdout)["items"]
    simulated = REPLICAS | {each["subject"]["name"]: each["lowest"] for each in items}

    real = storm(cluster, list(strikes))

    said = f"simulated {simulated}, real {real}"
    assert {n for n in real if not real[n]} == {n for n in real if not simulated[n]}, said
    assert {n for n in real if not real[n]} >= {"mailer", "db", "large"}, said
    assert needing_a_floor(real) == needing_a_floor(simulated), said
    assert all(abs(real[n] - simulated[n]) <= 1 for n in real), said
