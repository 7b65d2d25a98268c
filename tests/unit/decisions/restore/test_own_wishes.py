"""What an owner asks of where pods are: a move makes it no worse, takes another place or waits."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.restore.own_wishes import told
from evenkeel.decisions.restore.plan import plan
from evenkeel.decisions.restore.snapshot import Candidate
from evenkeel.decisions.restore.step import RestoreStep
from evenkeel.decisions.room.fleet import Fleet
from evenkeel.model import names
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.controllers.stateful_set import StatefulSetStatus, StatefulSetStrategy
from evenkeel.model.move import Domains, Restored, move_of
from evenkeel.model.request import Create
from evenkeel.model.spot_rest import SpotRest
from tests.kit import builders
from tests.kit.builders import NOW, patched
from tests.unit.decisions.restore.candidates import (
    SPOT,
    candidate,
    deployment,
    fleet,
    node,
    outcome,
    pods_of,
    reason,
    restored,
    snapshot,
    stateful_set,
    step,
    with_rules,
)

HOST, ZONE, CAPACITY = names.HOSTNAME, names.ZONE, names.KARPENTER_CAPACITY
FULL = {"cpu": "4", "memory": "16Gi", "pods": "0"}


def cluster(*nodes: str, full: str = "") -> Fleet:
    """Nodes, called by their type, zone and number; those that are ``full`` have no room."""
    made = []
    for name in nodes:
        labels = {HOST: name, ZONE: name[1], CAPACITY: "spot" if name[0] == "s" else "on-demand"}
        room = {"room": FULL} if name in full.split() else {}
        made.append(node(name, labels=labels, **room))
    return fleet(*made)


def spread(key: str, skew: int = 1, when: str = "DoNotSchedule", **more: Any) -> Mapping[str, Any]:
    """A template's spread over a label."""
    constraint = {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": when}
    selector = {"labelSelector": {"matchLabels": {"app": "web"}}}
    return {"topologySpreadConstraints": [{**constraint, **selector, **more}]}


def prefers(key: str, *values: str) -> Mapping[str, Any]:
    """A template that likes nodes with one of these values."""
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}
    preferred = "preferredDuringSchedulingIgnoredDuringExecution"
    return {"affinity": {"nodeAffinity": {preferred: [{"weight": 100, "preference": term}]}}}


def web(
    *places: str, nodes: Fleet, floor: str = "none", notes: Any = None, **rules: Any
) -> Candidate:
    """A Deployment with a pod on each of these nodes."""
    made = deployment(len(places), floor, notes=notes or {})
    return candidate(with_rules(made, **rules), *places, nodes=nodes)


def moved(found: Candidate, nodes: Fleet) -> tuple[str, Domains]:
    """The node of the pod that moves, and where the pod that is made for it may not be."""
    made = step(found, nodes=nodes)
    lease = next(each for each in made.before if isinstance(each, Create))
    assert isinstance(lease.object, Lease)
    move = move_of(lease.object)
    assert move is not None
    return made.decision.node, move.barred


def test_a_pod_goes_to_no_zone_that_has_as_many_and_to_no_node_that_has_as_many() -> None:
    there = cluster("oa", "ob", "sa", "sb")
    assert moved(web("oa", "ob", "ob", nodes=there), there) == ("oa", {ZONE: ("b",)})
    there = cluster("oa", "oa2", "sa", "sa2")
    found = web("oa", "oa2", "sa", nodes=there)
    assert moved(found, there) == ("oa", {HOST: ("sa",)})


def test_a_zone_with_fewer_takes_one_and_a_node_without_a_zone_gives_one_to_any() -> None:
    there = cluster("oa", "oa2", "ob", "sb")
    assert moved(web("oa", "oa2", "ob", nodes=there), there) == ("oa", {})
    zoneless = node("o", labels={HOST: "o", CAPACITY: "on-demand"})
    there = fleet(zoneless, *cluster("ob", "sb").nodes.values())
    assert moved(web("o", "ob", "ob", nodes=there), there) == ("o", {})


def test_another_pod_goes_where_the_first_has_no_place() -> None:
    there = cluster("oa", "ob", "sb")
    assert moved(web("oa", "ob", "ob", nodes=there), there)[0] == "ob"
    assert moved(web("oa", "oa", "ob", "ob", nodes=there), there)[0] == "ob"
    db = candidate(stateful_set(2, "none"), "ob", "oa", nodes=there)
    assert step(db, nodes=there).decision.subject.name == "db-0"


@pytest.mark.parametrize(
    ("places", "nodes", "bars"),
    [
        ("oa ob", "oa ob sc", {}),
        ("oa ob", "oa ob sa", {ZONE: ("b",)}),
    ],
)
def test_a_zone_without_any_of_its_pods_takes_one(places: str, nodes: str, bars: Domains) -> None:
    there = cluster(*nodes.split())
    found = web(*places.split(), nodes=there)
    assert moved(found, there) == ("oa", bars or {ZONE: ("b",)})


def test_none_goes_where_all_that_have_room_have_as_many() -> None:
    there = cluster("oa", "ob", "oc", "sa")
    assert reason(web(*["sa", "ob", "oc"] * 2, nodes=there), nodes=there) == "LessEven"
    found = web("sa", "ob", "oc", nodes=there)
    assert reason(found, nodes=there) == "LessEven"
    assert "spot has room, but" in outcome(found, nodes=there).message  # type: ignore[union-attr]
    db = candidate(stateful_set(3, "none"), "sa", "ob", "oc", nodes=there)
    assert reason(db, nodes=there) == "LessEven"


def test_pods_that_were_packed_on_one_node_may_be_so_on_another_for_a_day() -> None:
    there = cluster("oa", "sa")
    assert moved(web("oa", "oa", "sa", nodes=there), there) == ("oa", {})
    packed = msgspec.structs.replace(Restored.of(_Noted(restored(SPOT))) or _never(), most=2)
    for ago, goes in ((timedelta(hours=23), True), (timedelta(hours=24), False)):
        note = msgspec.structs.replace(packed, at=NOW - ago)
        notes = {names.RESTORED: note.encode()}
        found = outcome(web("oa", "sa", nodes=there, notes=notes), nodes=there)
        assert isinstance(found, RestoreStep) is goes
        if isinstance(found, RestoreStep):
            (after,) = found.after
            workload = web("oa", "sa", nodes=there, notes=notes).workload
            noted = Restored.of(patched(workload, after))
            assert noted is not None
            assert noted.most == 2


class _Noted(msgspec.Struct):
    """What has these annotations."""

    annotations: dict[str, str]

    @property
    def metadata(self) -> "_Noted":
        return self


def _never() -> Restored:
    raise AssertionError


def test_a_floor_may_be_packed_as_on_demand_nodes_are_few_but_in_no_zone_that_has_as_many() -> None:
    there = cluster("oa", "oa2", *(f"sa{number}" for number in range(4)))
    found = web("oa", "oa2", "sa0", "sa1", nodes=there, floor="3")
    assert moved(found, there) == ("sa0", {})
    there = cluster("oa", "oa2", "sa", "sa2")
    assert moved(web("oa", "sa", nodes=there, floor="2"), there) == ("sa", {HOST: ("oa",)})
    there = cluster("oa", "sa", "sb", "sc")
    assert reason(web("oa", "sb", "sc", nodes=there, floor="2"), nodes=there) == "LessEven"


def test_a_hard_spread_binds_a_floor_and_a_soft_one_does_not() -> None:
    there = cluster("oa", "sa", "sa2")
    hard, soft = spread(HOST), spread(HOST, when="ScheduleAnyway")
    assert reason(web("oa", "sa", "sa2", nodes=there, floor="2", **hard), nodes=there) == "LessEven"
    assert moved(web("oa", "sa", "sa2", nodes=there, floor="2", **soft), there)[0] == "sa"
    without = spread(HOST, labelSelector=None)
    assert moved(web("oa", "sa", "sa2", nodes=there, floor="2", **without), there)[0] == "sa"


def test_a_spread_over_another_label_allows_what_its_owner_allows() -> None:
    there = cluster("oa", "ob", "sa", "sb")
    there = msgspec.structs.replace(there, nodes={k: racked(v) for k, v in there.nodes.items()})
    places = ("oa", "oa", "ob")
    for more, bars in (
        (spread("rack", 1), {"rack": ("r1",)}),
        (spread("rack", 2), {}),
        (spread("rack", 2, minDomains=2), {}),
        (spread("rack", 2, minDomains=3), {"rack": ("r1",)}),
        (spread("rack", 3, minDomains=3), {}),
        (spread("rack", 1, when="ScheduleAnyway"), {"rack": ("r1",)}),
    ):
        found = web(*places, "sb", nodes=there, **more)
        barred = moved(found, there)[1]
        assert {key: each for key, each in barred.items() if key == "rack"} == bars


@pytest.mark.parametrize(("skew", "bars"), [(2, ("r1",)), (3, ())])
def test_a_domain_without_any_of_its_pods_counts_as_one_of_none(
    skew: int, bars: tuple[str, ...]
) -> None:
    there = cluster("oa", "ob", "sa", "sb", "sc")
    there = msgspec.structs.replace(there, nodes={k: racked(v) for k, v in there.nodes.items()})
    found = web("oa", "oa", "ob", "sb", nodes=there, **spread("rack", skew))
    assert moved(found, there)[1].get("rack", ()) == bars


def racked(made: Any) -> Any:
    """A node in a rack: r2 in zone a, r3 in zone c, else r1."""
    rack = {"a": "r2", "c": "r3"}.get(made.name[1], "r1")
    labels = {**made.metadata.labels, "rack": rack}
    metadata = msgspec.structs.replace(made.metadata, labels=labels)
    return msgspec.structs.replace(made, metadata=metadata)


@pytest.mark.parametrize("when", ["DoNotSchedule", "ScheduleAnyway"])
def test_a_spread_over_capacity_types_is_its_owners_ratio(when: str) -> None:
    there = cluster("oa", "sa", "sa2")
    even = spread(CAPACITY, when=when)
    assert reason(web("oa", "sa", nodes=there, **even), nodes=there) == "OwnSpread"
    assert reason(web("oa", "oa", "sa", "sa", nodes=there, **even), nodes=there) == "OwnSpread"
    assert moved(web("oa", "oa", "oa", "sa", nodes=there, **even), there)[0] == "oa"
    wide = spread(CAPACITY, 2, when=when)
    assert moved(web("oa", "oa", "sa", "sa", nodes=there, **wide), there)[0] == "oa"
    asked = web("oa", "sa", nodes=there, floor="all", **even)
    assert moved(asked, there)[0] == "sa"


def test_a_template_that_prefers_on_demand_keeps_its_pods_there() -> None:
    rather = prefers(CAPACITY, "on-demand")
    there = cluster("oa", "sa")
    assert reason(web("oa", "sa", nodes=there, **rather), nodes=there) == "OwnPreference"
    alone = cluster("oa")
    assert reason(web("oa", nodes=alone, **rather), nodes=alone) == "OwnPreference"
    assert moved(web("sa", nodes=there, floor="all", **rather), there)[0] == "sa"
    either = prefers(CAPACITY, "on-demand", "spot")
    assert moved(web("oa", nodes=there, **either), there)[0] == "oa"
    spot = prefers(CAPACITY, "spot")
    assert moved(web("oa", nodes=there, **spot), there)[0] == "oa"
    assert moved(web("sa", nodes=there, floor="all", **spot), there)[0] == "sa"


def test_no_pod_goes_to_a_node_that_its_template_likes_less() -> None:
    there = cluster("oa", "sa", "sb")
    found = web("oa", nodes=there, **prefers(ZONE, "a"))
    assert moved(found, there) == ("oa", {HOST: ("sb",)})
    asked = web("sa", nodes=there, floor="all", **prefers(ZONE, "a"))
    assert moved(asked, there) == ("sa", {})
    less = cluster("oa", "sb")
    assert reason(web("oa", nodes=less, **prefers(ZONE, "a")), nodes=less) == "LessEven"


def test_what_waits_for_a_new_node_names_zones_alone() -> None:
    """Karpenter makes no node for a pod that names nodes."""
    there = cluster("oa", "ob", "sa", "sb", full="oa ob")
    found = web("sa", "sb", nodes=there, floor="1")
    assert moved(found, there) == ("sa", {ZONE: ("b",)})
    liked = web("sa", "sb", nodes=there, floor="1", **prefers(HOST, "sa"))
    assert moved(liked, there) == ("sa", {ZONE: ("b",)})


@pytest.mark.parametrize(("priority", "why"), [(0, ""), (-1, "NoRoomOnSpot")])
def test_none_asks_for_a_spot_node_where_others_would_be_preempted(priority: int, why: str) -> None:
    there = cluster("oa", "sa", full="sa")
    found = web("oa", "oa", nodes=there)
    other = builders.pod("other", node="sa")
    other = msgspec.structs.replace(
        other, spec=msgspec.structs.replace(other.spec, priority=priority)
    )
    seen = msgspec.structs.replace(
        snapshot(found, nodes=there, rest=SpotRest()), pods=[*found.pods, other]
    )
    made = plan(seen)
    assert [each.reason for each in made.left] == ([why] if why else [])
    assert bool(made.steps) is not bool(why)


def test_an_ordinal_of_a_floor_is_told_where_it_may_not_be() -> None:
    there = cluster("oa", "ob", "sa", "sb")
    db = candidate(stateful_set(2, "all"), "sb", "sa", nodes=there)
    assert moved(db, there) == ("sa", {ZONE: ("b",)})


def test_an_ordinal_that_its_owner_updates_stays_although_only_it_has_a_place() -> None:
    there = cluster("oa", "ob", "sb")
    made = stateful_set(2, "none")
    on_delete = msgspec.structs.replace(
        made.spec, update_strategy=StatefulSetStrategy(type="OnDelete")
    )
    status = StatefulSetStatus(update_revision="new")
    made = msgspec.structs.replace(made, spec=on_delete, status=status)
    first, second = pods_of(made, "ob", "oa")
    labels = {**first.metadata.labels, names.REVISION_HASH: "old"}
    metadata = msgspec.structs.replace(first.metadata, labels=labels)
    old = msgspec.structs.replace(first, metadata=metadata)
    assert reason(candidate(made, pods=[old, second], nodes=there), nodes=there) == "UpdateOnDelete"


def test_a_sentence_names_few() -> None:
    assert told({ZONE: ("a", "b"), HOST: ("n1",)}) == "a, b, n1"
    assert told({ZONE: ("a", "b"), HOST: ("n1", "n2")}) == "a, b, n1 and 1 more"
