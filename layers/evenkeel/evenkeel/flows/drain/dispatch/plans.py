"""The plans of all controllers concerned, kept while they hold good."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from evenkeel.decisions.drain.pace import Ranking
from evenkeel.decisions.drain.plan import Plan
from evenkeel.flows.drain.cache.facts import Needs
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.forced_evictions import ForcedEvictions
from evenkeel.flows.drain.places import Wish
from evenkeel.flows.drain.queue import NODES, Queue
from evenkeel.flows.drain.recording import Counted, OnceRecorder
from evenkeel.flows.drain.workload.planning import Planner
from evenkeel.flows.drain.workload.workload_plan import Has, WorkloadPlan
from evenkeel.model.decision import Decision
from evenkeel.model.metrics import Metric

AFTER_A_FAILURE = timedelta(seconds=5)
"""How long until a workload is planned for again that could not be."""

_NOTHING = WorkloadPlan(plan=Plan())


class Handovers:
    """Of how many workloads each node still has pods that are handed over."""

    def __init__(self, queue: Queue) -> None:
        """``queue`` gets the nodes when the first workload of one has such pods, or none has."""
        self._queue = queue
        self._workloads = Counter[str]()

    @property
    def nodes(self) -> frozenset[str]:
        """The nodes that still have such pods."""
        return frozenset(node for node, workloads in self._workloads.items() if workloads)

    def change(self, before: frozenset[str], after: frozenset[str]) -> None:
        """A workload had such pods on nodes, and has them on others now."""
        gained, lost = after - before, before - after
        self._workloads.update(gained)
        self._workloads.subtract(lost)
        counts = self._workloads
        if any(counts[each] == 1 for each in gained) or any(not counts[each] for each in lost):
            self._queue.add([NODES], urgent=True)


class Plans:
    """One plan per controller, by its key; a controller without active pods has none."""

    def __init__(
        self, planner: Planner, view: View, forced: ForcedEvictions, once: OnceRecorder
    ) -> None:
        """All but ``once`` are the invocation's."""
        self._once = once
        self._planner = planner
        self._view = view
        self._forced = forced
        self._plans: dict[str, WorkloadPlan] = {}
        self._having: Mapping[Has, dict[str, WorkloadPlan]] = {has: {} for has in Has}
        self.pending_replacements = 0
        """How many released pods have no replacement yet."""
        self._followers: list[set[str]] = []
        self._unreported: set[str] = set()
        self._uncounted: set[str] = set()
        self._handovers = Handovers(view.queue)
        self.of_nodes: Sequence[Decision] = ()
        """What was decided about the nodes."""

    def __iter__(self) -> Iterator[tuple[str, WorkloadPlan]]:
        """All plans, each with the key of its controller."""
        return iter(self._plans.items())

    def having(self, has: Has) -> Iterable[tuple[str, WorkloadPlan]]:
        """The plans that have this, each with the key of its controller."""
        return self._having[has].items()

    @property
    def controllers(self) -> set[str]:
        """The keys of the controllers of all pods that were seen."""
        return self._view.pods.controllers_of(self._view.pods)

    @property
    def rankings(self) -> Sequence[Ranking]:
        """The pods that wait to be released, one ranking per ReplicaSet."""
        found = (plan.ranking for _, plan in self.having(Has.RANKING))
        return [each for each in found if each is not None]

    def of(self, key: str) -> WorkloadPlan | None:
        """The plan for a controller's pods; None where nothing is planned."""
        return self._plans.get(key)

    def follow(self) -> set[str]:
        """A set that gets the key of each controller that is planned for; the caller empties it."""
        followed = set[str]()
        self._followers.append(followed)
        return followed

    @property
    def wishes(self) -> Sequence[Wish]:
        """The pods that move for a hint once a place is known for them."""
        return [wish for _, plan in self.having(Has.WISHES) for wish in plan.wishes]

    @property
    def handovers(self) -> frozenset[str]:
        """The nodes that still have pods which are handed over."""
        return self._handovers.nodes

    @property
    def is_unfinished(self) -> bool:
        """Whether something other than the mere passing of time can change a plan soon."""
        if any(self._having[has] for has in (Has.WRITES, Has.EVICTIONS, Has.AWAITS_PODS)):
            return True
        return any(step.write is not None for step in self.of_nodes)

    @property
    def undecided(self) -> frozenset[str]:
        """The nodes of the pods whose plans are wrong."""
        pods = self._view.pods
        wrong = self._view.queue.wrong
        return frozenset(pod.spec.node_name for key in wrong for pod in pods.members.of(key))

    def replan(self, key: str, now: datetime) -> None:
        """Plan again for a controller.

        If something else becomes of a gang of its pods the plans of the gang's others are wrong.
        """
        before = self._plans.pop(key, _NOTHING)
        has_pods = self._view.pods.members.has_any(key)
        plan = self._plan(key, before.needs, now) if has_pods else _NOTHING
        if plan.counted is None:
            self._count_without(key, before, now)
        if plan is _NOTHING:
            self._unreported.discard(key)
        else:
            self._plans[key] = plan
            self._unreported.add(key)
            self._uncounted.add(key)
            self._count(key)
        for has, plans in self._having.items():
            plans.pop(key, None)
            if has in plan.has:
                plans[key] = plan
        for followed in self._followers:
            followed.add(key)
        self.pending_replacements += plan.pending_replacements - before.pending_replacements
        self._view.facts.need(key, plan.needs)
        self._forced.put(key, plan.plan.forced)
        self._view.queue.again(key, plan.plan.due)
        self._handovers.change(before.handovers, plan.handovers)
        self._view.queue.add(self._planner.others_of_gang(key), urgent=True)

    def _plan(self, key: str, needs: Needs, now: datetime) -> WorkloadPlan:
        """A plan; where none can be made, what is due by the deadline, and another try soon.

        One workload's objects must not keep the others from being planned for.
        """
        try:
            return self._planner.plan(key, now)
        except Exception as error:  # noqa: BLE001 - any error of a plan is its workload's alone
            self._once.recorder.counted(Metric.PLANS_FAILED)
            self._once.recorder.noted(
                f"{key} could not be planned for, its pods go at their deadlines: {error!r}",
                error=type(error).__name__,
            )
        again_at = now + AFTER_A_FAILURE
        try:
            plan = self._planner.last_moments(key, now, again_at)
        except Exception:  # noqa: BLE001 - as above
            plan = WorkloadPlan(plan=Plan(due=again_at))
        return msgspec.structs.replace(plan, needs=needs)  # it may be mended by what is read again

    def writes(self) -> Iterator[Sequence[Decision]]:
        """The steps that write and need no fresh read, by workload.

        None of a plan that is to be made anew: what has changed may be that its step was taken.
        """
        changed = self._view.queue.has_changed
        return (plan.writes for key, plan in self.having(Has.WRITES) if not changed(key))

    def take_unreported(self) -> Sequence[Decision]:
        """The decisions of new plans that write nothing; each plan gives them once.

        A plan that awaits pods gives them once all pods of its workload were seen.
        """
        ready = {key for key in self._unreported if self._may_report(key, self._plans[key])}
        self._unreported -= ready
        return [note for key in sorted(ready) for note in self._plans[key].notes]

    def count(self) -> None:
        """Count what could not be counted before all pods of its workload were seen."""
        for key in sorted(self._uncounted):
            self._count(key)

    def _count(self, key: str) -> None:
        """Hand on the count of a plan; a low one only once all pods of its workload were seen.

        They were, too, if as many as are wanted are known, with those that were told to go.
        """
        plan, members = self._plans[key], self._view.pods.members
        counted = plan.counted
        if counted is None:
            self._uncounted.discard(key)
            return
        count, known = counted.count, {pod.uid for pod in (*members.of(key), *members.going(key))}
        if count.is_whole or len(known) >= count.wanted or self._were_seen(key, plan):
            self._uncounted.discard(key)
            self._once.count(counted)

    def _count_without(self, key: str, before: WorkloadPlan, now: datetime) -> None:
        """Count a workload of which all pods that are known were just told to go.

        That is none, or not known where others of it were not seen yet.
        """
        members, was_counted = self._view.pods.members, key not in self._uncounted
        self._uncounted.discard(key)
        if before.counted is not None and not members.of(key) and members.number_of(key):
            available = 0 if was_counted else None
            count = msgspec.structs.replace(before.counted.count, at=now, available=available)
            self._once.count(Counted(count, tuple, before.counted.begins))

    def _may_report(self, key: str, plan: WorkloadPlan) -> bool:
        return self._were_seen(key, plan) or not plan.plan.awaits_pods

    def _were_seen(self, key: str, plan: WorkloadPlan) -> bool:
        """Whether all pods of a workload were seen: else only those on doomed nodes were."""
        return key in self._view.listed_at or self._view.streams.show(plan.watched_by)
