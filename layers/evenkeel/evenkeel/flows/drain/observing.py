"""Observe mode: what an invocation would do."""

import sys
from datetime import datetime

from evenkeel.decisions.drain import pace
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.forced_evictions import ForcedEvictions
from evenkeel.flows.drain.dispatch.plans import Plans
from evenkeel.flows.drain.nodes import NodeReconciler
from evenkeel.flows.drain.progress import Answers
from evenkeel.flows.drain.recording import OnceRecorder
from evenkeel.flows.drain.workload.planning import Planner
from evenkeel.settings import HandoverSettings


def observe(
    settings: HandoverSettings,
    view: View,
    keeper: NodeReconciler,
    once: OnceRecorder,
    now: datetime,
) -> None:
    """Tell what would be done with a gathered view, and do nothing."""
    forced = ForcedEvictions(settings.evictions_per_second, sys.maxsize, Answers())
    plans = Plans(Planner(view), view, forced, once.recorder)
    for key in sorted(plans.controllers):
        plans.replan(key, now)
    forced.settle()
    once.record(slot.step(now) for slot in forced.due(now, now))
    for step in (step for _, plan in plans for step in (*plan.plan.steps, *plan.plan.evictions)):
        if not forced.has_begun(step.subject.uid, now):
            once.record([step])
    turns = pace.turns(plans.rankings, len(view.pods.active))
    once.record(pace.release(turn, now) for turn in turns)
    once.record(keeper.plan(plans.handovers, now))
