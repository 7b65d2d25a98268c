"""What workloads cost: shares of nodes' prices that add up, and what a floor changes."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.restore.snapshot import Candidate, Snapshot
from evenkeel.model import names
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.meta import Reference
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool
from evenkeel_cli.decisions.cost import Bill, Cost, Share, of_nodes, of_pod, reckon
from evenkeel_cli.decisions.prices import A_THIRD, HOURS, Prices, PriceSource, region_of
from tests.kit import builders
from tests.kit.builders import NOW
from tests.unit.decisions.restore.candidates import (
    ROOM,
    candidate,
    deployment,
    fleet,
    node,
    pods_of,
    stateful_set,
    with_rules,
)

HERE = PriceSource(region="eu-central-1", date="2026-07-20", source="nobody")
DOLLAR = 1 / HOURS
"""An hour's price of which a month costs a dollar."""

PRICES = Prices(sources=[HERE], on_demand={"big": 12 * DOLLAR, "small": 6 * DOLLAR})
HALF = {"cpu": "2", "memory": "1Gi"}
ON_DEMAND_ALONE = {"karpenter.sh/capacity-type": "on-demand"}


def of_type(
    name: str, type_: str = "big", *, room: Mapping[str, str] = ROOM, labels: Mapping[str, str] = {}
) -> Node:
    """A node of a type; on spot if its name begins with an s."""
    return node(name, room, labels={names.INSTANCE_TYPE: type_, **labels})


def billed(
    *candidates: Candidate,
    nodes: Sequence[Node] = (),
    pods: Sequence[Pod] = (),
    prices: Prices = PRICES,
) -> Bill:
    there = fleet(*nodes or [of_type("o1"), of_type("s1")])
    every = [*pods, *(pod for each in candidates for pod in each.pods)]
    return reckon(Snapshot(now=NOW, candidates=candidates, fleet=there, pods=every), prices)


def asking(name: str = "web-1", node: str = "o1", **requests: str) -> Pod:
    return builders.pod(name, node=node, requests=requests, uid=name)


def cost(bill: Bill, name: str) -> Cost:
    return share(bill, name).cost


def share(bill: Bill, name: str) -> Share:
    (found,) = (its for reference, its in bill.workloads.items() if reference.name == name)
    return found


def test_a_pod_pays_the_greater_of_its_shares_of_cpu_and_memory() -> None:
    bill = billed(pods=[asking("a", cpu="1", memory="8Gi"), asking("b", "s1", cpu="3")])
    assert cost(bill, "a") == pytest.approx((6, 6, 6))
    assert cost(bill, "b") == pytest.approx((3, 9, 3))
    assert bill.idle == pytest.approx((6 + 1, 6 + 3, 6 + 1))
    assert bill.nodes == pytest.approx((12 + 4, 12 + 12, 12 + 4))


def test_a_device_counts_as_cpu_and_memory_do_and_places_for_pods_and_networks_do_not() -> None:
    network = "vpc.amazonaws.com/pod-eni"
    there = of_type("o1", room=ROOM | {"nvidia.com/gpu": "4", network: "2"})
    pods = [asking("a", cpu="1", **{"nvidia.com/gpu": "3"}), asking("b", **{network: "1"})]
    bill = billed(nodes=[there], pods=pods)
    assert cost(bill, "a").now == pytest.approx(9)
    assert cost(bill, "b").now == 0


def test_shares_of_more_than_a_node_are_scaled_down_to_it() -> None:
    bill = billed(
        pods=[asking("a", cpu="4"), asking("b", memory="16Gi"), asking("c", memory="1Pi")]
    )
    assert [cost(bill, name).now for name in "abc"] == pytest.approx([4, 4, 4])
    assert bill.idle.now == pytest.approx(4)


def test_pods_without_a_node_of_known_type_cost_nothing_and_are_counted() -> None:
    nodes = [of_type("o1"), of_type("o2", "unheard-of"), node("s1")]
    web = deployment(4)
    there = candidate(web, "o1", "o2", "o2", "", nodes=fleet(*nodes))
    bill = billed(there, nodes=nodes, pods=[asking("a", "", cpu="1"), asking("b", "gone", cpu="1")])
    assert bill.gaps.unknown == {"unheard-of": 1, "": 1}
    assert (share(bill, "web").pods, share(bill, "web").unpriced) == (3, 2)
    assert [reference.name for reference in bill.workloads] == ["web"]
    assert bill.nodes == pytest.approx((12, 12, 12))


def test_other_pods_count_for_their_controllers_or_for_themselves() -> None:
    agent = builders.foreign_owner("DaemonSet", "apps/v1")
    static = builders.foreign_owner("Node", "v1")
    pods = [
        builders.pod("agent-1", of=agent, node="o1", uid="1"),
        builders.pod("agent-2", of=agent, node="s1", uid="2"),
        builders.pod("proxy", of=static, annotations={names.MIRROR_POD: "x"}, uid="3", node="s1"),
        asking("alone"),
    ]
    bill = billed(pods=pods)
    assert {(each.kind, its.pods, its.survivors) for each, its in bill.workloads.items()} == {
        ("DaemonSet", 2, 1),
        ("Pod", 1, 0),
        ("Pod", 1, 1),
    }


def floors(floor: str, *places: str, managed: bool = True, **rules: Any) -> Cost:
    """What a Deployment costs whose pods each request half a node."""
    web = with_rules(deployment(len(places), floor), **rules)
    nodes = [of_type(name) for name in ("o1", "o2", "s1", "s2")]
    pods = [
        builders.pod(f"web-{n}", of=each.controller, node=place, requests=HALF, uid=f"web-{n}")
        for n, (each, place) in enumerate(zip(pods_of(web, *places), places, strict=True))
    ]
    there = candidate(web, pods=pods, nodes=fleet(*nodes), is_managed=managed)
    return cost(billed(there, nodes=nodes), "web")


def test_a_floor_that_is_missed_costs_more_and_one_that_is_exceeded_less() -> None:
    assert floors("2", "o1", "o1", "s1") == pytest.approx((14, 18, 14))
    assert floors("2", "o1", "s1", "s1") == pytest.approx((10, 18, 14))
    assert floors("all", "s1", "s1", "s2") == pytest.approx((6, 18, 18))
    assert floors("", "o1", "o1", "s1") == pytest.approx((14, 18, 6))
    assert floors("1", "o1", "o2", "s1") == pytest.approx((14, 18, 10))


def test_a_default_floor_costs_what_one_that_is_asked_for_does() -> None:
    db = stateful_set(3)
    pods = [
        builders.pod(f"db-{n}", of=db, node="s1", requests={"cpu": "1"}, uid=f"db-{n}")
        for n in range(3)
    ]
    found = cost(billed(candidate(db, pods=pods)), "db")
    assert found.at_floor == pytest.approx(found.now * (2 * 3 + 1) / 3)


def test_pods_that_wait_for_a_node_cost_nothing_yet() -> None:
    assert floors("all", "s1", "", "") == pytest.approx((2, 6, 6))


def test_what_evenkeel_does_not_move_to_spot_stays_as_dear_as_it_is() -> None:
    assert floors("", "o1", "o1", "s1", managed=False) == pytest.approx((14, 18, 14))
    assert floors("2", "o1", "s1", "s1", managed=False) == pytest.approx((10, 18, 14))
    assert floors("", "o1", "o1", "o2", nodeSelector=ON_DEMAND_ALONE) == pytest.approx((18, 18, 18))
    db = stateful_set(1, "none", namespace="kube-system")
    pods = [builders.pod("db-0", of=db, node="o1", requests=HALF, namespace="kube-system")]
    assert cost(billed(candidate(db, pods=pods)), "db") == pytest.approx((6, 6, 6))


def test_what_would_survive_is_ready_on_on_demand_nodes() -> None:
    web = deployment(3)
    pods = [
        *pods_of(web, "o1", "s1"),
        builders.pod("web-2", of=builders.owner_reference(web), node="o1", ready=False),
    ]
    assert share(billed(candidate(web, pods=pods)), "web").survivors == 1


def test_a_pod_that_is_going_pays_for_its_place_and_survives_nothing() -> None:
    going = builders.pod("web-1", node="o1", requests=HALF, deletion_timestamp=NOW)
    its = share(billed(pods=[going]), "web-1")
    assert its.survivors == 0
    assert its.cost.now == pytest.approx(6)


def test_spot_costs_what_is_known_of_the_pool_else_of_its_type_its_zone_or_all() -> None:
    shares = {"big/a": 0.1, "big/*": 0.2, "*/a": 0.3, "*/*": 0.4}
    prices = Prices(sources=[HERE], on_demand={}, spot=shares)
    pools = [Pool("big", "a"), Pool("big", "b"), Pool("small", "a"), Pool("small", "b"), Pool()]
    assert [prices.share(pool) for pool in pools] == [0.1, 0.2, 0.3, 0.4, 0.4]
    rest = Prices(sources=[HERE], on_demand={}, spot={"*/a": 0.3, "big/*": 0.2})
    assert (rest.share(pools[0]), rest.share(pools[3])) == (0.2, None)


def test_nodes_whose_spot_price_is_only_assumed_are_counted() -> None:
    nodes = [of_type("o1"), of_type("s1"), of_type("s2", "small"), node("s3")]
    spot = {"small/*": 0.5}
    bill = billed(nodes=nodes, prices=Prices(sources=[HERE], on_demand=PRICES.on_demand, spot=spot))
    assert bill.gaps.assumed_spot == 1
    assert bill.gaps.assumed == 2  # what is on on-demand may be on spot at its floor
    assert bill.nodes.now == pytest.approx(12 + 12 * A_THIRD + 6 * 0.5)


def test_an_instance_with_windows_costs_not_what_one_with_linux_does() -> None:
    nodes = [of_type("o1", labels={names.OS: "windows"}), of_type("s1", labels={names.OS: "linux"})]
    bill = billed(nodes=nodes)
    assert bill.gaps.unknown == {"big/windows": 1}
    assert bill.nodes.now == pytest.approx(12 * A_THIRD)
    own = Prices(sources=[HERE], on_demand={**PRICES.on_demand, "big/windows": 20 * DOLLAR})
    assert billed(nodes=nodes, prices=own).nodes.on_demand == pytest.approx(32)


def test_regions_that_the_prices_are_not_of_are_told() -> None:
    region = "topology.kubernetes.io/region"
    nodes = [
        of_type("o1", labels={region: "us-west-2"}),
        of_type("o2", labels={names.ZONE: "ap-south-1b"}),
        of_type("o3", labels={names.ZONE: "us-east-1-bos-1a", region: "us-east-1"}),
        of_type("o4", labels={names.ZONE: "rack-7"}),
        of_type("s1", labels={region: "eu-central-1"}),
    ]
    assert billed(nodes=nodes).gaps.elsewhere == ["ap-south-1", "us-east-1", "us-west-2"]
    assert region_of(nodes[3]) == ""


SIZES = st.sampled_from(["0", "1", "100m", "3", "17"])
TYPES = st.sampled_from(["big", "small", "unheard-of"])
PLACES = ("o1", "o2", "s1", "s2")


@given(
    types=st.lists(TYPES, min_size=4, max_size=4),
    asked=st.lists(st.tuples(SIZES, SIZES, st.sampled_from([*PLACES, ""]), st.booleans())),
)
def test_what_all_workloads_cost_and_what_is_idle_are_the_nodes_prices(
    types: Sequence[str], asked: Sequence[tuple[str, str, str, bool]]
) -> None:
    nodes = [of_type(name, type_) for name, type_ in zip(PLACES, types, strict=True)]
    web = deployment(3, "1")
    requests = [{"cpu": cpu, "memory": f"{memory}Gi"} for cpu, memory, *_ in asked]
    pods = [
        builders.pod(
            f"p{n}",
            of=pods_of(web, "")[0].controller if owned else None,
            node=place,
            requests=requests[n],
            uid=f"p{n}",
        )
        for n, (*_, place, owned) in enumerate(asked)
    ]
    ours = [pod for pod in pods if pod.controller is not None]
    others = [pod for pod in pods if pod.controller is None]
    bill = billed(candidate(web, pods=ours, nodes=fleet(*nodes)), nodes=nodes, pods=others)
    costs = [*(each.cost for each in bill.workloads.values()), bill.idle]
    assert sum(each.now for each in costs) == pytest.approx(bill.nodes.now)
    assert sum(each.on_demand for each in costs) == pytest.approx(bill.nodes.on_demand)
    assert all(-1e-9 <= each.now <= each.on_demand + 1e-9 for each in costs)
    assert all(each.at_floor <= each.on_demand + 1e-9 for each in costs)
    assert all(isinstance(reference, Reference) for reference in bill.workloads)


@pytest.mark.parametrize(("node", "costs"), [("o1", 6.0), ("s1", 2.0), ("unknown", None)], ids=str)
def test_one_pod_alone_costs_its_part_of_its_node(node: str, costs: float | None) -> None:
    there = of_type(node, "strange" if node == "unknown" else "big")
    assert of_pod(asking(**HALF), there, WELL_KNOWN, PRICES) == (costs and pytest.approx(costs))


def test_nodes_cost_what_they_cost_now_or_nothing_is_said() -> None:
    nodes = [of_type("o1"), of_type("s1"), of_type("s2", "small")]
    assert of_nodes(nodes, WELL_KNOWN, PRICES) == pytest.approx(12 + 4 + 2)
    assert of_nodes([*nodes, of_type("o2", "strange")], WELL_KNOWN, PRICES) is None
