"""README's table of what was measured: the worst of several runs, and their conditions."""

from typing import Any

import msgspec

from bench import readme as command
from bench.conditions import Conditions
from bench.cost import prices
from bench.cost.bill import Bill
from bench.cost.month import ARCHITECTURE, NEW_PODS, Line, Month, Times
from bench.cost.storms import Cost, ScenarioCost, Usage
from bench.drainers.figures import Outcome as Drained
from bench.drainers.results import Drains, Pair
from bench.drainers.results import Run as Drain
from bench.floors.figures import Stand
from bench.floors.results import Floors
from bench.floors.results import Run as Storm
from bench.placement.results import Burst, Extent, Placement, Round, Webhook, spread
from bench.report import readme
from bench.report.readme import Measured
from bench.storm.figures import Outcome, judge
from bench.storm.results import Bare, Baseline, Result
from bench.storm.results import Round as StormRound
from tests.unit.bench.made import CONDITIONS

CALM = judge([], {"web": 1}, {"n": 0.0}, 120.0, 30.0)
WEBHOOK = Webhook(reviews=100, mean=0.007, cpu_seconds=0.5, peak_mb=60.0)


def drain(lowest: int, empty: float | None, left: int = 0) -> Drain:
    outcome = Drained(lowest={"one": lowest, "three": 3}, empty=empty, gone=None, left=left)
    return Drain(outcome=outcome, refusals=1)


def drains(*gated: Drain) -> Drains:
    pair = Pair(
        conditions=CONDITIONS, title="", budgets=True, without=drain(0, None, left=5), gated=gated
    )
    return Drains(
        replicas={"one": 1, "three": 3},
        start="2s",
        longest=120.0,
        pairs=dict.fromkeys(readme.DRAINS, pair),
    )


def outcome(**changes: Any) -> Outcome:
    calm = {"below_wanted": 0, "at_zero": 0, "lowest_share": 1.0, "made": 1_500}
    return msgspec.structs.replace(CALM, **(calm | changes))


def storm(*outcomes: Outcome, ready: tuple[int, ...] = (3_000,)) -> Result:
    lost = Baseline(fill=30.0, outcome=outcome(at_zero=100), ready=[3_000, 0])
    rounds = [
        StormRound(
            fill=30.0,
            bare=Bare(gets=0.1, patches=0.1, describe=0.1, round_trip=0.1),
            outcome=each,
            ready=ready,
            cpu_seconds=20.0,
            cpu_share=0.5,
            requests={},
        )
        for each in outcomes
    ]
    return Result(
        conditions=CONDITIONS,
        scenario="A",
        title="",
        condition="",
        nodes=100,
        workloads=100,
        pods=3_000,
        worker="",
        rounds=rounds,
        deletion=lost,
        drain=lost,
    )


def floors(*below: int) -> Floors:
    stands = [
        Stand(
            kind="large",
            workloads=50,
            replicas=57,
            floor=12,
            lowest=12,
            lowest_on_demand=12,
            below_wanted=50,
            below_floor=each,
            below_on_demand=0,
            at_first=(12, 12),
            ready=(12, 12),
            on_demand=(12, 12),
        )
        for each in below
    ]
    runs = [
        Storm(
            conditions=CONDITIONS,
            fill=30.0,
            stands=[each],
            outcome=CALM,
            overdue=0,
            cpu_seconds=1.0,
            peak_mb=1.0,
            webhook=WEBHOOK,
        )
        for each in stands
    ]
    return Floors(worker="", pods=3_000, spot=100, on_demand=50, percent=20, runs=runs)


def placement(conditions: Conditions = CONDITIONS) -> Placement:
    burst = Burst(
        pods=1, seconds=1.0, latency=spread([0.01]), floor=1, told=1, landed=1, unplaced=0
    )
    one = Round(
        bare=spread([0.004]),
        asked=spread([0.012]),
        bare_burst=burst,
        asked_burst=burst,
        load=1.0,
    )
    return Placement(
        conditions=conditions, extent=Extent(), clients=8, rounds=[one] * 3, webhook=WEBHOOK
    )


def bill() -> Bill:
    used = Usage(interruptions=100, invocations=10, billed_ms=1.0, sqs_requests=1.0, log_bytes=1.0)
    cost = Cost(compute={ARCHITECTURE: 0.05}, requests=0.01, queues=0.01, events=0.0, logs=0.02)
    month = Month(
        times=Times(schedule=1.0, notice=1.0, restore={}, placement=1.0, gate=1.0),
        idle=[Line(what="all", dollars=1.5)],
        options=[Line(what=NEW_PODS, dollars=3.25)],
        beside=[],
    )
    scenario = ScenarioCost(
        scenario="A",
        title="",
        seconds=100.0,
        usage=used,
        longest_ms=1,
        peak_mb=1.0,
        per_thousand=cost,
    )
    return Bill(
        measured=[CONDITIONS],
        prices=prices.read(),
        memory_mb=1,
        line_bytes=1,
        scenarios=[scenario],
        month=month,
    )


def table(**changes: Any) -> str:
    """The table of three runs as wanted, but for these."""
    values = {
        "drains": drains(*[drain(1, 7.0)] * 3),
        "storm": storm(*[outcome()] * 3),
        "slow": storm(*[outcome(lowest_share=0.25)] * 3),
        "floors": floors(0, 0, 0),
        "placement": placement(),
        "bill": bill(),
    }
    return readme.table(Measured(**(values | changes)))


def test_what_evenkeel_did_stands_beside_what_was_without_it() -> None:
    found = table()
    assert (
        "| 1 of 2 below wanted, 5 pods block it | none of 2 below wanted, the node empty" in found
    )
    assert (
        "| bare deletion: 100 of 100 at zero; `kubectl drain`: 100 of 100 at zero"
        " | none of 100 below wanted |"
    ) in found
    assert "replaces 50 % of the pods in time | | none of 100 at zero, at least 25 %" in found
    assert "| | none of 50 below their floor |" in found
    assert "| 4 ms | 12 ms |" in found
    assert "| | $1.50 in a month in which nothing happens, $0.09 for 1,000 inter" in found
    assert f"$3.25 for {NEW_PODS} |" in found
    assert "- 3 runs with Evenkeel, and one without" in found
    assert str(CONDITIONS) in found


def test_a_storm_is_as_good_as_its_worst_run() -> None:
    worst = outcome(below_wanted=3, at_zero=1, lowest_share=0.4)
    found = table(storm=storm(outcome(), worst, outcome()))
    assert "| 3 of 100 below wanted, 1 of 100 at zero, at least 40 % of each Ready |" in found


def test_a_drain_that_did_not_end_once_names_no_time() -> None:
    found = table(drains=drains(drain(1, 7.0), drain(1, None, left=2), drain(1, 7.0)))
    assert "| none of 2 below wanted, the node never empty |" in found


def test_a_floor_that_did_not_hold_once_is_told() -> None:
    assert "| 2 of 50 below their floor |" in table(floors=floors(0, 2, 0))


def test_a_row_of_another_commit_is_named_below_the_table() -> None:
    later = msgspec.structs.replace(CONDITIONS, commit="5d6e7f8")
    assert "Commits 1a2b3c4 and 5d6e7f8, Kubernetes" in table(placement=placement(later))


def test_the_picture_shows_the_worst_run_beside_the_other_ways() -> None:
    runs = [*storm(outcome()).rounds, *storm(outcome(), ready=(3_000, 10)).rounds]
    found = readme.curves(msgspec.structs.replace(storm(outcome()), rounds=runs))
    assert [each.name for each in found] == ["Evenkeel", "kubectl drain", "bare deletion"]
    assert list(found[0].ready) == [3_000, 10]


def test_storms_that_nothing_was_compared_with_make_no_table() -> None:
    alone = msgspec.structs.replace(storm(outcome()), deletion=None)
    measured = Measured(
        drains=drains(drain(1, 7.0)),
        storm=alone,
        slow=alone,
        floors=floors(0),
        placement=placement(),
        bill=bill(),
    )
    assert not measured.is_complete


def test_the_command_measures_all_that_the_table_needs() -> None:
    measured = {bench[0]: bench[1:] for bench in command.BENCHES if bench[0] != "bench.storm"}
    storms = {bench[1] for bench in command.BENCHES if bench[0] == "bench.storm"}
    assert storms == {"A", "D"}
    assert set(readme.DRAINS) <= set(measured["bench.drainers"])
    assert {"bench.floors", "bench.placement", "bench.cost"} <= measured.keys()
