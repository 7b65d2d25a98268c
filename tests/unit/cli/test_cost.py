"""``evenkeel status --cost``: what workloads cost a month, and where the prices are from."""

import json
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from evenkeel_cli import snapshot
from evenkeel_cli.cost.prices import TYPE, read
from evenkeel_sandbox.built_in import cluster as built_in
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit.builders import NOW
from tests.unit.cli.running import run

HERE = "eu-central-1"
TYPES = ("m6i.xlarge", "c6i.2xlarge", "r6i.xlarge", "g5.xlarge")


status = partial(run, "status")


def found(*arguments: str) -> dict[str, Any]:
    done = status("--built-in", "--cost", *arguments, "-o", "json")
    assert done.exit_code == 0, done.output
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def prices(folder: Path, **content: Any) -> str:
    path = folder / "mine.json"
    path.write_text(json.dumps(content))
    return str(path)


def test_all_workloads_and_what_is_idle_cost_what_the_nodes_do() -> None:
    shown = found()
    for when in ("now", "onDemand"):
        workloads = sum(each["cost"][when] for each in shown["items"])
        assert workloads + shown["idle"][when] == pytest.approx(shown["nodes"][when], abs=0.01)
    names = [each["subject"]["name"] for each in shown["items"]]
    assert {"web", "postgres", "node-agent", "nightly-report", "debug-shell"} <= set(names)
    assert names[0] == "web"


def test_workloads_of_one_namespace_cost_what_they_do_among_all() -> None:
    everywhere = {each["subject"]["name"]: each["cost"] for each in found()["items"]}
    for each in found("-n", "data")["items"]:
        assert each["cost"] == everywhere[each["subject"]["name"]]


def test_the_built_in_prices_say_of_what_region_and_day_they_are_and_who_says_so() -> None:
    known = read(None)
    (source,) = known.sources
    assert source.region == "us-east-1"
    assert date.fromisoformat(source.date) >= date(2026, 7, 20)
    assert "karpenter-provider-aws" in source.source
    assert not known.spot
    assert all(TYPE.fullmatch(each) and price > 0 for each, price in known.on_demand.items())
    assert known.on_demand["m7g.large"] == 0.0816


def test_prices_and_shares_of_one_s_own_need_no_assumption(tmp_path: Path) -> None:
    own = prices(
        tmp_path,
        region=HERE,
        date="2026-11-01",
        source="our contract",
        onDemand=dict.fromkeys(TYPES, 1),
        spot={"*/*": 0.5, f"m6i.xlarge/{HERE}a": 0.25},
    )
    shown = found("--prices", own)
    assert shown["prices"] == [{"region": HERE, "date": "2026-11-01", "source": "our contract"}]
    assert (shown["assumed"], shown["elsewhere"], shown["unknownTypes"]) == (0, [], {})
    assert shown["nodes"]["onDemand"] == 60 * 730
    of_a = 5
    spot_nodes = 40
    assert shown["nodes"]["now"] == (20 + (spot_nodes - of_a) * 0.5 + of_a * 0.25) * 730
    said = status("--built-in", "--prices", own).stdout
    assert "third" not in said
    assert "differ" not in said


def test_a_file_of_the_same_region_or_of_none_adds_to_the_built_in_prices(tmp_path: Path) -> None:
    known = read(prices(tmp_path, onDemand={"m7g.large": 0.07, "x99.large": 1}, spot={"*/*": 1}))
    assert [each.source for each in known.sources] == ["mine.json", read(None).sources[0].source]
    assert (known.on_demand["m7g.large"], known.on_demand["x99.large"]) == (0.07, 1)
    assert known.on_demand["m6i.xlarge"] == read(None).on_demand["m6i.xlarge"]
    assert known.spot == {"*/*": 1}


def test_types_that_a_file_of_another_region_does_not_name_are_not_guessed(tmp_path: Path) -> None:
    own = prices(tmp_path, region=HERE, onDemand={"m6i.xlarge": 1})
    shown = found("--prices", own)
    assert shown["unknownTypes"] == {"c6i.2xlarge": 10, "r6i.xlarge": 14, "g5.xlarge": 2}
    assert shown["nodes"]["onDemand"] == 34 * 730
    said = status("--built-in", "--cost", "--prices", own).stdout
    assert "26 nodes have no known price (c6i.2xlarge, g5.xlarge, r6i.xlarge)" in said
    rows = {line.split()[1]: line.split() for line in said.splitlines() if "deploy/" in line}
    assert rows["deploy/embeddings"][4:] == ["?", "?", "?", "?"]
    assert all(cell.endswith("+?") for cell in rows["deploy/web"][4:])
    assert "Of what has a known price, spot saves $" in said


def test_where_no_price_is_known_nothing_is_said_of_what_spot_saves(tmp_path: Path) -> None:
    own = prices(tmp_path, region=HERE, onDemand={"x99.large": 1})
    table, _, said = status("--built-in", "--prices", own).stdout.partition("\n\n")
    assert all(line.split()[-4:] == ["?"] * 4 for line in table.splitlines()[1:])
    assert "saves" not in said
    assert said.startswith("If every spot node died now, 55 of 251 pods would be left Ready.")


def test_more_types_than_one_reads_are_not_all_named(tmp_path: Path) -> None:
    cluster = built_in.build(SimulatedClock(NOW))
    items = [dict(item) for kind in snapshot.KINDS for item in cluster.objects(kind)]
    nodes = [each for each in items if each["kind"] == "Node"]
    for number, each in enumerate(nodes[:7]):
        its = each["metadata"]["labels"] | {"node.kubernetes.io/instance-type": f"x{number}.big"}
        each["metadata"] = each["metadata"] | {"labels": its}
    del nodes[7]["metadata"]["labels"]["node.kubernetes.io/instance-type"]
    del nodes[7]["metadata"]["labels"]["karpenter.sh/capacity-type"]
    file = tmp_path / "s.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    said = status("--snapshot", str(file), "--cost").stdout
    assert "8 nodes have no known price (no type, x0.big, x1.big, x2.big, x3.big, ...)" in said
    assert "1 node has no label of a capacity type, which counts as on-demand" in said


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("", "is no JSON"),
        ("[]", "holds no prices (Expected `object`, got `array`)"),
        ('{"ondemand": {}}', "holds no prices (Object contains unknown field `ondemand`)"),
        ('{"onDemand": {"m7g.large": "0.1"}}', "holds no prices (Expected `float`, got `str`"),
        ('{"onDemand": {"m7g": 0.1}}', "onDemand names 'm7g', which is no instance type"),
        ('{"onDemand": {"m7g.large": 0}}', "onDemand of m7g.large is 0.0, and not some US dollars"),
        ('{"spot": {"m7g.large": 0.3}}', "spot names 'm7g.large', which is no TYPE/ZONE"),
        ('{"spot": {"*/*": 35}}', "spot of */* is 35.0, and not a share from 0 to 1"),
        ('{"region": "eu-west-1"}', "has no onDemand prices, and the built-in ones are of us-east"),
    ],
)
def test_a_file_that_holds_no_prices_is_refused(tmp_path: Path, content: str, wrong: str) -> None:
    file = tmp_path / "mine.json"
    file.write_text(content)
    done = status("--built-in", "--cost", "--prices", str(file))
    assert done.exit_code == 2
    assert wrong in done.stderr
    assert "mine.json" in done.stderr


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = status("--built-in", "--prices", str(tmp_path / "none.json"))
    assert done.exit_code == 2
    assert "none.json: cannot be read" in done.stderr


def test_a_namespace_without_pods_says_so() -> None:
    said = status("--built-in", "--cost", "-n", "kube-public").stdout
    assert said.startswith("There is no pod that has a node in namespace kube-public.\n")
    assert found("-n", "kube-public")["items"] == []
