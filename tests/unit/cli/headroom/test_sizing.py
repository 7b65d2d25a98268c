"""How much headroom is needed, as a decision."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.restore.snapshot import Candidate, Snapshot
from evenkeel.model import names
from evenkeel.model.affinity import NewPodSpec
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.meta import OwnerReference
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool
from evenkeel_cli.headroom.sizing import (
    ANY,
    GI,
    MI,
    Kept,
    Kind,
    Kinds,
    Need,
    Room,
    Size,
    of_largest_pool,
    of_singles,
    room_for,
    size_of,
)
from tests.kit import builders
from tests.kit.builders import NOW
from tests.unit.decisions.placement.pods import clause, required
from tests.unit.decisions.restore.candidates import (
    candidate,
    deployment,
    fleet,
    pods_of,
    stateful_set,
    with_rules,
)

ON_DEMAND_ALONE = {"karpenter.sh/capacity-type": "on-demand"}
SMALL = {"cpu": "500m", "memory": "1Gi"}


def seen(*candidates: Candidate, pods: Sequence[Pod] = (), nodes: Sequence[Node] = ()) -> Snapshot:
    return Snapshot(now=NOW, candidates=candidates, fleet=fleet(*nodes), pods=pods)


@pytest.mark.parametrize(
    ("pods", "room"),
    [
        ([], Room(0, Size())),
        ([Size(500, GI)] * 3, Room(3, Size(500, GI))),
        ([Size(1000, GI), Size(600, 0), Size(600, 0), Size(400, 0)], Room(3, Size(1000, GI))),
        ([Size(1000, 0), Size(0, GI)], Room(1, Size(1000, GI))),
        ([Size(1000, GI), Size(100, 2 * GI)], Room(2, Size(1000, 2 * GI))),
        ([Size(), Size()], Room(0, Size())),
        ([Size(), Size(100, 0)], Room(1, Size(100, 0))),
    ],
    ids=[
        "no pod",
        "pods alike",
        "small ones share, but not more than fit",
        "one that asks for CPU beside one that asks for memory",
        "not beside it where one of both is too little",
        "pods that ask for nothing",
        "the same beside one that asks",
    ],
)
def test_all_pods_fit_into_the_placeholders(pods: Sequence[Size], room: Room) -> None:
    assert room_for(pods) == room


def test_a_size_is_what_a_pod_asks_for_rounded_up() -> None:
    assert size_of({"cpu": 0.1 * 3, "memory": 1.5, "pods": 1}) == Size(300, 2)
    assert Size(1500, 3 * GI).quantities == {"cpu": "1500m", "memory": "3Gi"}
    assert Size(2000, GI + 1).quantities == {"cpu": "2", "memory": "1025Mi"}
    assert Size(0, MI).quantities == {"memory": "1Mi"}
    assert str(Room(2, Size(500, GI))) == "2 placeholders of 500m cpu and 1Gi memory"


@pytest.mark.parametrize(
    ("found", "pods"),
    [
        (candidate(deployment(1), "s1"), 1),
        (candidate(stateful_set(1, "none"), "s1"), 1),
        (candidate(deployment(2), "s1", "s2"), 0),
        (candidate(deployment(1), "s1", is_managed=False), 1),
        (candidate(deployment(1), "o1"), 1),
        (candidate(deployment(1), "o1", is_managed=False), 0),
        (candidate(deployment(1, "1"), "o1"), 0),
        (candidate(stateful_set(1), "o1"), 0),
        (candidate(with_rules(deployment(1), nodeSelector=ON_DEMAND_ALONE), "o1"), 0),
        (candidate(deployment(1)), 0),
    ],
    ids=[
        "on spot",
        "a StatefulSet's, on spot",
        "two replicas",
        "on spot though not managed",
        "free to go to spot",
        "not managed, and not on spot",
        "its floor keeps it off spot",
        "a StatefulSet's default floor does",
        "its own rules do",
        "it has no pod",
    ],
)
def test_singles_are_on_spot_or_may_go_there(found: Candidate, pods: int) -> None:
    assert of_singles(seen(found)).pods == pods


def test_singles_need_room_for_the_largest_pod_of_each() -> None:
    one, two = deployment(1), stateful_set(1, "none")
    pods = [*pods_of(one, "s1", requests={"cpu": "200m"}), *pods_of(one, "s2", requests=SMALL)]
    rollout = candidate(one, pods=pods)
    other = candidate(two, pods=pods_of(two, "s1", requests={"cpu": "400m"}))
    assert of_singles(seen(rollout, other)) == Need(2, Size(900, GI), Room(2, Size(500, GI)))


USUAL = {names.ARCH: "amd64", names.OS: "linux"}
ARM, WINDOWS = {names.ARCH: "arm64"}, {names.OS: "windows"}
ON_DEMAND = (
    builders.node("o1", spot=False, labels=USUAL),
    builders.node("o2", spot=False, labels=USUAL | ARM),
)
DEDICATED = {"key": "team", "operator": "Exists"}
LOST = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}


def kind_of(rules: dict[str, Any], devices: dict[str, str] | None = None) -> Kind | None:
    """The kind of nodes that a pod with these rules needs."""
    its = msgspec.convert({**rules}, NewPodSpec)
    requests = {"cpu": 0.5, **{key: float(each) for key, each in (devices or {}).items()}}
    return Kinds(fleet(*ON_DEMAND)).of(its, requests)


def test_pods_that_may_go_to_spot_alone_are_told_and_not_counted() -> None:
    """Placeholders are on on-demand nodes."""
    nodes = [*ON_DEMAND, in_pool("s1", "big", "a")]
    kept = with_rules(deployment(1), nodeSelector={"karpenter.sh/capacity-type": "spot"})
    free = with_rules(stateful_set(1, "none"), nodeSelector={names.OS: "linux"})
    found = [
        candidate(each, pods=pods_of(each, "s1", requests=SMALL), nodes=fleet(*nodes))
        for each in (kept, free)
    ]
    pods = [pod for each in found for pod in each.pods]
    pool = of_largest_pool(seen(*found, pods=pods, nodes=nodes))
    assert pool is not None
    for need in (of_singles(seen(*found, nodes=nodes)), pool[1]):
        assert (need.pods, need.room.placeholders, need.others) == (1, 1, 1)
        assert "no placeholder helps 1 more: its own rules exclude on-demand" in str(need)
    assert of_singles(seen(found[0], nodes=nodes)).kept == []


@pytest.mark.parametrize(
    ("rules", "devices", "told"),
    [
        pytest.param({}, {}, "", id="any node"),
        pytest.param({"nodeSelector": {names.OS: "linux"}}, {}, "", id="all nodes have it"),
        pytest.param({"tolerations": [DEDICATED]}, {}, "", id="a mere toleration"),
        pytest.param({"nodeSelector": ARM}, {}, "kubernetes.io/arch=arm64", id="another machine"),
        pytest.param({"nodeSelector": WINDOWS}, {}, "kubernetes.io/os=windows", id="none has it"),
        pytest.param(
            {"affinity": required({"matchExpressions": [clause("disk", "In", "ssd")]})},
            {},
            "their node affinity",
            id="affinity",
        ),
        pytest.param({}, {"nvidia.com/gpu": "2"}, "2 nvidia.com/gpu", id="a device"),
    ],
)
def test_pods_need_nodes_of_a_kind_by_their_rules_and_devices(
    rules: dict[str, Any], devices: dict[str, str], told: str
) -> None:
    found = kind_of(rules, devices)
    assert (str(found), bool(found and found.name)) == (told, bool(told))


def test_a_kind_has_what_its_pods_tolerate_for_good() -> None:
    found = kind_of({"nodeSelector": ARM, "tolerations": [DEDICATED, LOST]})
    again = kind_of({"nodeSelector": dict(ARM), "tolerations": [DEDICATED]})
    other = kind_of({"nodeSelector": ARM})
    assert found is not None
    assert again is not None
    assert other is not None
    assert msgspec.to_builtins([*(found.rules.tolerations or ())]) == [DEDICATED]
    assert found.name == again.name != other.name


def test_each_kind_has_a_room_of_its_own_and_no_device_is_shared() -> None:
    arm, gpu = kind_of({"nodeSelector": ARM}), kind_of({}, {"nvidia.com/gpu": "1"})
    small = Size(100, GI)
    need = Need.of(
        [(ANY, small), (arm, small), (arm, Size(50, 0)), (gpu, small), (gpu, Size(50, 0))]
    )
    assert (need.pods, need.total, need.room) == (5, Size(400, 3 * GI), Room(1, small))
    assert {str(each) for each in need.rooms} == {
        "2 placeholders of 100m cpu and 1Gi memory on nodes for kubernetes.io/arch=arm64",
        "2 placeholders of 100m cpu and 1Gi memory on nodes for 1 nvidia.com/gpu",
    }
    assert need.kept == [Kept(Room(1, small)), *need.rooms]


def in_pool(name: str, type_: str = "", zone: str = "", *, spot: bool = True) -> Node:
    told = {"node.kubernetes.io/instance-type": type_, "topology.kubernetes.io/zone": zone}
    return builders.node(name, spot=spot, labels={key: v for key, v in told.items() if v})


def test_the_largest_pool_is_the_one_whose_pods_ask_for_most() -> None:
    nodes = [in_pool("a", "m5", "z"), in_pool("b", "m5", "z"), in_pool("c", "m5", "y")]
    nodes += [in_pool("d", spot=False), in_pool("e"), in_pool("f")]
    web = deployment(9)
    pods = [
        *pods_of(web, "a", "b", requests=SMALL),
        *pods_of(web, "c", requests={"cpu": "900m"}),
        *pods_of(web, *"dddddd", requests=SMALL),
        *pods_of(web, "e", "f", requests={"cpu": "200m"}),
    ]
    found = of_largest_pool(seen(pods=pods, nodes=nodes))
    assert found == (Pool("m5", "z"), Need(2, Size(1000, 2 * GI), Room(2, Size(500, GI))))
    without = of_largest_pool(seen(pods=pods[3:], nodes=nodes))
    assert without == (Pool("", ""), Need(2, Size(400, 0), Room(2, Size(200, 0))))


@pytest.mark.parametrize(
    "owner",
    [None, OwnerReference(kind="DaemonSet", name="agent", uid="d", controller=True)],
    ids=["nobody makes it again", "it goes with its node"],
)
def test_pods_that_need_no_other_node_do_not_count(owner: OwnerReference | None) -> None:
    pod = builders.pod("a-1", of=owner, node="s1", requests=SMALL)
    assert of_largest_pool(seen(pods=[pod])) is None


def test_capacity_is_told_by_the_labels_that_count() -> None:
    labels = CapacityLabels(("example.com/kind",))
    node = builders.node("s1", spot=True)
    pod = pods_of(deployment(1), "s1")
    found = fleet(node)
    other = type(found)(found.nodes, found.doomed, found.used, labels)
    assert other.capacity(pod[0]) is Capacity.ON_DEMAND
    assert of_largest_pool(Snapshot(now=NOW, candidates=(), fleet=other, pods=pod)) is None


def test_of_the_singles_those_count_that_go_together() -> None:
    nodes = [in_pool("a", "m5", "z"), in_pool("b", "c5", "z")]
    made = [deployment(2 if n == "d" else 1, name=n) for n in "abcde"]
    pods = [pods_of(each, node, requests=SMALL) for each, node in zip(made, "aabab", strict=True)]
    managed = (True, True, True, True, False)
    candidates = [
        candidate(each, pods=of, is_managed=is_managed)
        for each, of, is_managed in zip(made, pods, managed, strict=True)
    ]
    snapshot = seen(*candidates, pods=[pod for of in pods for pod in of], nodes=nodes)
    found = of_largest_pool(snapshot, singles=True)
    assert found == (Pool("m5", "z"), Need(2, Size(1000, 2 * GI), Room(2, Size(500, GI))))
