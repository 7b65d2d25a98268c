"""``evenkeel simulate`` with days of spot weather."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN, Capacity
from evenkeel.model.node import Node
from evenkeel_cli.cost.prices import read as read_prices
from evenkeel_cli.main import main
from evenkeel_cli.simulate import weathering
from evenkeel_cli.simulate.trial import Ground, Policy
from evenkeel_cli.simulate.weathering import DaySetting, Meter
from evenkeel_sandbox import synthetic
from evenkeel_sandbox.storms.weather import PoolTrace, Weather

NOW = datetime(2026, 1, 1, tzinfo=UTC)
GAP = 300
OBJECTS = synthetic.objects(10, 40)
LABELS = {names.MANAGED: names.TRUE}
LASTS = timedelta(hours=6)
STORM = [1] * 24 + [0] * 12 + [1] * 36
"""Two hours on nothing is left, and after one more all is there again."""


def traces(tmp_path: Path, *data: Sequence[int]) -> str:
    paths = []
    for number, each in enumerate(data):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps({"metadata": {"gap_seconds": GAP}, "data": list(each)}))
        paths.append(str(path))
    return "trace=" + ",".join(paths)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["simulate", "--synthetic", "10x40", "-j", "1", *arguments])


def test_a_day_of_weather_compares_what_policies_lose_and_cost(tmp_path: Path) -> None:
    storm = traces(tmp_path, STORM)
    policies = ("--policy", "evenkeel", "--policy", "evict", "--policy", "all-on-demand")
    done = run("--storm", storm, *policies, "-o", "json")
    assert done.exit_code == 0, done.output
    told = {each["what"]: each for each in json.loads(done.stdout)["policies"]}
    assert [each["storms"] for each in told.values()] == [1, 1, 1]
    seen = {name: each["weather"] for name, each in told.items()}
    assert seen["evict"]["minutesBelow"] > seen["evenkeel"]["minutesBelow"]
    assert seen["all-on-demand"]["minutesBelow"] == 0
    assert seen["evenkeel"]["falls"] == seen["evict"]["falls"] == 3
    assert seen["all-on-demand"]["spotHours"] == seen["all-on-demand"]["falls"] == 0
    assert told["evict"]["cost"] < told["all-on-demand"]["cost"]


def test_its_table_says_the_time_below_and_the_falls(tmp_path: Path) -> None:
    done = run("--storm", traces(tmp_path, STORM), "--policy", "all-on-demand")
    assert done.exit_code == 0, done.output
    assert "In 1 day 0 of " in done.output
    head, row = done.output.split("POLICY")[1].splitlines()[:2]
    assert head.split() == [
        *("DAYS", "WORKLOADS-BELOW", "AT-ZERO", "LOWEST", "TIME-BELOW", "FALLS", "OVER-BOUND"),
        *("PODS-LOST", "A-MONTH"),
    ]
    assert row.split()[5:7] == ["0.000%", "0"]


@pytest.mark.parametrize(
    ("data", "more", "why"),
    [
        ([STORM] * 4, [], "has 4 files, and the cluster has 3 pools of spot nodes"),
        ([STORM], ["--remedies"], "are tried in storms, and not in days of weather"),
        ([[0]], [], "has no samples in which a node could be had"),
    ],
)
def test_what_cannot_be_replayed_is_refused(
    tmp_path: Path, data: list[list[int]], more: list[str], why: str
) -> None:
    done = run("--storm", traces(tmp_path, *data), *more)
    assert (done.exit_code, why in done.output) == (2, True), done.output


def setting(policy: Policy, *pools: Sequence[float]) -> DaySetting:
    gap = timedelta(seconds=GAP)
    weather = Weather(tuple(PoolTrace(gap, tuple(each)) for each in pools), timedelta(seconds=180))
    prices = read_prices(None)
    return DaySetting(policy=policy, labels=WELL_KNOWN, weather=weather, prices=prices)


def test_a_fall_to_zero_tells_what_the_pool_had_beyond_bounds() -> None:
    bound = {"annotations": {names.ONE_POOL_AT_MOST: "1"}}
    objects = [
        {**each, "metadata": each["metadata"] | bound} if each["kind"] == "Deployment" else each
        for each in OBJECTS
    ]
    found = weathering.run(Ground.of(objects), setting(Policy.EVICT, STORM), 0)
    assert found.spell is not None
    assert len(found.spell.falls) == 3
    assert found.nodes == sum(fall.nodes for fall in found.spell.falls) > 0
    over = found.spell.falls[0].over
    assert found.spell.falls[0].bound == sum(each["kind"] == "Deployment" for each in OBJECTS)
    assert over
    assert all(held > bound == 1 for held, bound in over.values())


def test_calm_is_skipped() -> None:
    calm = weathering.Day(Ground.of(OBJECTS), setting(Policy.EVENKEEL, [1] * len(STORM)), 0)
    steps = sum(1 for _ in calm.steps())
    calm.close()
    assert steps < LASTS / weathering.STEP / 5


def test_nodes_that_stood_in_are_replaced_sooner_behind_the_gate() -> None:
    stood_in = []
    for gated in (names.TRUE, "false"):
        objects = [
            {**each, "metadata": {**each["metadata"], "labels": LABELS | {names.GATE: gated}}}
            if each["kind"] == "Namespace"
            else each
            for each in OBJECTS
        ]
        found = weathering.run(Ground.of(objects), setting(Policy.EVENKEEL, STORM), 0).spell
        assert found is not None
        stood_in.append(found.on_demand_hours)
    assert stood_in[0] < stood_in[1]


def node(name: str, type_: str) -> Node:
    labels = {names.INSTANCE_TYPE: type_, "karpenter.sh/capacity-type": "spot"}
    return msgspec.convert({"metadata": {"name": name, "labels": labels}}, Node)


def test_a_meter_counts_the_hours_of_nodes_and_what_they_cost() -> None:
    meter = Meter(WELL_KNOWN, read_prices(None))
    hour = timedelta(hours=1)
    meter.read(NOW, [node("a", "m5.large"), node("b", "m5.large")])
    meter.read(NOW + hour, [node("a", "m5.large")])
    whole = meter.cost
    meter.read(NOW + 2 * hour, [node("x", "no-such.type")])
    assert meter.hours == {Capacity.SPOT: 3, Capacity.ON_DEMAND: 0}
    assert whole is not None
    assert meter.cost == pytest.approx(whole * 3 / 4)
    meter.read(NOW + 3 * hour, [])
    assert meter.cost is None
