"""``evenkeel simulate``: which workloads suffer in which storms, and who acts."""

import copy
import json
import pickle
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.meta import Reference
from evenkeel_cli.cost.prices import read as read_prices
from evenkeel_cli.errors import UnmetError
from evenkeel_cli.main import main
from evenkeel_cli.simulate import running
from evenkeel_cli.simulate.results import Dip, Trial
from evenkeel_cli.simulate.trial import Policy, Setting
from evenkeel_cli.simulate.trying import Storms, tried
from evenkeel_sandbox import synthetic
from evenkeel_sandbox.storms.shapes import Share
from tests.kit.manifests import resource

SMALL = ("--synthetic", "12x60", "--node-start", "90s")
TWO = ("--seeds", "2")
HARD = (*SMALL, "--seeds", "4", "--storm", "all")
"""Storms in which three workloads come to zero."""
SETTING = Setting(
    shape=Share(1.0, timedelta()),
    policy=Policy.EVENKEEL,
    pod_start=(1.0, 1.0),
    node_start=timedelta(seconds=60),
    labels=WELL_KNOWN,
)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["simulate", *arguments])


def found(*arguments: str) -> dict[str, Any]:
    done = run(*arguments, "-o", "json")
    assert done.exit_code == 0, done.output
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def snapshot(path: Path, objects: Sequence[dict[str, Any]]) -> str:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    return str(path)


def test_storms_with_the_same_seeds_are_the_same_however_many_run_at_a_time() -> None:
    one = found(*SMALL, *TWO, "--storm", "all", "-j", "1")
    assert found(*SMALL, *TWO, "--storm", "all", "-j", "2") == one
    assert one["policies"][0]["workloadsBelow"] == len(one["items"]) > 0


def test_who_breaks_first_is_worse_where_there_is_room() -> None:
    policies = ("--policy", "evenkeel", "--policy", "evict", "--policy", "delete")
    told = {each["what"]: each for each in found(*SMALL, *TWO, *policies)["policies"]}
    assert told["evenkeel"]["workloadsBelow"] == 0
    assert told["evict"]["workloadsBelow"] > 0
    assert told["delete"]["lowest"] < told["evenkeel"]["lowest"] == 1


def test_what_all_on_demand_nodes_would_keep_is_a_column() -> None:
    policies = ("--policy", "delete", "--policy", "all-on-demand")
    deleted, kept = found(*SMALL, *TWO, "--storm", "all", *policies)["policies"]
    assert (deleted["nodes"], deleted["lowest"]) == (9, 0)
    assert (kept["what"], kept["storms"], kept["nodes"]) == ("all-on-demand", 2, 0)
    assert (kept["lowest"], kept["workloadsBelow"], kept["podsLost"]) == (1, 0, 0)


def changed(kind: str, *, size: tuple[int, int] = (6, 12), **fields: Any) -> list[dict[str, Any]]:
    """A small cluster whose objects of a kind have other fields in their specs."""
    return [
        {**each, "spec": {**each["spec"], **fields}} if each["kind"] == kind else each
        for each in synthetic.objects(*size)
    ]


def recreated(tmp_path: Path, size: tuple[int, int] = (6, 12)) -> str:
    """A cluster whose Deployments have Kubernetes tell all pods to go at once."""
    objects = changed("Deployment", size=size, strategy={"type": "Recreate"})
    return snapshot(tmp_path / "mine.json", objects)


def test_a_snapshot_tells_which_workload_and_why(tmp_path: Path) -> None:
    mine = recreated(tmp_path)
    result = found("--snapshot", mine, "--storm", "all", "--seeds", "1")
    assert result["policies"][0]["workloadsAtZero"] > 0
    worst = result["items"][0]
    assert worst["lowest"] == 0
    assert worst["because"] == "the Deployment's strategy is Recreate"
    assert worst["longestAtZero"] >= 20
    assert worst["pool"].startswith("m6i.4xlarge in eu-central-1")


def test_a_share_that_was_not_kept_is_a_finding() -> None:
    wanted = (*SMALL, "--seeds", "1", "--policy", "delete")
    assert run(*wanted, "--at-least", "100%").exit_code == 1
    assert run(*wanted, "--at-least", "0%").exit_code == 0


def test_people_get_both_tables_and_a_sentence() -> None:
    done = run("--synthetic", "6x12", "--seeds", "1", "--policy", "delete")
    assert "NAMESPACE  WORKLOAD" in done.stdout
    assert "In 1 storm " in done.stdout
    assert "POLICY" in done.stdout


_COME: dict[bytes, Any] = {}
"""What storms came to, by their cases and seeds: how many came at a time changes nothing."""


@pytest.fixture
def _storms_come_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same storm comes once for all tests that ask for this."""
    storms = running.storms

    def once(cases: Any, seeds: Sequence[int], jobs: int) -> Any:
        key = pickle.dumps((cases, list(seeds)))
        if key not in _COME:
            _COME[key] = storms(cases, seeds, jobs)
        return copy.deepcopy(_COME[key])

    monkeypatch.setattr(running, "storms", once)


@pytest.mark.usefixtures("_storms_come_once")
def test_what_would_help_is_tried_in_the_same_storms() -> None:
    result = found(*HARD, "--remedies")
    without, _ = result["policies"]
    floors, pool, reserved = result["remedies"]
    assert without["workloadsAtZero"] > 0
    assert floors["what"] == "evenkeel.dev/on-demand"
    assert floors["how"].startswith("on ")
    assert floors["enough"]
    assert set(floors["values"].values()) == {"1"}
    assert (floors["workloadsAtZero"], floors["storms"]) == (0, without["storms"])
    assert "headroom --for pool" in pool["what"]
    assert pool["adds"] > 0
    assert "headroom --reserved" in reserved["what"]
    assert reserved["workloadsAtZero"] < without["workloadsAtZero"]


@pytest.mark.usefixtures("_storms_come_once")
def test_each_remedy_has_its_price_a_month(tmp_path: Path) -> None:
    prices = {"m6i.4xlarge": 1.0, "m5.4xlarge": 1.0}
    own = tmp_path / "prices.json"
    own.write_text(json.dumps({"region": "x", "onDemand": prices, "spot": {"*/*": 0.5}}))
    storms = (*HARD, "--remedies")
    floors, pool, reserved = found(*storms, "--prices", str(own))["remedies"]
    a_pod = 730 * 250 / 1562
    assert len(floors["values"]) == 3
    assert floors["cost"] == pytest.approx(3 * a_pod / 2)
    assert "15 placeholders" in pool["how"]
    assert pool["cost"] == pytest.approx(15 * a_pod)
    assert (reserved["adds"], reserved["cost"]) == (1, 730)
    prices = {"c6i.8xlarge": 1.0}
    own.write_text(json.dumps({"region": "x", "onDemand": prices}))
    done = run(*storms, "--prices", str(own))
    rows = [line for line in done.stdout.splitlines() if " headroom --" in line]
    assert len(rows) == 2
    assert all("?" in row for row in rows)
    assert "no known price (m5.4xlarge, m6i.4xlarge)" in done.stdout


def test_a_strategy_that_breaks_first_can_be_another(tmp_path: Path) -> None:
    mine = recreated(tmp_path)
    result = found("--snapshot", mine, "--seeds", "2", "--remedies")
    assert result["policies"][0]["workloadsAtZero"] > 0
    (rolling,) = [each for each in result["remedies"] if "RollingUpdate" in each["what"]]
    assert (rolling["workloadsAtZero"], rolling["adds"], rolling["cost"]) == (0, 0, 0)


@pytest.mark.usefixtures("_storms_come_once")
def test_people_see_what_helped_beside_how_it_was() -> None:
    shown = run(*HARD, "--remedies").stdout.splitlines()
    (head,) = [number for number, line in enumerate(shown) if line.startswith("ENOUGH  KEPT")]
    assert shown[head + 1].startswith("no      0/3")
    assert shown[head + 1].endswith("none, as it is")
    assert shown[head + 2].startswith("yes     3/3")
    assert shown[head + 2].endswith("evenkeel.dev/on-demand")
    assert "evenkeel.dev/on-demand: on 3 workloads: team-1/deploy/app-1: 1, " in "\n".join(shown)


def test_what_is_enough_is_so_in_as_many_new_storms() -> None:
    objects = synthetic.objects(12, 60)
    app = Reference(kind="Deployment", namespace="team-0", name="app-0")
    dip = Dip(
        workload=app,
        before=1,
        lowest=0,
        below=9,
        at_zero=9,
        recovered=True,
        because="",
        pool="",
    )

    def storms(hit: range) -> Storms:
        return lambda cases, seeds: [
            [Trial(nodes=1, made=0, lost=0, dips=[dip] if seed in hit else []) for seed in seeds]
            for _ in cases
        ]

    def floors(hit: range) -> tuple[bool, int, int]:
        first, *_ = tried(objects, {app: 1}, SETTING, 0.0, read_prices(None), range(2), storms(hit))
        return first.enough, first.kept, first.storms

    assert floors(range(4, 5)) == (True, 1, 2)
    assert floors(range(3, 4)) == (False, 1, 2)
    assert floors(range(1, 2)) == (False, 0, 2)


def test_nodes_that_are_no_ec2_instances_go_as_well(tmp_path: Path) -> None:
    mine = snapshot(tmp_path / "mine.json", changed("Node", providerID="kwok://node"))
    result = found("--snapshot", mine, "--storm", "all", "--seeds", "1", "--policy", "delete")
    assert result["policies"][0]["nodes"] == 6
    assert result["policies"][0]["workloadsBelow"] > 0


def test_a_floor_is_tried_in_a_namespace_that_takes_part(tmp_path: Path) -> None:
    objects = [each for each in synthetic.objects(12, 60) if each["kind"] != "Namespace"]
    mine = snapshot(tmp_path / "mine.json", objects)
    slow = ("--storm", "all", "--seeds", "1", "--node-start", "90s")
    floors, *others = found("--snapshot", mine, *slow, "--remedies")["remedies"]
    assert "; and evenkeel.dev/managed=true on " in floors["how"]
    assert floors["workloadsAtZero"] == 0
    assert not any("--reserved" in each["what"] for each in others)


def mounting(size: tuple[int, int], *values: str) -> list[dict[str, Any]]:
    """A cluster whose pods mount volumes that nodes of these capacity types alone can mount."""
    clause = {"key": "karpenter.sh/capacity-type", "operator": "In", "values": values}
    only = {"required": {"nodeSelectorTerms": [{"matchExpressions": [clause]}]}}
    objects = copy.deepcopy(list(synthetic.objects(*size)))
    for each in objects:
        if "template" in each.get("spec", {}) or each["kind"] == "Pod":
            spec = each["spec"].get("template", each)["spec"]
            spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    for team in [each["metadata"]["name"] for each in objects if each["kind"] == "Namespace"]:
        shared = {"accessModes": ["ReadWriteMany"], "volumeName": team}
        objects += [
            resource("PersistentVolume", team, spec={"nodeAffinity": only}),
            resource("PersistentVolumeClaim", "data", team, spec=shared),
        ]
    return objects


def test_pods_and_floors_are_only_where_their_volumes_can_be(tmp_path: Path) -> None:
    storm = ("--storm", "all", "--seeds", "1", "--remedies")
    anywhere, on_spot = (
        found("--snapshot", snapshot(tmp_path / "mine.json", mounting((10, 20), *values)), *storm)
        for values in (("spot", "on-demand"), ("spot",))
    )
    for which in ("policies", "remedies"):
        assert on_spot[which][0]["workloadsAtZero"] > anywhere[which][0]["workloadsAtZero"]


def test_remedies_are_compared_with_evenkeel_without_them() -> None:
    result = found(*SMALL, "--seeds", "1", "--policy", "evict", "--remedies")
    assert [each["what"] for each in result["policies"]] == ["evict", "evenkeel"]
    assert result["remedies"] == []


def test_what_lasts_until_the_end_is_told_as_longer(tmp_path: Path) -> None:
    mine = recreated(tmp_path)
    storm = ("--snapshot", mine, "--storm", "all", "--seeds", "1", "--node-start", "1h")
    assert ">" in run(*storm).stdout
    assert not all(each["recovered"] for each in found(*storm)["items"])


def test_a_storm_that_cannot_be_simulated_is_told_as_such() -> None:
    """Raised in its own process, where an error may be one that cannot be sent."""
    objects = changed("Node", taints=[{}])
    with pytest.raises(UnmetError, match=r"a storm could not be simulated \(\w+Error: "):
        running.storms([(objects, SETTING)], [0], 1)


def test_where_all_is_well_nothing_is_tried() -> None:
    assert found(*SMALL, "--seeds", "1", "--remedies")["remedies"] == []


def test_floors_are_as_high_as_the_bound_wants() -> None:
    result = run(*SMALL, *TWO, "--storm", "all", "--remedies", "--at-least", "100%", "-o", "json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["remedies"][0]["workloadsBelow"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--storm", "some"), "--storm some: is none of all, pool, share=30%"),
        (("--storm", "share=0%"), "is none of"),
        (("--storm", "share=1.5%"), "is none of"),
        (("--storm", "node=0"), "is none of"),
        (("--storm", "trace=none.csv"), "none.csv: cannot be read"),
        (("--storm", "trace=one-poll"), "samples are in-parts, one-pool, recommended"),
        (("--synthetic", "6"), "is no size such as 200x6000"),
        (("--synthetic", "6x1200"), "a node takes 80 pods at most"),
        (("--synthetic", "9999x200000"), "150,000 are enough"),
        (("--synthetic", "6x12", "--snapshot", "mine.json"), "keep one of them"),
        (("--at-least", "some"), "is no share such as 60%"),
        (("--policy", "hope"), "is not one of 'evenkeel'"),
    ],
)
def test_what_makes_no_sense_is_bad_input(arguments: Sequence[str], said: str) -> None:
    done = run(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_sample_of_a_trace_needs_no_file() -> None:
    told = found(*SMALL, *TWO, "--storm", "trace=one-pool", "--policy", "evict")
    assert told["policies"][0]["nodes"] == 2


def test_a_storm_that_takes_no_node_is_bad_input(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    trace.write_text("time,pool,kind,share\n0,x9.large,warning,100%\n")
    done = run(*SMALL, "--storm", f"trace={trace}")
    assert done.exit_code == 2
    assert "the storm takes no node: the pools that there are are m5.4xlarge/" in done.stderr


def test_a_cluster_without_spot_is_bad_input(tmp_path: Path) -> None:
    objects = synthetic.objects(6, 12)
    for each in objects:
        if each["kind"] == "Node":
            each["metadata"]["labels"].pop("karpenter.sh/capacity-type")
    done = run("--snapshot", snapshot(tmp_path / "mine.json", objects))
    assert done.exit_code == 2
    assert "EVENKEEL_CAPACITY_LABELS" in done.stderr
