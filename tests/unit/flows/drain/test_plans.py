"""The plans of all workloads: what is kept of them together when one takes another's place."""

from datetime import datetime
from types import SimpleNamespace
from typing import Any

from evenkeel.decisions.drain.plan import Plan
from evenkeel.flows.drain.cache.share import Share
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.forced_evictions import Answers, ForcedEvictions
from evenkeel.flows.drain.dispatch.plans import AFTER_A_FAILURE, NOTHING, Plans
from evenkeel.flows.drain.workload.workload_plan import Has, WorkloadPlan
from evenkeel.model.metrics import Metric
from evenkeel_hosting.memory import InMemoryRecorder
from evenkeel_sandbox.simulator.clock import SimulatedClock
from tests.kit import builders
from tests.kit.builders import NOW, seconds

WEB = builders.replica_set()
POD = builders.pod("p", of=WEB)


class Planned:
    """The plans of one workload, which a test makes."""

    def __init__(self) -> None:
        self.view = View()
        self.view.update(builders.node("n1", notice=builders.notice()))
        self.view.update(POD)
        self.recorder = InMemoryRecorder()
        self.made: WorkloadPlan | None = None
        planner: Any = SimpleNamespace(
            plan=self._plan, last_moments=self._last_moments, others_of_gang=lambda _: ()
        )
        forced = ForcedEvictions(10.0, 10, Answers(), Share())
        self.plans = Plans(planner, self.view, forced, self.recorder)
        self.told: list[tuple[str, WorkloadPlan, WorkloadPlan]] = []
        self.plans.tell(self._told)

    def _plan(self, _key: str, _now: datetime) -> WorkloadPlan:
        if self.made is None:
            raise ValueError("its objects are spoilt")
        return self.made

    def _last_moments(self, _key: str, _now: datetime, again_at: datetime) -> WorkloadPlan:
        return WorkloadPlan(plan=Plan(due=again_at))

    def _told(self, key: str, before: WorkloadPlan, after: WorkloadPlan) -> None:
        self.told.append((key, before, after))

    def replan(self, made: WorkloadPlan | None) -> None:
        self.made = made
        self.plans.replan(WEB.key, NOW)


def plan(pending: int = 0, *nodes: str, awaits: bool = False) -> WorkloadPlan:
    return WorkloadPlan(
        plan=Plan(awaits_pods=awaits),
        pending_replacements=pending,
        handovers=frozenset(nodes),
    )


def test_pending_replacements_are_those_of_the_plans_that_hold() -> None:
    planned = Planned()
    for pending in (2, 3, 1):
        planned.replan(plan(pending))
        assert planned.plans.pending_replacements == pending
    planned.view.pods.delete(POD.uid)
    planned.replan(None)
    assert planned.plans.pending_replacements == 0


def test_a_plan_is_found_by_what_it_has_as_long_as_it_holds() -> None:
    planned = Planned()
    planned.replan(waiting := plan(awaits=True))
    assert list(planned.plans.having(Has.AWAITS_PODS)) == [(WEB.key, waiting)]
    assert planned.plans.is_unfinished
    planned.replan(calm := plan())
    assert not list(planned.plans.having(Has.AWAITS_PODS))
    assert (planned.plans.is_unfinished, planned.plans.of(WEB.key)) == (False, calm)


def test_books_are_told_of_the_plan_before_and_of_the_one_in_its_place() -> None:
    planned = Planned()
    planned.replan(first := plan(1))
    planned.replan(second := plan(2))
    planned.view.pods.delete(POD.uid)
    planned.replan(None)
    key = WEB.key
    assert planned.told == [(key, NOTHING, first), (key, first, second), (key, second, NOTHING)]


def test_a_pod_is_handed_over_as_its_plan_says_and_perhaps_while_that_is_wrong() -> None:
    planned = Planned()
    list(planned.view.queue.take(SimulatedClock()))
    planned.replan(plan())
    assert not planned.plans.hand_over(POD)
    planned.replan(plan(0, POD.spec.node_name))
    assert planned.plans.hand_over(POD)
    planned.replan(plan())
    planned.view.queue.add([WEB.key], urgent=True)
    assert planned.plans.hand_over(POD)


def test_a_workload_that_cannot_be_planned_for_goes_by_its_deadlines_and_is_tried_again() -> None:
    planned = Planned()
    planned.replan(None)
    assert planned.recorder.total(Metric.PLANS_FAILED) == 1
    assert "its objects are spoilt" in planned.recorder.notes[0][0]
    assert planned.view.queue.due_at == NOW + AFTER_A_FAILURE
    assert seconds(5) == AFTER_A_FAILURE
