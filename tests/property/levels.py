"""A plan that is made anew without news is the plan that is kept.

The drain plans for a workload when something changes that the plan depends on, or when the plan
says that it is due. A change that adds no workload to the queue leaves the plan as it was, and
nobody comes back for the pod. So after a turn each workload that does not wait in the queue is
planned anew, on a copy of what the loop knows and at the same time, and both plans have to come to
the same (``essence``).

What it takes to come to the same is what is done to which pod: no words, and no times, for a plan
that is made later says later times. That a plan is due too late is found all the same, because the
other one is made at the time of the look.

Not compared is what follows from no plan: whether the watches show enough to evict by a plan, and
to tell what it says, is asked in each turn (``dispatch/sending``). A watch that is refused
therefore changes no plan; what the lists instead of it show does.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple

import pytest

from evenkeel.decisions.drain.agenda import Forced
from evenkeel.decisions.drain.plan import Plan
from evenkeel.flows.drain.cache.groups import Groups
from evenkeel.flows.drain.loop import Loop
from evenkeel.flows.drain.workload.planning import Planner
from evenkeel.flows.drain.workload.workload_plan import WorkloadPlan
from evenkeel.model.decision import Decision
from tests.property.walk.copies import Copier

NOTHING = WorkloadPlan(plan=Plan())
"""The plan for a workload that has none."""

FEW = 30
"""With so many pods each turn is looked at, with twice as many every second one, and so on."""

MOST_TOLD = 10
"""So much of what was found is told at most."""

_plan = Planner.plan  # as it is, where a story makes planning slow


class Look(NamedTuple):
    """A loop between two turns, as far as it has to be known here.

    ``pods``: how many it knows. ``kept`` are its plans by workload. ``settled`` are the workloads
    that have a plan or pods and do not wait to be planned for; ``plan`` plans for one of them as it
    is now, and changes nothing.
    """

    now: datetime
    pods: int
    kept: Mapping[str, WorkloadPlan]
    settled: Collection[str]
    plan: Callable[[str], WorkloadPlan]


def look_into(loop: Loop) -> Look:
    """All that is known here of the loop's insides."""
    now, view, plans = loop._clock.now(), loop._reconcile._view, loop._reconcile._plans
    kept = plans._plans
    waiting = _with_mates(view.pods.groups, {*view.queue._wrong, *view.queue._changed})
    known = filter(view.pods.members.has_any, plans.controllers)
    planner: list[Planner] = []

    def plan(key: str) -> WorkloadPlan:
        if not planner:
            found_before = plans._planner._ways._routes  # must not be what is found now
            planner.append(Copier({id(found_before): {}}).copy(plans._planner))
        return _plan(planner[0], key, now)

    return Look(now, len(view.pods._pods), kept, {*kept, *known} - waiting, plan)


def _with_mates(groups: Groups, keys: set[str]) -> set[str]:
    """These controllers, and all that share a group with one of them."""
    named = {group for key in keys for group in groups.of(key)}
    return keys.union(*(groups.controllers(group) for group in named))


def forgotten(loop: Look) -> Iterator[str]:
    """The workloads that wait for nothing and would be planned for otherwise now."""
    for key in sorted(loop.settled):
        was, is_ = essence(loop.kept.get(key, NOTHING)), essence(loop.plan(key))
        if was != is_:
            other = ", ".join(
                f"{name} {was[name]} would be {is_[name]}" for name in was if was[name] != is_[name]
            )
            yield f"{loop.now:%H:%M:%S.%f} {key}: {other}"


def essence(plan: WorkloadPlan) -> Mapping[str, Any]:
    """What a plan comes to."""
    of_pods = plan.plan
    turns = [] if plan.ranking is None else [turn for _, turn in plan.ranking.waiting]
    return {
        "steps": [_told(each) for each in of_pods.steps],
        "evictions": [_told(each) for each in of_pods.evictions],
        "releases": [turn.candidate.pod.uid for turn in turns],
        "promised": {turn.census.count.next_promise for turn in turns},
        "saves from zero": plan.ranking is not None and plan.ranking.saves_from_zero,
        "pending": plan.pending_replacements,
        "forced": [_forced(each) for each in of_pods.forced],
        "handovers": plan.handovers,
        "watched by": plan.watched_by,
        "awaits_pods": of_pods.awaits_pods,
        "has_deadlines": bool(of_pods.forced),
        "needs": plan.needs,
    }


def _told(step: Decision) -> str:
    how = " by force" if step.forced else ""
    return f"{step.verb} {step.subject.uid} {step.reason}{how}"


def _forced(each: Forced) -> tuple[object, ...]:
    first = None if each.first is None else _told(each.first)
    return each.pod.uid, each.share_remaining, each.is_replaced, each.is_coming, each.lives, first


class _Looks:
    """Looks at one turn of so many, and of more where there are many pods."""

    def __init__(self, one_of: int) -> None:
        self._one_of, self._turns_left = one_of, 1
        self.found: list[str] = []

    def __call__(self, loop: Loop) -> None:
        self._turns_left -= 1
        if self._turns_left > 0:
            return
        look = look_into(loop)
        self._turns_left = self._one_of * max(1, look.pods // FEW)
        self.found += [*forgotten(look)][: MOST_TOLD - len(self.found)]


@contextmanager
def held(one_of: int = 1) -> Iterator[None]:
    """Fail if a plan was forgotten, as ``watched`` finds it."""
    with watched(one_of) as found:
        yield
    assert not found, "; ".join(found)


@contextmanager
def watched(one_of: int = 1) -> Iterator[Sequence[str]]:
    """Look at the plans of all loops after each turn, or one of so many: what was forgotten."""
    looks = _Looks(one_of)
    take_turn = Loop.turn

    def turn(self: Loop, *args: Any) -> Any:
        outcome = take_turn(self, *args)
        looks(self)
        return outcome

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Loop, "turn", turn)
        yield looks.found
