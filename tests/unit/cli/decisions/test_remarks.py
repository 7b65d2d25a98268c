"""What is said of a workload: of its floor, of evictions that wait, and of its pools."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.decisions.floor.source import FloorOf, Source
from evenkeel.decisions.floor.standing import Movable, Standing, stand
from evenkeel.decisions.pools.spread import Spread
from evenkeel.decisions.restore.snapshot import Candidate
from evenkeel.decisions.room.fleet import Fleet
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.model import names
from evenkeel.model.affinity import NewPodSpec, TopologySpread
from evenkeel.model.capacity import WELL_KNOWN
from evenkeel.model.deployment import Deployment
from evenkeel.model.floor import ALL, MAJORITY_OF_ALL, NONE, Floor, Unit
from evenkeel.model.meta import LabelSelector
from evenkeel.model.names import TEMPLATE_HASH as HASH
from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool
from evenkeel.model.release import ReleaseReason
from evenkeel_cli.decisions.remarks import (
    Remark,
    of_domains,
    of_few_domains,
    of_floor_beside,
    of_policy,
    of_pools,
    of_spreads,
    of_standing,
)
from evenkeel_cli.decisions.waiting import waiting
from tests.kit import builders
from tests.unit.decisions.floor.standings import (
    FLEET,
    REPLICA_SET,
    TWO,
    pods,
    standing,
)

A, B = Pool("m5.large", "a"), Pool("m5.large", "b")


def said(found: Standing) -> Sequence[Remark]:
    return of_standing(found, ())


def reasons(found: Standing) -> list[str]:
    return [remark.reason for remark in said(found)]


def test_nothing_is_off_when_the_floor_stands_and_the_rest_is_on_spot() -> None:
    found = standing(TWO, pods(2, 1))
    assert (found.missing, found.surplus, said(found)) == (0, 0, [])


@pytest.mark.parametrize(
    ("floor", "groups", "managed", "expected"),
    [
        (TWO, pods(1, 2), True, "BelowFloor"),
        (TWO, pods(1, 2), False, "NotManaged"),
        (TWO, pods(1, 1, 1), True, "NoRoom"),
        (TWO, pods(1, 1) + builders.pods(1, node="", ready=False), True, "NoRoom"),
        (ALL, pods(3, ready=False), True, "FloorNotReady"),
        (MAJORITY_OF_ALL, pods(3), True, "AboveFloor"),
    ],
)
def test_what_is_off_is_said(
    floor: Floor, groups: Sequence[Pod], expected: str, *, managed: bool
) -> None:
    found = standing(floor, groups, managed=managed)
    assert reasons(found) == [expected]


@pytest.mark.parametrize("managed", [True, False])
def test_what_a_default_floor_misses_is_said_and_no_alarm(*, managed: bool) -> None:
    db = builders.stateful_set(replicas=3)
    floor = FloorOf(MAJORITY_OF_ALL, Source.DEFAULT)

    def stood(placed: Sequence[Pod]) -> Standing:
        return stand(db, floor, placed, FLEET.capacities, is_managed=managed)

    (remark,) = said(stood(pods(0, 3)))
    assert (remark.reason, remark.brief, remark.warning) == (
        "DefaultFloor",
        "2 below its default floor",
        False,
    )
    holds = "none is moved" if managed else "in a namespace that is not managed nothing heeds it"
    assert f"{holds}. Set evenkeel.dev/on-demand" in remark.message
    assert ("new pods prefer on-demand" in remark.message) == managed
    (remark,) = said(stood(pods(3, ready=False)))
    assert (remark.reason, remark.warning) == ("FloorNotReady", False)
    assert said(stood(pods(3))) == []


@pytest.mark.parametrize("source", [Source.WORKLOAD, Source.DEFAULT])
def test_nothing_is_said_of_a_namespace_that_was_not_seen(source: Source) -> None:
    """What its workload asks for itself is known all the same."""
    found = stand(
        builders.stateful_set(replicas=3),
        FloorOf(MAJORITY_OF_ALL, source),
        pods(0, 3),
        FLEET.capacities,
        is_managed=False,
    )
    messages = [each.message for each in of_standing(found, (), unseen=True)]
    is_asked = source is Source.WORKLOAD
    assert messages == ["2 of its floor of 2 are not on on-demand nodes"] * is_asked


def test_the_schedulers_word_is_passed_on() -> None:
    (remark,) = said(standing(TWO, pods(1, 1, 1)))
    assert remark.brief == "1 below its floor"
    assert remark.message == (
        "1 of its floor of 2 is not on on-demand nodes; 1 of its pods waits for a"
        " node (0/2 nodes are available): add on-demand capacity"
    )


@pytest.mark.parametrize(
    ("why", "reason", "advice"),
    [
        ("", "NoRoom", ": add on-demand capacity"),
        ("0/2 nodes are available: 2 Insufficient cpu.", "NoRoom", ": add on-demand capacity"),
        ("0/2 nodes are available: pod has unbound immediate Persist", "PodsWait", ""),
        ("Scheduling is blocked due to non-empty scheduling gates", "PodsWait", ""),
    ],
    ids=["not looked at", "no room", "claim unbound", "gated"],
)
def test_capacity_is_asked_for_where_pods_wait_for_that(why: str, reason: str, advice: str) -> None:
    found = msgspec.structs.replace(standing(TWO, pods(1, 1, 1)), why_waiting=why)
    (remark,) = said(found)
    told = f" ({why.rstrip('.')})" if why else ""
    assert remark.reason == reason
    assert remark.message == (
        "1 of its floor of 2 is not on on-demand nodes; 1 of its pods waits for a node"
        f"{told}{advice}"
    )


def test_pods_on_on_demand_nodes_are_no_surplus_where_pods_are_not_placed() -> None:
    assert said(standing(NONE, pods(3), managed=False)) == []


def test_a_move_and_a_floor_that_cannot_be_read_are_told() -> None:
    released = builders.pods(
        2, prefix="r", node="s1", of=REPLICA_SET, released=builders.release(REPLICA_SET)
    )
    found = standing(NONE, pods(spot=3), released, problem="'half' is no floor")
    assert [(each.reason, each.warning) for each in said(found)] == [
        ("FloorUnreadable", True),
        ("Moving", False),
    ]


def test_no_move_is_announced_where_a_template_places_the_pods() -> None:
    notes = {names.PLACEMENT: names.BY_TEMPLATE}
    workload = builders.deployment(replicas=3, annotations=notes)
    floor = FloorOf(TWO, Source.WORKLOAD)
    below, above = (
        stand(workload, floor, placed, FLEET.capacities, is_managed=True)
        for placed in (pods(1, 2), pods(3))
    )
    (remark,) = said(below)
    assert remark.reason == "BelowFloor"
    assert "its template places its pods" in remark.message
    assert said(above) == []


@pytest.mark.parametrize(("number", "brief"), [(1, "1 eviction waits"), (2, "2 evictions wait")])
def test_evictions_that_wait_at_the_gate_are_told(number: int, brief: str) -> None:
    asked = builders.release(REPLICA_SET, reason=ReleaseReason.EVICTION)
    asked_for = builders.pods(number, prefix="r", node="s1", of=REPLICA_SET, released=asked)
    evictions = [each for each in map(waiting, asked_for) if each is not None]
    found = of_standing(standing(NONE, pods(spot=3), asked_for), evictions)
    (remark,) = [each for each in found if each.reason == "EvictionsWait"]
    assert remark.brief == brief
    assert not remark.warning


def of_pool(held: dict[Pool, int], goal: int, pools: int) -> list[str]:
    return [each.reason for each in of_pools(standing(NONE), Spread({}, held), goal, lambda: pools)]


def test_a_pool_with_more_than_its_goal_is_named() -> None:
    assert of_pool({}, 1, 0) == []
    assert of_pool({A: 2, B: 2}, 2, 2) == []
    (remark,) = of_pools(standing(NONE), Spread({}, {A: 1, B: 3}), 2, lambda: 2)
    assert (remark.reason, remark.brief, remark.warning) == ("PoolTooFull", "pool too full", True)
    assert remark.message.startswith(
        "3 of its pods are in one pool (m5.large in b), which is to have 2 at most"
    )


WEB = builders.deployment()
OF_THE_CLUSTER = builders.deployment(namespace="kube-system")
BY_TEMPLATE = builders.deployment(annotations={names.PLACEMENT: names.BY_TEMPLATE})


@pytest.mark.parametrize(
    ("workload", "is_managed", "in_gang", "told"),
    [
        (WEB, True, False, "new pods rather go to others, and restore moves a pod at a time"),
        (WEB, False, False, "its namespace is not managed: nothing moves"),
        (BY_TEMPLATE, True, False, "its template places its pods: nothing moves"),
        (OF_THE_CLUSTER, True, False, "nothing moves in this namespace"),
        (WEB, True, True, "others, and the pods of a gang stay"),
        (builders.stateful_set(), True, False, "others, and the pods of a StatefulSet stay"),
    ],
)
def test_what_moves_out_of_a_pool_with_too_many_is_told(
    workload: Movable, told: str, *, is_managed: bool, in_gang: bool
) -> None:
    floor = FloorOf(NONE, Source.WORKLOAD)
    stands = stand(workload, floor, (), FLEET.capacities, is_managed=is_managed)
    (remark,) = of_pools(stands, Spread({}, {A: 1, B: 3}), 2, lambda: 2, in_gang=in_gang)
    assert remark.message.endswith(told)


def test_what_moves_is_not_told_where_nothing_is_known_of_its_namespace() -> None:
    full = Spread({}, {A: 1, B: 3})
    (remark,) = of_pools(standing(NONE), full, 2, lambda: 2, unseen=True)
    assert remark.message.endswith("which is to have 2 at most")


def test_pools_are_counted_only_where_one_has_more_than_its_goal() -> None:
    counted: list[int] = []

    def count() -> int:
        counted.append(2)
        return 2

    assert of_pools(standing(NONE), Spread({}, {A: 2, B: 2}), 2, count) == []
    assert counted == []
    assert of_pools(standing(NONE), Spread({}, {A: 3, B: 1}), 2, count)
    assert counted == [2]


def test_where_there_are_too_few_pools_that_is_said_instead() -> None:
    (remark,) = of_pools(standing(NONE), Spread({}, {A: 3, B: 4}), 2, lambda: 3)
    assert (remark.reason, remark.warning) == ("PoolsTooFew", True)
    assert remark.message == (
        "its 7 pods on spot need 4 pools to have 2 at most in each, and 3 can take them: add"
        " instance types or zones"
    )


@given(st.lists(st.integers(1, 9), max_size=5), st.integers(1, 9), st.integers(0, 9))
def test_pools_are_too_few_where_no_way_to_share_the_pods_keeps_the_goal(
    held: list[int], goal: int, pools: int
) -> None:
    """Filling one pool after the other to its goal leaves no pod if any way does."""
    found = of_pool({Pool(str(i)): pods for i, pods in enumerate(held)}, goal, pools)
    left = sum(held)
    for _ in range(pools):
        left -= min(left, goal)
    if all(pods <= goal for pods in held):
        assert found == []
    else:
        assert found == ["PoolsTooFew" if left else "PoolTooFull"]


def spread_over(key: str, taints: str | None = None) -> TopologySpread:
    return TopologySpread(
        max_skew=1,
        topology_key=key,
        when_unsatisfiable="DoNotSchedule",
        label_selector=LabelSelector(match_labels={"app": "web"}),
        node_taints_policy=taints,
    )


SPREAD = NewPodSpec(topology_spread_constraints=(spread_over("zone"),))
ON_SPOT = msgspec.structs.replace(SPREAD, node_selector={"karpenter.sh/capacity-type": "spot"})
NOT_BY_WEBHOOK = {names.PLACEMENT: names.BY_TEMPLATE}
WHAT = "counts pods that are handed over, so that a drain leaves it uneven: add"
UPSET = f"its hard spread over zone {WHAT} nodeTaintsPolicy: Honor and matchLabelKeys: [{HASH}]"


def candidate_of(
    workload: Movable, source: Source = Source.WORKLOAD, *, managed: bool = True, **fields: Any
) -> Candidate:
    floor = FloorOf(NONE, source)
    standing = stand(workload, floor, (), FLEET.capacities, is_managed=managed)
    return Candidate(workload=workload, standing=standing, fleet=FLEET, **fields)


def spreads_of(workload: Movable, *, managed: bool, by_policy: bool = False) -> Sequence[Remark]:
    return of_spreads(candidate_of(workload, managed=managed, by_policy=by_policy), WELL_KNOWN)


@pytest.mark.parametrize("source", [Source.NAMESPACE, Source.DEFAULT])
def test_what_the_policy_cannot_tell_is_a_risk_where_somebody_asked_for_a_floor(
    source: Source,
) -> None:
    asked = {names.ON_DEMAND: "none"} if source is Source.NAMESPACE else {}
    notes = {names.ONE_POOL_AT_MOST: "30%"} | asked
    (remark,) = of_policy(candidate_of(builders.deployment(), source, of_namespace=notes))
    assert (remark.reason, remark.message) == (
        "PolicyCannotTell",
        "evenkeel.dev/one-pool-at-most is not kept: the policy knows no pools",
    )
    assert remark.warning is bool(asked)


def test_where_nothing_is_placed_or_all_is_told_there_is_no_such_remark() -> None:
    assert not of_policy(candidate_of(builders.deployment(), Source.DEFAULT))
    notes = {names.ONE_POOL_AT_MOST: "30%"}
    assert not of_policy(candidate_of(builders.deployment(), managed=False, of_namespace=notes))


@pytest.mark.parametrize(
    ("rules", "notes", "managed", "by_policy"),
    [
        pytest.param(SPREAD, {}, False, False, id="its namespace is not managed"),
        pytest.param(SPREAD, NOT_BY_WEBHOOK, True, False, id="its template places its pods"),
        pytest.param(SPREAD, {}, True, True, id="the policy places its pods"),
        pytest.param(ON_SPOT, {}, True, False, id="its own rules exclude a capacity type"),
    ],
)
def test_a_spread_is_told_to_which_the_webhook_adds_nothing(
    rules: NewPodSpec, notes: dict[str, str], *, managed: bool, by_policy: bool
) -> None:
    made = builders.deployment(annotations=notes)
    (remark,) = spreads_of(with_rules(made, rules), managed=managed, by_policy=by_policy)
    assert (remark.reason, remark.message, remark.warning) == (
        "SpreadCountsReleased",
        UPSET,
        False,
    )


def test_each_spread_says_what_it_lacks() -> None:
    several = (
        spread_over("zone"),
        spread_over("rack", "Honor"),
        spread_over("hall", "Ignore"),
    )
    rules = NewPodSpec(topology_spread_constraints=several)
    (remark,) = spreads_of(with_rules(builders.deployment(), rules), managed=False)
    assert remark.message == f"{UPSET}; its hard spread over hall {WHAT} matchLabelKeys: [{HASH}]"


@pytest.mark.parametrize(
    ("workload", "managed"),
    [
        pytest.param(builders.deployment(), False, id="it has none"),
        pytest.param(builders.stateful_set(), False, id="its pods are not handed over"),
    ],
)
def test_of_other_spreads_nothing_is_said(workload: Movable, *, managed: bool) -> None:
    assert spreads_of(workload, managed=managed) == []


def test_nothing_is_said_of_a_spread_to_which_the_webhook_adds_what_it_lacks() -> None:
    assert spreads_of(with_rules(builders.deployment(), SPREAD), managed=True) == []


@pytest.mark.parametrize(
    ("when", "wanted", "told"),
    [
        ("DoNotSchedule", 3, True),
        ("DoNotSchedule", 1, False),
        ("DoNotSchedule", None, False),
        ("ScheduleAnyway", None, False),
    ],
)
def test_it_is_said_why_a_spread_that_wants_several_domains_is_left(
    when: str, wanted: int | None, *, told: bool
) -> None:
    spread = msgspec.structs.replace(
        spread_over("zone"), when_unsatisfiable=when, min_domains=wanted
    )
    rules = NewPodSpec(topology_spread_constraints=(spread,))
    assert of_domains(spread).startswith("its hard spread over zone wants 3 domains") is told
    if told:
        assert spreads_of(with_rules(builders.deployment(), rules), managed=False) == []


def with_rules(workload: Deployment, rules: NewPodSpec) -> Deployment:
    template = msgspec.structs.replace(workload.spec.template, spec=rules)
    spec = msgspec.structs.replace(workload.spec, template=template)
    return msgspec.structs.replace(workload, spec=spec)


THREE = Floor(Unit.REPLICAS, 3)
SOFT: Any = {"when_unsatisfiable": "ScheduleAnyway"}
OVER_TYPES: Any = {"topology_key": names.EKS_CAPACITY}
COUNTS_ALL: Any = {"node_affinity_policy": "Ignore"}
START = "its pods are spread hard over zone, and on-demand nodes are in"
MEND = "; add on-demand nodes in others, or ask for a lower floor"


def of_six(zones: str, floor: Floor, notes: dict[str, str] | None = None, **said: Any) -> Candidate:
    """Six pods over three zones with spot nodes, of which these have on-demand nodes, too."""
    nodes = [builders.node(f"s{zone}", labels={"zone": zone}) for zone in "abc"]
    nodes += [builders.node(f"o{zone}", spot=False, labels={"zone": zone}) for zone in zones]
    nodes += [builders.node("elsewhere", spot=False)]
    fleet = Fleet(
        {node.name: node for node in nodes if zones or node.name[0] == "s"}, frozenset(), {}
    )
    source = FloorOf(floor, said.pop("source", Source.WORKLOAD))
    managed = said.pop("managed", True)
    spread = msgspec.structs.replace(spread_over("zone"), **said)
    made = builders.deployment(replicas=6, annotations=notes)
    web = with_rules(made, NewPodSpec(topology_spread_constraints=(spread,)))
    standing = stand(web, source, (), fleet.capacities, is_managed=managed)
    return Candidate(workload=web, standing=standing, fleet=fleet)


@pytest.mark.parametrize(
    ("candidate", "told"),
    [
        pytest.param(
            of_six("a", ALL),
            f"{START} 1 of 3 domains: new pods of its floor of 6 count these alone, so that one may"
            f" get 6 of its pods, without a floor 2{MEND}",
            id="one zone gets all",
        ),
        pytest.param(
            of_six("ab", THREE, min_domains=3),
            f"{START} 2 of 3 domains: these take 2 of its floor of 3, and the others wait"
            f" until restore lets them go to spot{MEND}",
            id="fewer than minDomains",
        ),
        pytest.param(
            of_six("ab", ALL, **COUNTS_ALL),
            f"{START} 2 of 3 domains: these take 4 of its floor of 6, and the others wait"
            f" until restore lets them go to spot{MEND}",
            id="all nodes count",
        ),
        pytest.param(of_six("ab", ALL, max_skew=2), "", id="it may be less even"),
        pytest.param(of_six("a", TWO), "", id="a zone has as many as the others"),
        pytest.param(of_six("ab", TWO, min_domains=3), "", id="each has a place"),
        pytest.param(of_six("ab", THREE, **COUNTS_ALL), "", id="all count, and there is a place"),
        pytest.param(of_six("abc", ALL), "", id="all zones have some"),
        pytest.param(of_six("", ALL), "", id="there are none"),
        pytest.param(of_six("a", NONE), "", id="there is no floor"),
        pytest.param(of_six("a", ALL, source=Source.DEFAULT), "", id="its floor is a default"),
        pytest.param(of_six("a", ALL, managed=False), "", id="its namespace is not managed"),
        pytest.param(of_six("a", ALL, NOT_BY_WEBHOOK), "", id="its template places its pods"),
        pytest.param(of_six("a", ALL, **SOFT), "", id="it is soft"),
        pytest.param(of_six("a", ALL, **OVER_TYPES), "", id="it is a ratio"),
    ],
)
def test_a_floor_that_a_hard_spread_contradicts_is_told(candidate: Candidate, told: str) -> None:
    found = of_few_domains(candidate, Rooms(candidate.fleet))
    assert [each.message for each in found] == [told] * bool(told)
    assert all((each.reason, each.warning) == ("FloorInFewDomains", True) for each in found)


@pytest.mark.parametrize(("fields", "told"), [({}, True), (SOFT, False), (OVER_TYPES, False)])
def test_what_a_floor_needs_beside_a_hard_spread_is_told(
    fields: dict[str, str], *, told: bool
) -> None:
    spread = msgspec.structs.replace(spread_over("zone"), **fields)
    assert bool(of_floor_beside(spread)) is told
