"""The plans of all controllers concerned, kept while they hold good."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime

from evenkeel.decisions.drain.margins import Margins
from evenkeel.decisions.handover import pace
from evenkeel.decisions.plan import earliest
from evenkeel.flows.handover.planning import Planner
from evenkeel.flows.handover.view import View
from evenkeel.flows.handover.workload_plan import WorkloadPlan
from evenkeel.model.decision import Decision


class Plans:
    """One plan per controller, by its key; a controller without active pods has none.

    What is asked of them often is sorted once, when a plan is made.
    """

    def __init__(self, planner: Planner, view: View) -> None:
        """Both are the invocation's. Nothing is planned yet."""
        self._planner = planner
        self._view = view
        self._plans: dict[str, WorkloadPlan] = {}
        self._untold: set[str] = set()
        self._writing: dict[str, Sequence[Decision]] = {}
        self._dues: dict[str, datetime] = {}
        self._queues: dict[str, pace.Queue] = {}
        self._claiming: dict[str, WorkloadPlan] = {}
        self._handovers: frozenset[str] | None = None

    def __iter__(self) -> Iterator[WorkloadPlan]:
        """All plans."""
        return iter(self._plans.values())

    def items(self) -> Collection[tuple[str, WorkloadPlan]]:
        """All plans with the keys of their controllers."""
        return self._plans.items()

    @property
    def controllers(self) -> set[str]:
        """The keys of the controllers of all pods that were seen."""
        return self._view.pods.controllers_of(self._view.pods)

    def get(self, key: str) -> WorkloadPlan | None:
        """The plan of a controller, if it has one."""
        return self._plans.get(key)

    def claiming(self) -> Collection[tuple[str, WorkloadPlan]]:
        """The plans that would take something away, with the keys of their controllers."""
        return self._claiming.items()

    def replan(self, controllers: Iterable[str], now: datetime) -> None:
        """Plan anew for these controllers."""
        for key in sorted(controllers):
            self._drop(key)
            if self._view.pods.of_controller(key):
                self._keep(key, self._planner.plan(key, now))
            else:
                self._planner.forget(key)

    def settle(self, now: datetime) -> None:
        """Plan for everybody anew, now that all that there is was seen and planned for once."""
        self._planner.settle(now)
        self.replan(self.controllers, now)

    def due(self, now: datetime) -> set[str]:
        """The controllers whose plans change with time alone, and whose time may have come."""
        return {*self._planner.hurried(now), *(key for key, at in self._dues.items() if at <= now)}

    def margins(self, now: datetime) -> Margins:
        """How much earlier pods have to go because others go too."""
        return self._planner.margins(now)

    @property
    def next_due(self) -> datetime | None:
        """When the next plan changes with time alone."""
        return earliest(*self._dues.values())

    @property
    def writing(self) -> Collection[Sequence[Decision]]:
        """The steps that write and need no fresh read, per controller that has any."""
        return self._writing.values()

    @property
    def handovers(self) -> frozenset[str]:
        """The nodes that still have pods which are handed over."""
        if self._handovers is None:
            self._handovers = frozenset[str]().union(*(plan.handovers for plan in self))
        return self._handovers

    @property
    def not_made_anew(self) -> int:
        """How many released pods have no replacement yet."""
        return pace.short_of(plan.census for plan in self if plan.census is not None)

    @property
    def queues(self) -> Collection[pace.Queue]:
        """Who waits to be released, per ReplicaSet."""
        return self._queues.values()

    def news(self, has_read: Callable[[str], bool]) -> Iterator[Decision]:
        """What new plans leave or wait for; each plan says it once.

        Of a workload that is polled when all its pods were read.
        """
        ready = {key for key in self._untold if not self._plans[key].polled or has_read(key)}
        self._untold -= ready
        for key in sorted(ready):
            yield from (step for step in self._plans[key].plan.steps if step.write is None)

    def _keep(self, key: str, plan: WorkloadPlan) -> None:
        self._plans[key] = plan
        self._untold.add(key)
        writing = [step for step in plan.plan.steps if step.write is not None]
        if writing:
            self._writing[key] = writing
        if plan.plan.fresh_steps:
            self._claiming[key] = plan
        if plan.plan.due is not None:
            self._dues[key] = plan.plan.due
        if plan.census is not None and plan.plan.candidates:
            self._queues[key] = pace.queue(plan.census, plan.plan.candidates)

    def _drop(self, key: str) -> None:
        self._plans.pop(key, None)
        self._handovers = None
        self._untold.discard(key)
        self._writing.pop(key, None)
        self._dues.pop(key, None)
        self._queues.pop(key, None)
        self._claiming.pop(key, None)
