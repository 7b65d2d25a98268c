"""What Jobs make of pods that end, and of pods that are evicted."""

from datetime import timedelta
from typing import Any

import pytest

from evenkeel.decisions.drain.writes import disruption_patch
from evenkeel.model.controllers.job import Job
from evenkeel.model.pod import Pod
from tests.contract.ground import Ground
from tests.contract.manifests import QUICK, SLOW_STOP, job


def on_disruption(action: str) -> dict[str, Any]:
    """A policy for the failure of pods that were disrupted."""
    condition = {"type": "DisruptionTarget"}
    return {"rules": [{"action": action, "onPodConditions": [condition]}]}


IGNORING = on_disruption("Ignore")


@pytest.fixture(autouse=True)
def _node(ground: Ground) -> None:
    ground.add_node("n")


def running(ground: Ground) -> Pod:
    """The one pod of a Job that is running."""
    return ground.ready_pods(1)[0]


def condition(ground: Ground, name: str) -> str:
    """Wait for a Job's end; answers how it ended."""

    def ended() -> str:
        conditions = ground.get(Job, name).status.conditions
        return next((c.type for c in conditions if c.type in ("Complete", "Failed")), "")

    return ground.eventually(ended)


def test_a_job_completes_when_enough_pods_have_succeeded(ground: Ground) -> None:
    annotations = {**QUICK, "evenkeel.test/complete-after": "300ms"}
    ground.apply(job("batch", annotations, completions=3, parallelism=2))

    def at_most_two() -> bool:
        assert sum(1 for p in ground.pods() if p.active) <= 2
        return ground.get(Job, "batch").status.succeeded == 3

    ground.eventually(at_most_two)
    assert condition(ground, "batch") == "Complete"
    assert [p.status.phase for p in ground.pods()] == ["Succeeded"] * 3


def test_an_evicted_pod_counts_as_failed_and_is_replaced_after_a_back_off(
    ground: Ground,
) -> None:
    """Ten seconds after the failure, to the second."""
    ground.apply(job("batch", SLOW_STOP))
    old = running(ground)
    before = ground.clock.now()
    ground.evict(old)
    ground.eventually(lambda: ground.counts(Job, "batch").failed == 1)
    new = ground.eventually(lambda: [p for p in ground.pods() if p.uid != old.uid])[0]
    assert new.controller == old.controller
    assert ground.clock.now() - before > timedelta(seconds=8)


def test_a_disrupted_pod_is_not_counted_when_the_policy_ignores_it(ground: Ground) -> None:
    ground.apply(job("batch", backoffLimit=0, podFailurePolicy=IGNORING))
    old = running(ground)
    ground.evict(old)
    ground.eventually(lambda: [p for p in ground.pods() if p.uid != old.uid])
    ground.eventually(lambda: ground.counts(Job, "batch").active == 1)
    assert ground.counts(Job, "batch").failed == 0


@pytest.mark.parametrize("policy", [{}, {"podFailurePolicy": IGNORING}], ids=["none", "ignoring"])
def test_a_job_fails_by_a_deleted_pod_whatever_its_policy_says_of_disrupted_ones(
    ground: Ground, policy: dict[str, Any]
) -> None:
    ground.apply(job("batch", backoffLimit=0, **policy))
    ground.delete(running(ground))
    assert condition(ground, "batch") == "Failed"
    assert ground.counts(Job, "batch").failed == 1


def test_the_condition_can_be_set_before_a_deletion(ground: Ground) -> None:
    """Which is what makes a plain deletion count as a disruption."""
    ground.apply(job("batch", backoffLimit=0, podFailurePolicy=IGNORING))
    old = running(ground)
    ground.ask(disruption_patch(ground.get(Pod, old.name), ground.clock.now()))
    ground.delete(old)
    ground.eventually(lambda: [p for p in ground.pods() if p.uid != old.uid])
    assert ground.counts(Job, "batch").failed == 0


def test_a_job_fails_at_once_when_the_policy_says_so(ground: Ground) -> None:
    ground.apply(job("batch", podFailurePolicy=on_disruption("FailJob")))
    ground.evict(running(ground))
    assert condition(ground, "batch") == "Failed"


def test_pods_carry_the_name_of_their_job(ground: Ground) -> None:
    ground.apply(job("batch"))
    pod = running(ground)
    assert pod.metadata.labels["batch.kubernetes.io/job-name"] == "batch"
    assert pod.controller is not None
    assert pod.controller.kind == "Job"


def test_its_pods_go_when_a_job_is_deleted(ground: Ground) -> None:
    ground.apply(job("batch"))
    running(ground)
    ground.delete(ground.get(Job, "batch"))
    ground.eventually(lambda: not ground.pods())


def test_a_suspended_job_starts_nothing(ground: Ground) -> None:
    ground.apply(job("batch", suspend=True))
    ground.never(ground.pods, seconds=1)
    ground.patch(Job, "batch", {"spec": {"suspend": False}})
    old = running(ground)
    ground.patch(Job, "batch", {"spec": {"suspend": True}})
    ground.gone(old)
    ground.never(ground.pods, seconds=1)


def test_a_job_without_completions_is_complete_when_one_succeeded_and_the_others_ended(
    ground: Ground,
) -> None:
    annotations = {**QUICK, "evenkeel.test/complete-after": "300ms"}
    ground.apply(job("batch", annotations, parallelism=2))
    assert condition(ground, "batch") == "Complete"
    assert ground.get(Job, "batch").status.succeeded == 2


@pytest.mark.parametrize(
    ("on_codes", "end"),
    [({"operator": "In", "values": [143]}, "Failed"), ({"operator": "NotIn", "values": [143]}, "")],
)
def test_a_job_fails_by_the_exit_code_that_its_policy_names(
    ground: Ground, on_codes: dict[str, Any], end: str
) -> None:
    rules = [{"action": "FailJob", "onExitCodes": on_codes}]
    ground.apply(job("batch", podFailurePolicy={"rules": rules}))
    old = running(ground)
    ground.delete(old)
    ground.eventually(lambda: ground.counts(Job, "batch").failed == 1)
    if end:
        assert condition(ground, "batch") == end
    else:
        ground.eventually(lambda: [each for each in ground.pods() if each.uid != old.uid])


def test_a_pod_that_goes_is_replaced_when_it_has_ended_where_the_job_says_so(
    ground: Ground,
) -> None:
    ground.apply(job("batch", SLOW_STOP, podReplacementPolicy="Failed"))
    old = running(ground)
    ground.delete(old)
    ground.never(lambda: len(ground.pods()) > 1, seconds=2)
    ground.eventually(lambda: [each for each in ground.pods() if each.uid != old.uid])
