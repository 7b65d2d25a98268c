"""The plans of all controllers concerned, kept while they hold good."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

import msgspec

from evenkeel.decisions.drain.pace import Ranking
from evenkeel.decisions.drain.plan import Plan
from evenkeel.flows.drain.cache.facts import Needs
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.forced_evictions import ForcedEvictions
from evenkeel.flows.drain.queue import NODES
from evenkeel.flows.drain.room_search import RoomRequest
from evenkeel.flows.drain.workload.planning import Planner
from evenkeel.flows.drain.workload.workload_plan import Has, WorkloadPlan
from evenkeel.model.decision import Decision
from evenkeel.model.metrics import Metric
from evenkeel.model.pod import Pod
from evenkeel.ports import Recorder

AFTER_A_FAILURE = timedelta(seconds=5)
"""How long until a workload is planned for again that could not be."""

NOTHING = WorkloadPlan(plan=Plan())
"""The plan of a controller without active pods."""

type Book = Callable[[str, WorkloadPlan, WorkloadPlan], None]
"""What is kept of all plans together: it is told of a controller's key, its plan before and the one
that takes its place."""


class Plans:
    """One plan per controller, by its key; a controller without active pods has none."""

    def __init__(
        self, planner: Planner, view: View, forced: ForcedEvictions, recorder: Recorder
    ) -> None:
        """All but ``recorder`` are the invocation's, which hears of plans that fail."""
        self._planner = planner
        self._view = view
        self._recorder = recorder
        self._plans: dict[str, WorkloadPlan] = {}
        self._having: Mapping[Has, dict[str, WorkloadPlan]] = {has: {} for has in Has}
        self.pending_replacements = 0
        """How many released pods have no replacement yet."""
        self.of_nodes: Sequence[Decision] = ()
        """What was decided about the nodes."""
        self._forced = forced
        self._books: list[Book] = [self._index, self._hand_on]

    def tell(self, book: Book) -> None:
        """From now on this is told of each plan that takes the place of another, too."""
        self._books.append(book)

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

    def of(self, key: str) -> WorkloadPlan:
        """The plan for a controller's pods; ``NOTHING`` where nothing is planned."""
        return self._plans.get(key, NOTHING)

    @property
    def room_requests(self) -> Sequence[RoomRequest]:
        """The pods that move for a hint once a place is known for them."""
        plans = self.having(Has.ROOM_REQUESTS)
        return [request for _, plan in plans for request in plan.room_requests]

    def hand_over(self, pod: Pod) -> bool:
        """Whether a pod is handed over, or may be: its plan is wrong."""
        key = pod.origin_key
        return self._view.queue.is_wrong(key) or pod.spec.node_name in self.of(key).handovers

    @property
    def is_unfinished(self) -> bool:
        """Whether something other than the mere passing of time can change a plan soon."""
        if any(self._having[has] for has in (Has.WRITES, Has.EVICTIONS, Has.AWAITS_PODS)):
            return True
        return any(step.write is not None for step in self.of_nodes)

    def follow(self) -> set[str]:
        """A set that gets the key of each controller that is planned for; the caller empties it."""
        followed = set[str]()
        self.tell(partial(_add_key, followed))
        return followed

    def replan(self, key: str, now: datetime) -> None:
        """Plan again for a controller.

        If something else becomes of a gang of its pods the plans of the gang's others are wrong.
        """
        before = self.of(key)
        after = NOTHING
        if self._view.pods.members.has_any(key) or self._view.seats.of(key):
            after = self._plan(key, before.needs, now)
        for book in self._books:
            book(key, before, after)
        self._view.queue.add(self._planner.others_of_gang(key), urgent=True)

    def _index(self, key: str, before: WorkloadPlan, after: WorkloadPlan) -> None:
        """Keep a plan, and find it by what it has."""
        self._plans.pop(key, None)
        if after is not NOTHING:
            self._plans[key] = after
        for has, plans in self._having.items():
            plans.pop(key, None)
            if has in after.has:
                plans[key] = after
        self.pending_replacements += after.pending_replacements - before.pending_replacements

    def _hand_on(self, key: str, before: WorkloadPlan, after: WorkloadPlan) -> None:
        """Say what has to be read for a plan, which pods it evicts by force, and when it is due.

        Seats that it keeps no longer are freed with the nodes' steps.
        """
        if (before.seats, before.holding) != (after.seats, after.holding):
            self._view.queue.add([NODES], urgent=True)
        self._view.facts.set(key, after.needs)
        self._forced.put(key, after.plan.forced)
        self._view.queue.again(key, after.plan.due)

    def _plan(self, key: str, needs: Needs, now: datetime) -> WorkloadPlan:
        """A plan; where none can be made, what is due by the deadline, and another try soon.

        One workload's objects must not keep the others from being planned for.
        """
        try:
            return self._planner.plan(key, now)
        except Exception as error:  # noqa: BLE001 - any error of a plan is its workload's alone
            self._recorder.counted(Metric.PLANS_FAILED)
            self._recorder.noted(
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


def _add_key(followed: set[str], key: str, _before: WorkloadPlan, _after: WorkloadPlan) -> None:
    followed.add(key)
