"""Where a pod would find room, as far as requests, rules and taints tell."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.room.fleet import used_by
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.decisions.room.rules import NOWHERE, NodeRequest, request_of, volumes_of
from evenkeel.model import names
from evenkeel.model.affinity import NewPodSpec, NodeSelector
from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.model.cluster_objects import PersistentVolume
from evenkeel.model.losses import Loss
from evenkeel.model.node import Node, NodeMetadata, Taint
from evenkeel.model.pod import Container, ResourceRequirements
from evenkeel.model.pool import Pool
from tests.kit import builders
from tests.unit.decisions.restore.candidates import ON_DEMAND, SPOT, fleet, node


def request(
    zone: str = "", *, requests: dict[str, float] | None = None, **rules: Any
) -> NodeRequest:
    spec = msgspec.convert(rules, NewPodSpec)
    required = builders.in_zone(zone).required if zone else None
    volumes = (required,) if required is not None else ()
    return NodeRequest(resources=requests or {"pods": 1.0}, rules=spec, volumes=volumes)


def has(node: Node, **rules: Any) -> bool:
    return Rooms(fleet(node)).has(request(**rules), SPOT)


def required(*clauses: dict[str, Any], field: str = "matchExpressions") -> dict[str, Any]:
    terms = {"nodeSelectorTerms": [{}, {field: list(clauses)}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def clause(operator: str, *values: str, key: str = "size") -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def test_a_pod_takes_its_requests_and_its_place() -> None:
    pod = builders.pod()
    two = tuple(
        Container(resources=ResourceRequirements(requests={"cpu": cpu, "memory": "1Ki"}))
        for cpu in ("500m", "1")
    )
    pod = msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, containers=two))
    assert pod.spec.requests == {"pods": 1.0, "cpu": 1.5, "memory": 2048.0}


def test_room_is_what_others_leave_and_each_takes_its_part() -> None:
    rooms = Rooms(fleet(node("s1"), used={"s1": {"cpu": 1.0, "pods": 3.0}}))
    big = request(requests={"cpu": 1.5, "pods": 1.0})
    assert [rooms.take(big, SPOT) for _ in range(3)] == [True, True, False]
    assert not rooms.has(big, SPOT)
    assert rooms.has(request(), SPOT)


def test_of_pods_that_go_at_once_none_takes_room_where_not_all_find_it() -> None:
    rooms = Rooms(fleet(node("s1", {"pods": "1"}), node("s2", {"pods": "2"})))
    assert not rooms.take(request(), SPOT, 4)
    assert rooms.take(request(), SPOT, 3)
    assert not rooms.has(request(), SPOT)


def test_the_nodes_of_one_capacity_type_are_not_the_others() -> None:
    rooms = Rooms(fleet(node("o1")))
    assert (rooms.has(request(), ON_DEMAND), rooms.has(request(), SPOT)) == (True, False)


def test_what_a_node_does_not_offer_it_has_not() -> None:
    rooms, gpu = Rooms(fleet(node("s1"))), "nvidia.com/gpu"
    none, one = request(requests={gpu: 0.0}), request(requests={gpu: 1.0})
    assert [rooms.take(each, SPOT) for each in (one, none, none)] == [False, True, True]
    assert not rooms.has(request(requests={gpu: 1.0, "pods": 1.0}), SPOT)


def test_a_node_that_no_ec2_instance_runs_takes_no_pods() -> None:
    elsewhere = Node(
        metadata=NodeMetadata(name="f1", labels={names.EKS_COMPUTE: "fargate"}),
        status=node("x").status,
    )
    rooms = Rooms(fleet(elsewhere, node("o1")))
    assert rooms.place(request(), ON_DEMAND) == "o1"
    assert [each.name for each in rooms.taking(NewPodSpec(), ON_DEMAND)] == ["o1"]


@pytest.mark.parametrize(
    ("options", "doomed"),
    [({"ready": False}, []), ({"unschedulable": True}, []), ({}, ["s1"])],
    ids=["not ready", "cordoned", "doomed"],
)
def test_a_node_that_takes_no_pods_has_no_room(options: dict[str, Any], doomed: list[str]) -> None:
    first = node("s1", **options)
    assert not Rooms(fleet(first, doomed=doomed)).has(request(), SPOT)
    assert Rooms(fleet(first, node("s2"), doomed=doomed)).has(request(), SPOT)


@pytest.mark.parametrize(
    ("taint", "tolerations", "fits"),
    [
        (Taint(key="gpu", effect="NoSchedule"), [], False),
        (Taint(key="gpu", effect="PreferNoSchedule"), [], True),
        (Taint(key="gpu", effect="NoExecute"), [{"key": "gpu", "operator": "Exists"}], True),
        (Taint(key="gpu", effect="NoExecute"), [{"operator": "Exists"}], True),
        (Taint(key="gpu", value="a", effect="NoSchedule"), [{"key": "gpu", "value": "a"}], True),
        (Taint(key="gpu", value="a", effect="NoSchedule"), [{"key": "gpu", "value": "b"}], False),
        (
            Taint(key="gpu", effect="NoSchedule"),
            [{"key": "gpu", "operator": "Exists", "effect": "NoExecute"}],
            False,
        ),
        (Taint(key="karpenter.sh/capacity-type", value="spot", effect="NoSchedule"), [], True),
    ],
)
def test_taints_keep_off_pods_that_do_not_tolerate_them(
    taint: Taint, tolerations: list[dict[str, str]], *, fits: bool
) -> None:
    assert has(node("s1", taints=[taint]), tolerations=tolerations) is fits


def test_placement_adds_no_toleration_towards_on_demand() -> None:
    taint = Taint(key="karpenter.sh/capacity-type", value="spot", effect="NoSchedule")
    rooms = Rooms(fleet(node("o1", taints=[taint])))
    assert not rooms.has(request(), ON_DEMAND)


@pytest.mark.parametrize(
    ("clauses", "fits"),
    [
        ([clause("In", "8", "16")], True),
        ([clause("In", "16")], False),
        ([clause("NotIn", "16")], True),
        ([clause("NotIn", "8")], False),
        ([clause("Exists")], True),
        ([clause("Exists", key="other")], False),
        ([clause("DoesNotExist")], False),
        ([clause("DoesNotExist", key="other")], True),
        ([clause("Gt", "7")], True),
        ([clause("Gt", "8")], False),
        ([clause("Lt", "9")], True),
        ([clause("Lt", "8")], False),
        ([clause("Lt", "9", key="other")], False),
        ([clause("Near", "8")], False),
        ([clause("Exists"), clause("In", "16")], False),
    ],
)
def test_its_required_affinity_is_looked_at(clauses: list[dict[str, Any]], *, fits: bool) -> None:
    assert has(node("s1", labels={"size": "8"}), affinity=required(*clauses)) is fits


def test_and_its_fields_selector_and_zone() -> None:
    by_name = required(clause("In", "s1", key="metadata.name"), field="matchFields")
    assert has(node("s1"), affinity=by_name)
    assert not has(node("s2"), affinity=by_name)
    assert has(node("s1", labels={"size": "8"}), nodeSelector={"size": "8"})
    assert not has(node("s1", labels={"size": "8"}), nodeSelector={"size": "9"})
    assert has(node("s1", labels={"topology.kubernetes.io/zone": "a"}), zone="a")
    assert not has(node("s1", labels={"topology.kubernetes.io/zone": "a"}), zone="b")


def test_a_pod_that_asks_for_the_same_does_not_look_at_full_nodes_again() -> None:
    looks = 0

    class Requests(dict[str, float]):
        def items(self) -> Any:
            nonlocal looks
            looks += 1
            return super().items()

    full = [node(f"s{number}", {"pods": "0"}) for number in range(100)]
    rooms = Rooms(fleet(*full, node("s-last", {"pods": "50"})))
    asked = [NodeRequest(resources=Requests(pods=1.0), rules=NewPodSpec()) for _ in range(51)]
    assert [rooms.take(each, SPOT) for each in asked] == [True] * 50 + [False]
    assert looks < 300


def test_a_pool_that_lost_a_node_has_no_room_and_takes_pods_all_the_same() -> None:
    def at(name: str, zone: str, **options: Any) -> Node:
        return node(name, labels={names.INSTANCE_TYPE: "m5", names.ZONE: zone}, **options)

    noted = [Loss(Pool("m5", "a"), builders.NOW)]
    here = msgspec.structs.replace(fleet(at("s1", "a"), at("s2", "b")), losses=noted)
    rooms = Rooms(here)
    assert rooms.has(request(), SPOT)
    assert not rooms.has(request("a"), SPOT)
    assert len(rooms.taking(NewPodSpec(), SPOT)) == 2
    doomed = at("s0", "b", notice=builders.notice())
    rooms = Rooms(fleet(at("s1", "a"), at("s2", "b"), doomed, doomed=["s0"]))
    assert (rooms.has(request("a"), SPOT), rooms.has(request("b"), SPOT)) == (True, False)


def test_what_is_taken_of_a_node_is_what_its_pods_ask_for() -> None:
    pods = [
        builders.pod("a", node="s1", requests={"cpu": "1"}),
        builders.pod("b", node="s1", requests={"cpu": "500m"}),
        builders.pod("c", node=""),
    ]
    assert used_by(pods) == {"s1": {"cpu": 1.5, "pods": 2.0}}


def test_nodes_that_take_one_of_several_pods_are_found_full_or_not() -> None:
    rooms = Rooms(fleet(node("s1", {"pods": "0"}, labels={"size": "8"}), node("o1"), node("s2")))
    asked = [request(nodeSelector={"size": "8"}), request(nodeSelector={"size": "9"})]
    assert [each.name for each in rooms.accepting(asked)] == ["s1"]
    assert {each.name for each in rooms.accepting([request()])} == {"s1", "s2", "o1"}


def test_a_node_of_no_known_type_takes_pods_that_need_none() -> None:
    labels = CapacityLabels(("lifecycle",))
    untold = msgspec.structs.replace(fleet(node("s1", labels={"lifecycle": "x"})), labels=labels)
    rooms = Rooms(untold)
    assert not any(rooms.has(request(), capacity) for capacity in (SPOT, ON_DEMAND))
    assert [each.name for each in rooms.accepting([request()])] == ["s1"]
    assert rooms.place(request(), None) == "s1"


def test_no_node_can_mount_a_volume_that_is_bound_and_not_known() -> None:
    pod = builders.pod(claim="data")
    bound, other = builders.claim(bound_to="pv-1"), builders.claim("other", bound_to="pv-2")
    anywhere = PersistentVolume(metadata=builders.metadata("pv-1"))
    in_a = builders.in_zone("a", of="pv-1")

    def found(volumes: Mapping[str, PersistentVolume] | None) -> Sequence[NodeSelector]:
        return volumes_of(pod, [bound, other], volumes)

    assert found(None) == found({}) == (NOWHERE,)
    assert found({"pv-1": anywhere}) == ()
    assert found({"pv-1": in_a}) == (in_a.required,)
    assert volumes_of(pod, [builders.claim()], {}) == ()
    nowhere = NodeRequest(resources={}, rules=NewPodSpec(), volumes=(NOWHERE,))
    assert not Rooms(fleet()).has(nowhere, SPOT)


def short(*nodes: Node, of: NodeRequest | None = None, **options: Any) -> str:
    """What is said of a pod for which spot has no place."""
    found = Rooms(fleet(*nodes, **options)).shortage(of or request(), SPOT)
    assert found.is_refused is found.of("it").startswith("no spot node takes")
    return found.of("it")


KEPT_OFF = Taint(key="spot", value="true", effect="NoSchedule")


def test_nodes_that_take_no_such_pod_are_told_from_full_ones() -> None:
    tainted = [node(name, taints=[KEPT_OFF]) for name in ("s1", "s2", "s3")]
    full = node("s4", {"pods": "0"})
    refused = "no spot node takes it: the taint spot=true:NoSchedule (3 nodes)"
    assert short(*tainted) == refused
    assert short(*tainted, node("o1")) == refused
    assert short(*tainted, full) == "no spot node has room for it"
    bearing = request(tolerations=[{"key": "spot", "operator": "Exists"}])
    assert short(*tainted, of=bearing) == "no spot node has room for it"
    assert short(node("o1")) == "there is no spot node to tell whether one takes it"


def test_of_all_nodes_it_is_said_too() -> None:
    rooms = Rooms(fleet(node("o1"), node("s1", taints=[KEPT_OFF])))
    ssd = request(nodeSelector={"disk": "ssd"})
    assert rooms.shortage(request()).of("it") == "no node has room for it"
    assert rooms.shortage(ssd) is rooms.shortage(request(requests={}, nodeSelector={"disk": "ssd"}))
    assert rooms.shortage(ssd).of("it") == (
        "no node takes it: its node selector disk=ssd (1 node), the taint spot=true:NoSchedule"
        " (1 node)"
    )


@pytest.mark.parametrize(
    ("options", "doomed"),
    [
        ({"ready": False}, []),
        ({"unschedulable": True}, []),
        ({}, ["s1"]),
        ({"taints": [Taint(key="node.kubernetes.io/not-ready", effect="NoExecute")]}, []),
        ({"taints": [Taint(key="karpenter.sh/disrupted", effect="NoSchedule")]}, []),
    ],
    ids=["not ready", "cordoned", "doomed", "tainted for a while", "disrupted"],
)
def test_what_a_node_has_for_a_while_keeps_no_pod_off_others_of_its_pool(
    options: dict[str, Any], doomed: list[str]
) -> None:
    first = node("s1", **options)
    assert not Rooms(fleet(first, doomed=doomed)).has(request(), SPOT)
    assert short(first, doomed=doomed) == "no spot node has room for it"


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (request(nodeSelector={"a": "b", "size": "9"}), "its node selector size=9"),
        (
            request(affinity=required(clause("In", "16", "32"))),
            "its node affinity (none or size In [16, 32])",
        ),
        (
            request(affinity=required(clause("DoesNotExist"), clause("Gt", "7", key="n"))),
            "its node affinity (none or size DoesNotExist, n Gt [7])",
        ),
        (
            request(affinity=required(clause("In", "x", key="metadata.name"), field="matchFields")),
            "its node affinity (none or metadata.name In [x])",
        ),
        (request("b"), "a volume that it mounts"),
        (
            NodeRequest(resources={}, rules=NewPodSpec(), volumes=(NOWHERE,)),
            "a volume of which nothing is known",
        ),
    ],
)
def test_what_keeps_a_pod_off_is_named(asked: NodeRequest, why: str) -> None:
    there = node("s1", labels={"a": "b", "size": "8", "topology.kubernetes.io/zone": "a"})
    assert short(there, of=asked) == f"no spot node takes it: {why} (1 node)"


def test_of_many_things_the_most_frequent_are_named() -> None:
    def tainted(key: str, count: int) -> list[Node]:
        taint = Taint(key=key, effect="NoExecute")
        return [node(f"s-{key}-{number}", taints=[taint]) for number in range(count)]

    nodes = [
        each
        for key, count in zip("abcd", (1, 4, 3, 2), strict=True)
        for each in tainted(key, count)
    ]
    named = (
        "the taint b:NoExecute (4 nodes), the taint c:NoExecute (3 nodes), the taint d:NoExecute"
    )
    assert short(*nodes) == f"no spot node takes it: {named} (2 nodes), 1 other thing"
    assert short(*nodes, *tainted("e", 1)).endswith(", 2 other things")


def test_what_is_made_in_the_place_of_a_pod_asks_for_the_same() -> None:
    pod = builders.pod(claim="disk", requests={"cpu": "1"})
    spec = msgspec.structs.replace(pod.spec, node_selector={"disk": "ssd"})
    claims = [builders.claim("disk", bound_to="pv")]
    in_a = builders.in_zone("a", of="pv")
    found = request_of(msgspec.structs.replace(pod, spec=spec), WELL_KNOWN, claims, {"pv": in_a})
    assert found.resources == {"cpu": 1.0, "pods": 1.0}
    assert found.rules == NewPodSpec(node_selector={"disk": "ssd"})
    assert found.volumes == (in_a.required,)


def test_nodes_that_are_taken_for_full_have_no_room_and_take_pods() -> None:
    rooms = Rooms(fleet(node("s1")), are_full=True)
    assert not rooms.has(request(), SPOT)
    assert rooms.shortage(request(), SPOT).of("it") == "no spot node has room for it"
