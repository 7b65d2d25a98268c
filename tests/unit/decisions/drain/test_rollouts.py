"""What a Deployment can spare of a ReplicaSet's released pods while a rollout goes on."""

from datetime import datetime
from typing import Any

import msgspec
import pytest

from evenkeel.decisions.drain.budgets import kept_in_rollout
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.plan import Plan
from evenkeel.decisions.drain.plan import plan as decide
from evenkeel.model.decision import Verb
from tests.kit import builders
from tests.kit.builders import NOW, seconds

WARNING = builders.notice()
EVICT_BY = WARNING.deadline - seconds(31)
TRIED_UNTIL = WARNING.deadline + seconds(60)


def census(
    *,
    replicas: int,
    owned: int = 0,
    siblings: int | None = None,
    most_missing: int = 1,
    now: datetime = NOW,
) -> Census:
    """Two released pods of a ReplicaSet of this size, whose Deployment wants three."""
    deployment = builders.deployment(replicas=3, max_unavailable=most_missing)
    replica_set = builders.replica_set(of=deployment, replicas=replicas)
    release = builders.release(replica_set, wanted=3)
    counted = builders.census(
        replica_set,
        owned=builders.pods(owned, of=replica_set, node="n2"),
        released=builders.pods(2, of=replica_set, prefix="away", released=release),
        dooms={"n1": WARNING},
        deployment=deployment,
        now=now,
    )
    if siblings is None:
        return counted
    beside = builders.replica_set("beside", of=deployment)
    return msgspec.structs.replace(counted, siblings=builders.pods(siblings, of=beside, node="n2"))


def told(plan: Plan) -> list[tuple[str, Verb, str]]:
    steps = [*plan.evictions, *plan.steps]
    return [(each.subject.name, each.verb, each.reason) for each in steps]


@pytest.mark.parametrize(
    ("strategy", "kept"),
    [({"max_unavailable": 1}, 3), ({"max_unavailable": "50%"}, 2), ({"strategy": "Recreate"}, 0)],
)
def test_a_rollout_leaves_what_its_strategy_says(strategy: dict[str, Any], kept: int) -> None:
    assert kept_in_rollout(builders.deployment(replicas=4, **strategy)) == kept


@pytest.mark.parametrize(
    ("counts", "surplus"),
    [
        ({"replicas": 1, "owned": 1, "siblings": None}, 2),
        ({"replicas": 1, "owned": 1, "siblings": 0}, 1),
        ({"replicas": 1, "owned": 1, "siblings": 1}, 2),
        ({"replicas": 1, "owned": 1, "siblings": 0, "most_missing": 0}, 0),
        ({"replicas": 1, "owned": 0, "siblings": 9}, 1),
    ],
)
def test_no_more_is_surplus_than_a_rollout_can_spare(counts: dict[str, Any], surplus: int) -> None:
    assert census(**counts).count.surplus == surplus


def test_a_pod_that_its_replica_set_is_about_to_delete_is_no_reserve() -> None:
    assert census(replicas=0, owned=3, siblings=0).count.spare_in_rollout == 0


def test_no_deployment_spares_nothing_known() -> None:
    alone = msgspec.structs.replace(census(replicas=1, siblings=3), owner=builders.owner())
    assert alone.count.spare_in_rollout is None


@pytest.mark.parametrize(
    ("siblings", "now", "expected"),
    [
        (None, NOW, [Verb.DELETE, Verb.DELETE]),
        (3, NOW, [Verb.DELETE, Verb.DELETE]),
        (1, NOW, [Verb.DELETE, Verb.WAIT]),
        (0, NOW, [Verb.WAIT, Verb.WAIT]),
        (0, WARNING.deadline, [Verb.WAIT, Verb.WAIT]),
        (0, TRIED_UNTIL, [Verb.DELETE, Verb.DELETE]),
    ],
)
def test_of_a_replica_set_at_zero_those_go_that_the_rollout_can_spare(
    siblings: int | None, now: datetime, expected: list[Verb]
) -> None:
    plan = decide(census(replicas=0, siblings=siblings, now=now))
    assert [verb for _, verb, _ in told(plan)] == expected
    assert plan.due == (TRIED_UNTIL if Verb.WAIT in expected else None)
    assert {each.until for each in plan.steps} <= {EVICT_BY}


def test_a_pod_that_the_rollout_needs_is_forced_off_a_node_that_dies() -> None:
    plan = decide(census(replicas=0, siblings=0))
    assert [(each.pod.name, each.evict_by) for each in plan.forced] == [
        ("away-0", EVICT_BY),
        ("away-1", EVICT_BY),
    ]


def test_a_pod_that_the_rollout_needs_is_deleted_when_a_mere_hint_is_over() -> None:
    def hinted(now: datetime) -> Plan:
        counted = census(replicas=0, siblings=0, now=now)
        hint = builders.hint(deadline=WARNING.deadline)
        return decide(builders.with_nodes(counted, dooms={"n1": hint}))

    waiting, over = hinted(NOW), hinted(WARNING.deadline)
    assert [verb for _, verb, _ in told(waiting)] == [Verb.WAIT, Verb.WAIT]
    assert waiting.due == waiting.steps[0].until == WARNING.deadline
    assert [verb for _, verb, _ in told(over)] == [Verb.DELETE, Verb.DELETE]
    assert waiting.forced == over.forced == []


@pytest.mark.parametrize("replicas", [0, 1])
def test_another_replica_set_s_pod_counts_after_min_ready_seconds_and_is_due(replicas: int) -> None:
    """The Deployment keeps two, and there are two released ones."""
    deployment = builders.deployment(replicas=3, max_unavailable=1, min_ready_seconds=10)
    beside = builders.replica_set("beside", of=deployment)
    young = builders.pod(of=beside, node="n2", ready_since=NOW - seconds(4))

    def plan_at(now: datetime) -> Plan:
        counted = census(replicas=replicas, owned=replicas, now=now)
        owner = msgspec.structs.replace(counted.owner, deployment=deployment)
        counted = msgspec.structs.replace(counted, owner=owner)
        return decide(msgspec.structs.replace(counted, siblings=[young]))

    early, late = plan_at(NOW), plan_at(NOW + seconds(6))
    assert early.due == NOW + seconds(6)
    assert len(late.evictions) == len(early.evictions) + 1


def test_a_lost_pod_is_of_no_use_to_a_rollout() -> None:
    waiting = builders.with_nodes(census(replicas=0, siblings=0), lost=frozenset({"n1"}))
    assert told(decide(waiting)) == [
        ("away-0", Verb.DELETE, "ScaledToZero"),
        ("away-1", Verb.DELETE, "ScaledToZero"),
    ]
