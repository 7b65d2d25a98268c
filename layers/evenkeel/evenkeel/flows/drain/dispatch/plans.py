"""The plans of all controllers concerned, kept while they hold good."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from evenkeel.decisions.drain import pace
from evenkeel.decisions.drain.plan import Plan
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.forced_evictions import ForcedEvictions
from evenkeel.flows.drain.queue import NODES
from evenkeel.flows.drain.workload.plan import WorkloadPlan
from evenkeel.flows.drain.workload.planning import Planner
from evenkeel.model.decision import Decision
from evenkeel.model.metrics import Metric
from evenkeel.model.times import earliest
from evenkeel.ports import Journal

AFTER_A_FAILURE = timedelta(seconds=5)
"""How long until a workload is planned for again that could not be."""


class Plans:
    """One plan per controller, by its key; a controller without active pods has none.

    Their totals are kept up to date plan by plan, because each turn asks for them.
    """

    def __init__(
        self, planner: Planner, view: View, forced: ForcedEvictions, journal: Journal
    ) -> None:
        """All but ``journal`` are the invocation's."""
        self._journal = journal
        self._planner = planner
        self._view = view
        self._forced = forced
        self._plans: dict[str, WorkloadPlan] = {}
        self._untold: set[str] = set()
        self._nodes: Counter[str] = Counter()
        self.pending_replacements = 0
        """How many released pods have no replacement yet."""
        self.of_nodes: Sequence[Decision] = ()
        """What was decided about the nodes."""
        self._writing: dict[str, Sequence[Decision]] = {}
        self.queues: dict[str, pace.Queue] = {}
        """The pods that wait to be released, per ReplicaSet."""
        self.evicting: dict[str, WorkloadPlan] = {}
        """The plans with evictions that need fresh knowledge."""
        self.awaiting_pods: dict[str, WorkloadPlan] = {}
        """The plans that change with the pods of their workloads."""
        self.held_namespaces: Counter[str] = Counter()
        """Where voluntary moves hang on budgets."""

    def __iter__(self) -> Iterator[WorkloadPlan]:
        """All plans."""
        return iter(self._plans.values())

    @property
    def controllers(self) -> set[str]:
        """The keys of the controllers of all pods that were seen."""
        return self._view.pods.controllers_of(self._view.pods)

    def replan(self, key: str, now: datetime) -> None:
        """Plan again for a controller, and for those that share a gang with it."""
        for each in sorted(self._view.pods.groups.with_mates([key])):
            self._view.queue.done(each)
            self._replan(each, now)

    def _replan(self, key: str, now: datetime) -> None:
        before = self._drop(key)
        if self._view.pods.has_any(key):
            plan = self._plan(key, now)
            self._keep(key, plan)
            handovers = plan.handovers
        else:
            self._forced.put(key, ())
            self._view.queue.again(key, None)
            handovers = frozenset[str]()
        if handovers != before:
            self._view.queue.add([NODES], urgent=True)

    def _plan(self, key: str, now: datetime) -> WorkloadPlan:
        """A plan; where none can be made, what is due by the deadline, and another try soon.

        One workload's objects must not keep the others from being planned for.
        """
        try:
            return _checked(self._planner.plan(key, now))
        except Exception as error:  # noqa: BLE001 - any error of a plan is its workload's alone
            self._journal.counted(Metric.PLANS_FAILED)
            self._journal.noted(
                f"{key} could not be planned for, its pods go at their deadlines: {error!r}",
                error=type(error).__name__,
            )
        again_at = now + AFTER_A_FAILURE
        try:
            return _checked(self._planner.last_moments(key, now, again_at))
        except Exception:  # noqa: BLE001 - as above
            return WorkloadPlan(plan=Plan(due=again_at))

    @property
    def handovers(self) -> frozenset[str]:
        """The nodes that still have pods which are handed over."""
        return frozenset(self._nodes)

    @property
    def is_unfinished(self) -> bool:
        """Whether something other than the mere passing of time can change a plan soon."""
        if self.awaiting_pods or self._writing or self.evicting:
            return True
        return any(step.write is not None for step in self.of_nodes)

    def writes(self) -> Iterator[Sequence[Decision]]:
        """The steps that write and need no fresh read, by workload; none of a wrong plan."""
        is_wrong = self._view.queue.is_wrong
        return (steps for key, steps in self._writing.items() if not is_wrong(key))

    def news(self) -> Iterator[Decision]:
        """The decisions of new plans that write nothing; each plan gives them once.

        A plan that awaits pods gives them once all pods of its workload were seen.
        """
        ready = {key for key in self._untold if self._may_tell(key, self._plans[key])}
        self._untold -= ready
        for key in sorted(ready):
            yield from (step for step in self._plans[key].plan.steps if step.write is None)

    def _may_tell(self, key: str, plan: WorkloadPlan) -> bool:
        view = self._view
        return not plan.awaits_pods or key in view.listed_at or view.streams.show(plan.watched_by)

    def _keep(self, key: str, plan: WorkloadPlan) -> None:
        self._plans[key] = plan
        self._untold.add(key)
        self._forced.put(key, plan.plan.forced)
        writing = [step for step in plan.plan.steps if step.write is not None]
        if writing:
            self._writing[key] = writing
        if plan.plan.evictions:
            self.evicting[key] = plan
        if plan.awaits_pods:
            self.awaiting_pods[key] = plan
        self._view.queue.again(key, plan.plan.due)
        self._nodes.update(plan.handovers)
        if plan.census is not None:
            self.pending_replacements += plan.census.pending_replacements
            if plan.plan.candidates:
                self.queues[key] = pace.queue(plan.census, plan.plan.candidates)
            if plan.is_voluntary and plan.census.owned:
                self.held_namespaces[plan.census.owned[0].namespace] += 1

    def _drop(self, key: str) -> frozenset[str]:
        """Forget a plan; which nodes it said have handovers."""
        plan = self._plans.pop(key, None)
        if plan is None:
            return frozenset()
        for kept in (self._writing, self.queues, self.evicting, self.awaiting_pods):
            kept.pop(key, None)
        self._untold.discard(key)
        _subtract(self._nodes, plan.handovers)
        if plan.census is not None:
            self.pending_replacements -= plan.census.pending_replacements
            if plan.is_voluntary and plan.census.owned:
                _subtract(self.held_namespaces, [plan.census.owned[0].namespace])
        return plan.handovers


def _checked(plan: WorkloadPlan) -> WorkloadPlan:
    """The plan, once it has named its eviction deadlines: the agenda needs them later."""
    earliest(*(each.evict_by for each in plan.plan.forced))
    return plan


def _subtract(counts: Counter[str], keys: Iterable[str]) -> None:
    for key in keys:
        counts[key] -= 1
        if not counts[key]:
            del counts[key]
