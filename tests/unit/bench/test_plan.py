"""Restore's plan of a cluster that is made up, and what counts as too much."""

import msgspec
import pytest

from bench.conditions import look
from bench.placement.planned import PlanGrowth, Planned
from bench.placement.planning import measure
from bench.placement.synthetic import NODE_BYTES, POD_BYTES, SyntheticServer
from bench.report import plan as report
from evenkeel.adapters.kubernetes import RestCluster
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import List, Listing, Selection

TENTH = Planned(
    nodes=500,
    pods=15_000,
    workloads=570,
    megabytes=143.0,
    read=0.8,
    plan=0.2,
    cpu=1.0,
    served=0.4,
    steps=50,
    left=520,
    before_mb=30.0,
    peak_mb=70.0,
)


def growth(read: float = 10.0, peak: float = 300.0, cpu: float = 12.0) -> PlanGrowth:
    whole = msgspec.structs.replace(
        TENTH, nodes=5_000, pods=150_000, read=read, plan=2.0, cpu=cpu, peak_mb=peak
    )
    return PlanGrowth(conditions=look(), tenth=TENTH, whole=whole)


def test_ten_times_the_pods_with_ten_times_the_cpu_is_linear() -> None:
    assert growth(cpu=10.0).per_pod == pytest.approx(1.0)
    assert not growth().missed


@pytest.mark.parametrize(
    ("found", "missed"),
    [
        (growth(read=29.0), ["31.00 seconds"]),
        (growth(peak=513.0), ["513.00 MB"]),
        (growth(cpu=14.0), ["1.40 x the CPU per pod of a tenth"]),
    ],
)
def test_too_long_too_large_and_faster_than_linear_are_missed(
    found: PlanGrowth, missed: list[str]
) -> None:
    assert [each.partition(", wanted")[0] for each in found.missed] == missed


def test_the_table_has_both_and_what_they_amount_to() -> None:
    table = report.table(growth())
    assert "| 5,000 | 150,000 | 570 | 143 MB | 10.0 s | 2.0 s | 12.0 s | 300 MB |" in table
    assert "1.20 x as much CPU in the whole" in table


def test_lists_come_in_pages_and_are_whole() -> None:
    server = SyntheticServer(100)
    with RestCluster(server) as cluster:
        pods, nodes = cluster.perform([List(Selection(Pod)), List(Selection(Node))])
    assert isinstance(pods.result, Listing)
    assert isinstance(nodes.result, Listing)
    assert len({pod.key for pod in pods.result.items}) == server.pods == 3_000
    assert len(nodes.result.items) == 100
    size = server.pods * POD_BYTES + server.nodes * NODE_BYTES
    assert server.served_bytes == pytest.approx(size, rel=0.02)


def test_what_is_made_up_needs_moves_and_is_no_rollout() -> None:
    planned = measure(100)
    assert planned.pods == 3_000
    assert planned.workloads == 54 + 60
    assert planned.steps == 50
    assert planned.steps + planned.left == planned.workloads
