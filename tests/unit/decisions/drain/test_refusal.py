"""At its last moment a pod goes whatever refuses its eviction, unless its owner forbids that."""

from typing import Any

import msgspec
import pytest

from evenkeel.decisions.drain.deadlines import Deadline
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.refusal import (
    after_refusal,
    is_kept,
    kept_past_deadline,
    leave,
    needs_condition,
    not_taken,
    put_back,
)
from evenkeel.decisions.drain.writes import roll_back_patch
from evenkeel.errors import (
    ClusterError,
    DisruptionRefusedError,
    ForbiddenError,
    MultipleBudgetsError,
    ThrottledError,
)
from evenkeel.model import names
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.decision import Verb
from evenkeel.model.meta import Condition
from evenkeel.model.pod import Pod
from evenkeel.model.request import Delete
from tests.kit import builders
from tests.kit.builders import NOW, seconds

LEAVE = {names.AT_DEADLINE: "leave"}
BY_BUDGET = DisruptionRefusedError("the budget needs 3")


@pytest.mark.parametrize(
    ("error", "reason", "message"),
    [
        (BY_BUDGET, "BudgetRefusedAtLastMoment", "its budget refuses, but its node dies"),
        (MultipleBudgetsError("two"), "BudgetRefusedAtLastMoment", "several budgets select it"),
        (ForbiddenError("no"), "EvictionRefusedAtLastMoment", "its eviction is refused (no), but"),
        (ThrottledError("busy"), "EvictionRefusedAtLastMoment", "its eviction is refused (busy)"),
    ],
)
def test_a_pod_is_deleted_with_its_own_grace_period_whatever_refuses_its_eviction(
    error: ClusterError, reason: str, message: str
) -> None:
    deployment = builders.deployment()
    replica_set = builders.replica_set(of=deployment)
    pod = builders.pod(of=replica_set)

    owner = builders.owner(replica_set, deployment)
    decision = after_refusal(pod, owner, NOW, error, sets_condition=True)

    assert (decision.verb, decision.reason) == (Verb.DELETE, reason)
    assert decision.message.startswith(message)
    assert decision.write == Delete(
        kind=Pod, name=pod.name, namespace="default", uid=pod.uid, grace_seconds=None
    )
    assert decision.warning
    assert (decision.subject, decision.workload, decision.node) == (
        pod.reference,
        deployment.reference,
        "n1",
    )


@pytest.mark.parametrize("value", ["leave", "Leave"])
@pytest.mark.parametrize("place", ["pod", "controller", "Deployment"])
def test_a_pod_is_left_to_die_with_its_node_when_its_owner_said_so(value: str, place: str) -> None:
    said = {names.AT_DEADLINE: value}
    deployment = builders.deployment(annotations=said if place == "Deployment" else {})
    replica_set = builders.replica_set(
        of=deployment, annotations=said if place == "controller" else {}
    )
    pod = builders.pod(of=replica_set, annotations=said if place == "pod" else {})

    owner = builders.owner(replica_set, deployment)
    decision = leave(pod, owner)

    assert is_kept(pod, owner)
    assert (decision.verb, decision.reason) == (Verb.LEAVE, "AtDeadlineLeave")
    assert decision.write is None
    assert decision.warning
    assert (decision.workload, decision.node) == (deployment.reference, "n1")


@pytest.mark.parametrize(
    ("annotations", "late", "left"),
    [
        (LEAVE, 60, True),
        (LEAVE, 600, True),
        (LEAVE, 59, False),
        (LEAVE, -31, False),
        ({}, 600, False),
        ({names.AT_DEADLINE: "delete"}, 600, False),
    ],
)
def test_no_eviction_is_tried_a_minute_past_the_deadline_when_its_owner_keeps_a_pod(
    annotations: dict[str, str], late: int, *, left: bool
) -> None:
    replica_set = builders.replica_set(annotations=annotations)
    pod = builders.pod(of=replica_set)
    owner, now = builders.owner(replica_set), NOW + seconds(late)
    assert kept_past_deadline(pod, owner, Deadline(NOW, forced=True), now) is left
    assert not kept_past_deadline(pod, owner, Deadline(NOW, forced=False), now)


def test_a_pod_is_deleted_when_it_overrides_its_owners_leave() -> None:
    replica_set = builders.replica_set(annotations=LEAVE)
    pod = builders.pod(of=replica_set, annotations={names.AT_DEADLINE: "delete"})
    assert not is_kept(pod, builders.owner(replica_set))


def test_a_write_that_is_not_taken_is_told_in_the_refuser_s_words() -> None:
    pod = builders.pod(of=builders.replica_set())
    evict = after_refusal(pod, Owner(), NOW, BY_BUDGET, sets_condition=True)
    told = not_taken(evict, ForbiddenError("the platform team says no"))
    assert (told.verb, told.reason, told.subject) == (Verb.LEAVE, "WriteRefused", pod.reference)
    assert told.message == "delete is not taken: the platform team says no"
    assert (told.warning, told.write, told.forced, told.node) == (True, None, False, "n1")


def test_a_release_of_which_a_part_was_undone_is_taken_back_by_a_decision_of_its_own() -> None:
    pod = builders.pod(of=builders.replica_set())
    evict = after_refusal(pod, Owner(), NOW, BY_BUDGET, sets_condition=True)
    write = roll_back_patch(pod, None)
    back = put_back(evict, write)
    assert (back.verb, back.reason, back.subject) == (
        Verb.ROLL_BACK,
        "ReleaseRefused",
        pod.reference,
    )
    assert (back.warning, back.write, back.until) == (True, write, None)


def test_a_jobs_pod_gets_its_condition_before_the_deletion_when_failures_are_counted() -> None:
    job = builders.job(ignores_disruptions=True)
    pod = builders.pod("batch-1", of=job)
    owner = builders.owner(job)

    first = after_refusal(pod, owner, NOW, BY_BUDGET, sets_condition=True)
    disrupted = builders.patched(pod, first.write)
    second = after_refusal(disrupted, owner, NOW, BY_BUDGET, sets_condition=True)
    instead = after_refusal(pod, owner, NOW, BY_BUDGET, sets_condition=False)

    assert (first.verb, first.reason) == (Verb.SET_CONDITION, "JobCountsFailures")
    assert not first.warning
    assert disrupted.status.conditions[-1] == Condition(
        type="DisruptionTarget",
        status="True",
        reason="TerminationByEvenkeel",
        message="its node is taken back by EC2",
        last_transition_time=NOW,
    )
    assert second.verb is instead.verb is Verb.DELETE
    assert (first.workload, first.node) == (job.reference, "n1")


DISRUPTED = {"type": "DisruptionTarget"}


@pytest.mark.parametrize(
    ("controller", "conditions", "needed"),
    [
        (builders.job(), [], False),
        (builders.job(ignores_disruptions=True), [], True),
        (builders.job(ignores_disruptions=True), [DISRUPTED | {"status": "True"}], False),
        (builders.job(ignores_disruptions=True), [DISRUPTED | {"status": "False"}], True),
        (
            builders.job(ignores_disruptions=True),
            [{"type": "PodScheduled", "status": "True"}],
            True,
        ),
        (builders.replica_set(), [], False),
        (None, [], False),
    ],
)
def test_the_condition_is_needed_when_a_pod_failure_policy_would_count_the_failure(
    controller: Controller | None, conditions: list[dict[str, Any]], *, needed: bool
) -> None:
    pod = builders.pod(conditions=msgspec.convert(conditions, list[Condition]))
    owner = Owner() if controller is None else builders.owner(controller)
    assert needs_condition(pod, owner) is needed
