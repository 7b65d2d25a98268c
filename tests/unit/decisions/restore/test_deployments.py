"""One pod of a Deployment moves, or there is a reason why none does."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.placement.clauses import not_spot
from evenkeel.decisions.restore.snapshot import Candidate
from evenkeel.decisions.restore.step import RestoreStep
from evenkeel.errors import InvalidError
from evenkeel.model import names
from evenkeel.model.affinity import NewAffinity, NodeAffinity, NodeSelector, NodeSelectorTerm
from evenkeel.model.capacity import WELL_KNOWN, Capacity
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.decision import Verb
from evenkeel.model.deployment import Deployment
from evenkeel.model.move import Restored, move_of, new_move
from evenkeel.model.node import Node, NodeMetadata, Taint
from evenkeel.model.placement import Placed
from evenkeel.model.pod import Pod
from evenkeel.model.release import ReleaseReason
from evenkeel.model.request import Create, Patch
from evenkeel.model.spot_rest import SpotRest
from tests.kit import builders
from tests.kit.builders import NOW, metadata, patched, release_on, seconds
from tests.unit.decisions.restore.candidates import (
    ON_DEMAND,
    SPOT,
    candidate,
    deployment,
    fleet,
    node,
    outcome,
    pods_of,
    reason,
    replica_set,
    restored,
    step,
    with_rules,
)


def moved(*places: str, floor: str = "1", **options: Any) -> tuple[str, Capacity | None]:
    """The pod that moves and where to, of a workload with pods on these nodes."""
    made = step(candidate(deployment(len(places), floor), *places, **options))
    assert made.moves
    lease = made.before[0]
    assert isinstance(lease, Create)
    assert isinstance(lease.object, Lease)
    found = move_of(lease.object)
    return made.decision.subject.name, found.target if found is not None else None


def test_what_is_above_its_floor_goes_to_spot() -> None:
    assert moved("o1", "o2", "s1") == ("web-0", SPOT)


def test_a_missing_floor_goes_to_on_demand() -> None:
    assert moved("s1", "s2", "s1") == ("web-0", ON_DEMAND)


def test_all_as_wanted_is_a_decision_too() -> None:
    assert reason(candidate(deployment(3, "1"), "o1", "s1", "s2")) == "AsWanted"
    assert reason(candidate(deployment(2, "all"), "o1", "o2")) == "AsWanted"


def test_the_release_says_what_the_reconciler_has_to_know() -> None:
    web = deployment(4, "1")
    pods = pods_of(web, "o1", "o2", "s1", "s2")
    keep = {names.DO_NOT_DISRUPT: "no"}
    pods[0] = msgspec.structs.replace(
        pods[0], metadata=msgspec.structs.replace(pods[0].metadata, annotations=keep)
    )
    made = step(candidate(web, pods=pods), patience=timedelta(minutes=3))
    assert made.decision.verb is Verb.RELEASE
    release = release_on(patched(pods[0], made.decision.write))
    assert release.reason is ReleaseReason.RESTORE
    assert release.makes_sense
    assert (release.target, release.there, release.wanted) == (SPOT, 2, 4)
    assert (release.since, release.deadline) == (NOW, NOW + timedelta(minutes=3))
    assert release.do_not_disrupt == "no"
    assert made.decision.until == release.deadline


def test_what_is_on_its_way_is_worth_keeping_and_what_is_broken_is_not() -> None:
    web = deployment(3, "1")
    pods = pods_of(web, "o1", "o2", "s1")
    pods[2] = builders.pod("web-2", of=replica_set(web), node="s1", ready=False)
    made = step(candidate(web, pods=pods))
    assert release_on(patched(pods[0], made.decision.write)).wanted == 2


def test_its_workload_notes_what_was_moved() -> None:
    web = deployment(3, "1")
    made = step(candidate(web, "o1", "o2", "s1"))
    (note,) = made.after
    assert Restored.of(patched(web, note)) == Restored(
        at=NOW, target=SPOT, pod="web-0", spot=2, most=1
    )
    made = step(candidate(web, "s1", "s2", "s2"))
    (note,) = made.after
    assert Restored.of(patched(web, note)) == Restored(
        at=NOW, target=ON_DEMAND, pod="web-0", spot=2, most=2
    )


def test_the_webhook_is_told_before_the_pod_is_released() -> None:
    made = step(candidate(deployment(2, "1"), "o1", "o2"))
    (told,) = made.before
    assert isinstance(told, Create)
    assert isinstance(told.object, Lease)
    move = move_of(told.object)
    assert move is not None
    assert (move.pod_uid, move.pod_name) == ("web-0-uid", "web-0")
    assert move.until == NOW + timedelta(minutes=5)


def test_the_last_moves_lease_is_taken_over_and_only_by_one() -> None:
    web = deployment(2, "1")
    owner = replica_set(web)
    before = builders.pod("before").reference
    lease = new_move(owner.reference, before, ON_DEMAND, NOW - seconds(900), NOW - seconds(600))
    stored = msgspec.structs.replace(
        lease,
        metadata=msgspec.structs.replace(
            lease.metadata,
            uid="lease-uid",
            resource_version="7",
            annotations=lease.metadata.annotations | {names.TAKEN_BY: "somebody"},
        ),
    )
    last = move_of(stored)
    assert last is not None
    assert (last.taken_by, last.is_open(NOW)) == ("somebody", False)
    (told,) = step(candidate(web, "o1", "o2", moves={owner.uid: last})).before
    assert isinstance(told, Patch)
    renewed = move_of(patched(stored, told))
    assert renewed is not None
    assert (renewed.pod_uid, renewed.target, renewed.taken_by) == ("web-0-uid", SPOT, "")
    newer = msgspec.structs.replace(
        stored, metadata=msgspec.structs.replace(stored.metadata, resource_version="8")
    )
    with pytest.raises(InvalidError):
        patched(newer, told)


def test_a_pod_that_does_not_ask_to_be_there_goes_first_then_the_youngest() -> None:
    web = deployment(3, "1")
    owner = replica_set(web)

    def pod(name: str, age: float, capacity: Capacity = SPOT) -> Pod:
        return builders.pod(
            name,
            of=owner,
            node="o1",
            labels={names.CAPACITY: capacity.value},
            creation_timestamp=NOW - seconds(age),
        )

    pods = [pod("a", 10, ON_DEMAND), pod("b", 30), pod("c", 20)]
    assert step(candidate(web, pods=pods)).decision.subject.name == "c"


def test_a_pod_whose_owner_forbids_it_is_passed_over() -> None:
    web = deployment(3, "1")
    kept = {"annotations": {names.SAFE_TO_EVICT: "false"}}
    pods = [*pods_of(web, "o1", "o1", **kept), builders.pod("z", of=replica_set(web), node="o2")]
    assert step(candidate(web, pods=pods)).decision.subject.name == "z"
    assert reason(candidate(web, pods=pods_of(web, "o1", "o1", "o1", **kept))) == "Protected"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"strategy": "Recreate"}, "Recreate"),
        ({"max_surge": 0}, "NoSurge"),
        ({"notes": {names.HANDOVER: "never"}}, "HandoverNever"),
        ({"notes": {names.DO_NOT_DISRUPT: "true"}}, "Protected"),
        ({"notes": {names.DO_NOT_DISRUPT: "4h"}}, "Protected"),
    ],
)
def test_what_cannot_or_must_not_be_handed_over_is_left(options: dict[str, Any], why: str) -> None:
    assert reason(candidate(deployment(3, "1", **options), "o1", "o2", "s1")) == why


def test_a_pod_that_was_not_to_be_disrupted_for_a_while_moves_after_it() -> None:
    web = deployment(3, "1", notes={names.DO_NOT_DISRUPT: "30m"})
    assert step(candidate(web, "o1", "o2", "s1")).moves


def test_a_volume_that_one_node_mounts_is_left() -> None:
    web = deployment(1, "none")
    around = NamespaceObjects(claims=[builders.claim("data")])
    pods = pods_of(web, "o1", claim="data")
    assert reason(candidate(web, pods=pods, around=around)) == "SingleNodeVolume"


@pytest.mark.parametrize(
    "budget",
    [
        builders.budget(max_unavailable=0),
        builders.budget(min_available="100%"),
        builders.budget(min_available=2, healthy=1, demanded=2),
    ],
    ids=["none at all", "all of them", "in trouble"],
)
def test_a_budget_without_room_is_left_alone(budget: Any) -> None:
    around = NamespaceObjects(budgets=[budget])
    assert reason(candidate(deployment(3, "1"), "o1", "o2", "s1", around=around)) == "BudgetHolds"
    assert reason(candidate(deployment(3, "1"), "s1", "s2", "s1", around=around)) == "BudgetHolds"


def test_a_budget_of_one_that_only_a_replacement_opens_is_no_hindrance() -> None:
    around = NamespaceObjects(budgets=[builders.budget(min_available=2, healthy=2, demanded=2)])
    assert step(candidate(deployment(2, "1"), "o1", "o2", around=around)).moves


def test_one_that_cannot_be_replaced_is_left() -> None:
    web = deployment(2, "1")
    owners = [replica_set(web, failure="quota")]
    assert reason(candidate(web, "o1", "o2", replica_sets=owners)) == "CannotBeReplaced"


def test_the_floor_has_to_be_ready_without_it() -> None:
    web = deployment(3, "1")
    owner = replica_set(web)
    pods = [
        builders.pod("a", of=owner, node="o1", creation_timestamp=NOW),
        builders.pod("b", of=owner, node="o2", ready=False),
        builders.pod("c", of=owner, node="s1"),
    ]
    assert reason(candidate(web, pods=pods)) == "FloorNotReady"
    broken_goes = [pods[0], pods[1], pods[2]]
    broken_goes[0] = builders.pod("a", of=owner, node="o1")
    broken_goes[1] = builders.pod("b", of=owner, node="o2", ready=False, creation_timestamp=NOW)
    assert step(candidate(web, pods=broken_goes)).decision.subject.name == "b"


def test_a_pod_on_a_node_that_no_ec2_instance_runs_stays_and_another_goes() -> None:
    hybrid = Node(
        metadata=NodeMetadata(name="h1", labels={names.EKS_COMPUTE: "hybrid"}),
        status=node("x").status,
    )
    nodes = fleet(hybrid, node("o1"), node("s1"))
    web = candidate(deployment(3, "1"), "h1", "o1", "o1", nodes=nodes)
    assert step(web, nodes=nodes).decision.subject.name != "web-0"
    all_there = candidate(deployment(2, "1"), "h1", "h1", nodes=nodes)
    assert reason(all_there, nodes=nodes) == "NotOnEc2"


def test_pods_of_another_scheduler_stay_unless_somebody_asks_for_a_floor() -> None:
    of_fargate = with_rules(deployment(2, "2"), schedulerName=names.FARGATE_SCHEDULER)
    assert reason(candidate(of_fargate, "s1", "s1")) == "OtherScheduler"
    asked, default = (with_rules(deployment(2, floor), schedulerName="x") for floor in ("2", ""))
    assert step(candidate(asked, "s1", "s1")).moves
    assert reason(candidate(default, "o1", "o1")) == "OtherScheduler"


def test_without_room_on_spot_it_stays_where_not_all_moves_are_looked_at() -> None:
    full = fleet(node("o1"), node("s1", {"cpu": "4", "pods": "0"}))
    assert (
        reason(candidate(deployment(2, "1"), "o1", "o1", nodes=full), nodes=full) == "NoRoomOnSpot"
    )


def test_a_missing_floor_is_tried_for_without_room_too() -> None:
    """A node may be made for it."""
    no_on_demand = fleet(node("s1"))
    web = candidate(deployment(2, "1"), "s1", "s1", nodes=no_on_demand)
    assert step(web, nodes=no_on_demand).moves


def test_it_stays_where_its_own_rules_keep_it() -> None:
    key = names.CAPACITY_LABELS[-1]
    web = with_rules(deployment(2, "1"), nodeSelector={key: "on-demand"})
    assert reason(candidate(web, "o1", "o2")) == "OwnRules"


def test_that_there_is_no_pod_to_move_is_said() -> None:
    """Its standing is older than its pods: they may have gone meanwhile."""
    web = deployment(2, "1")
    stale = candidate(web, "o1", "o1")
    moved = msgspec.structs.replace(stale, pods=pods_of(web, "s1", "s1"))
    assert reason(moved) == "NobodyToMove"


def test_others_namespaces_are_left() -> None:
    assert reason(candidate(deployment(2, "1"), "o1", "o2", is_managed=False)) == "NotManaged"
    of_cluster = deployment(2, "1", namespace="kube-system")
    assert reason(candidate(of_cluster, "o1", "o2")) == "SystemNamespace"


def test_one_that_is_scaled_to_zero_is_left() -> None:
    assert reason(candidate(deployment(0, "1"))) == "ScaledToZero"


def test_one_move_at_a_time_also_beside_a_notices_handover() -> None:
    web = deployment(3, "1")
    owner = replica_set(web)
    going = builders.pod("going", of=owner, node="o2", released=builders.release(owner))
    assert reason(candidate(web, pods=[*pods_of(web, "o1", "o2", "s1"), going])) == "Moving"


def test_what_another_run_is_about_to_release_is_left_to_it() -> None:
    web = deployment(2, "1")
    owner = replica_set(web)

    def told(pod: str, ago: float) -> str:
        at = NOW - seconds(ago)
        named = builders.pod(pod).reference
        move = move_of(new_move(owner.reference, named, SPOT, at, at + seconds(300)))
        assert move is not None
        found = outcome(candidate(web, "o1", "o2", moves={owner.uid: move}))
        return "moves" if isinstance(found, RestoreStep) else found.reason

    assert told("web-1", 29) == "Moving"
    assert told("web-1", 30) == "moves"
    assert told("gone", 0) == "moves"


def test_a_doomed_node_is_the_reconcilers() -> None:
    nodes = fleet(doomed=["s1"])
    web = candidate(deployment(3, "1"), "o1", "o2", "s1", nodes=nodes)
    assert reason(web, nodes=nodes) == "NodeDoomed"


def rolling(web: Deployment) -> list[Any]:
    return [replica_set(web), replica_set(web, name="web-old", template_hash="old", replicas=1)]


def changed(web: Deployment, **spec: Any) -> Deployment:
    return msgspec.structs.replace(web, spec=msgspec.structs.replace(web.spec, **spec))


def test_a_rollout_is_waited_for() -> None:
    web = deployment(3, "1")
    places = ("o1", "o2", "s1")
    assert reason(candidate(web, *places, replica_sets=rolling(web))) == "InRollout"
    scaled = [replica_set(web, replicas=5)]
    assert reason(candidate(web, *places, replica_sets=scaled)) == "InRollout"
    unseen = msgspec.structs.replace(
        web, metadata=metadata("web", generation=2, annotations=web.metadata.annotations)
    )
    assert reason(candidate(unseen, *places)) == "InRollout"
    assert reason(candidate(changed(web, paused=True), *places)) == "RolloutPaused"


def test_an_old_replica_set_without_pods_is_no_rollout() -> None:
    web = deployment(3, "1")
    old = replica_set(web, name="web-old", template_hash="old", replicas=0)
    assert step(candidate(web, "o1", "o2", "s1", replica_sets=[old, replica_set(web)])).moves


def test_pods_without_a_node_are_waited_for() -> None:
    assert reason(candidate(deployment(4, "1"), "o1", "o2", "s1", "")) == "PodsWait"


KEPT_OFF = Taint(key="spot", value="true", effect="NoSchedule")


def left(candidate: Candidate, **options: Any) -> tuple[str, str]:
    found = outcome(candidate, **options)
    assert not isinstance(found, RestoreStep), found.decision.message
    return found.reason, found.message


def test_where_no_spot_node_takes_its_pod_none_is_asked_for() -> None:
    nodes = fleet(node("o1"), *(node(name, taints=[KEPT_OFF]) for name in ("s1", "s2")))
    for rest in (None, SpotRest()):
        assert left(candidate(deployment(2, "1"), "o1", "o1"), nodes=nodes, rest=rest) == (
            "NoNodeTakesIt",
            "no spot node takes one of its pods: the taint spot=true:NoSchedule (2 nodes)",
        )


def test_without_any_spot_node_one_is_asked_for_and_that_is_said() -> None:
    nodes = fleet(node("o1"))
    web = candidate(deployment(2, "1"), "o1", "o1")
    told = "there is no spot node to tell whether one takes"
    assert left(web, nodes=nodes) == ("NoRoomOnSpot", f"{told} one of its pods")
    message = step(web, nodes=nodes, rest=SpotRest()).decision.message
    assert message.endswith(f"; {told} its replacement, which waits for one")


def test_a_floor_asks_once_for_a_node_where_none_that_is_there_takes_its_pod() -> None:
    """Yet not at all less because a move to spot failed."""
    nodes = fleet(node("o1", taints=[KEPT_OFF]), node("s1"))
    refused = "no on-demand node takes {}: the taint spot=true:NoSchedule (1 node)"
    message = step(candidate(deployment(2, "1"), "s1", "s1"), nodes=nodes).decision.message
    assert message.endswith(f"; {refused.format('its replacement')}, which waits for one")
    failed = builders.cooldown(1, NOW - seconds(60))
    again = deployment(2, "1", notes=failed | restored(ON_DEMAND))
    told = left(candidate(again, "s1", "s1"), nodes=nodes)
    assert told == ("NoNodeTakesIt", refused.format("one of its pods"))
    on_spot = deployment(2, "1", notes=failed | restored(SPOT))
    assert step(candidate(on_spot, "s1", "s1"), nodes=nodes).moves == 1


def test_the_pod_that_moves_counts_and_not_the_template() -> None:
    """A policy gave a selector to one of them, and rules that exclude spot to another."""
    web = deployment(3, "none")
    ssd, kept, free = pods_of(web, "o1", "o1", "o1")
    ssd = asking(ssd, node_selector={"disk": "ssd"})
    kept = asking(kept, node_selector={names.CAPACITY_LABELS[-1]: "on-demand"})
    assert step(candidate(web, pods=[kept, free])).decision.subject.name == free.name
    assert left(candidate(web, pods=[kept, kept]))[0] == "OwnRules"
    assert left(candidate(web, pods=[ssd, kept])) == (
        "NoNodeTakesIt",
        "no spot node takes one of its pods: its node selector disk=ssd (2 nodes)",
    )
    labelled = fleet(node("o1"), node("s1", labels={"disk": "ssd"}))
    assert step(candidate(web, pods=[ssd, kept]), nodes=labelled).moves == 1


def test_where_no_pod_lives_the_template_counts() -> None:
    ssd = with_rules(deployment(1, "none"), nodeSelector={"disk": "ssd"})
    assert candidate(ssd, pods=[]).rules() == ssd.spec.template.spec
    (pod,) = pods_of(ssd, "o1")
    hdd = asking(pod, node_selector={"disk": "hdd"})
    assert candidate(ssd, pods=[hdd]).rules().node_selector == {"disk": "hdd"}


def test_what_placement_added_keeps_no_pod_where_it_is() -> None:
    web = deployment(2, "none")
    added = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=NOT_SPOT),))
    affinity = NewAffinity(node_affinity=NodeAffinity(required=added))
    note = {names.PLACED: Placed(v=1, as_=ON_DEMAND, at=NOW).encode()}
    pods = [asking(each, affinity=affinity) for each in pods_of(web, "o1", "o1", annotations=note)]
    assert step(candidate(web, pods=pods)).moves == 1


NOT_SPOT = not_spot(WELL_KNOWN)


def asking(pod: Pod, **rules: Any) -> Pod:
    """A pod with other rules than its template's."""
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, **rules))
