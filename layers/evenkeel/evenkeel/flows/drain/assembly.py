"""The parts of one invocation, put together: to act, or to tell what would be done."""

import sys
from typing import NamedTuple

from evenkeel.decisions.drain import pace
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.forced_evictions import Answers, ForcedEvictions
from evenkeel.flows.drain.dispatch.plans import Plans
from evenkeel.flows.drain.dispatch.releasing import Releases
from evenkeel.flows.drain.dispatch.reports import Reports
from evenkeel.flows.drain.dispatch.sending import Evictions, Sender
from evenkeel.flows.drain.dispatch.writing import Writer
from evenkeel.flows.drain.lease.hold import Leadership
from evenkeel.flows.drain.loop import Loop, Reconcile
from evenkeel.flows.drain.memory import Memory
from evenkeel.flows.drain.nodes import NodeReconciler
from evenkeel.flows.drain.queue import NODES
from evenkeel.flows.drain.recording import OnceRecorder
from evenkeel.flows.drain.room_search import RoomSearch
from evenkeel.flows.drain.sync.listings import Listings
from evenkeel.flows.drain.sync.questions import AtOnce, Questions
from evenkeel.flows.drain.sync.reader import Reader
from evenkeel.flows.drain.sync.watches import Watches
from evenkeel.flows.drain.telling import Telling
from evenkeel.flows.drain.workload.planning import Planner
from evenkeel.ports import Clock, Cluster, Session
from evenkeel.settings import HandoverSettings


class Opened(NamedTuple):
    """What one invocation has of the outside; the session is open."""

    cluster: Cluster
    session: Session
    clock: Clock


def loop_of(
    settings: HandoverSettings,
    opened: Opened,
    view: View,
    memory: Memory,
    once: OnceRecorder,
    leadership: Leadership,
    telling: Telling,
) -> Loop:
    """The loop of an invocation that has gathered a view.

    ``memory``, ``once`` and ``telling`` outlive it.
    """
    cluster, session, clock = opened
    per_second, capacity = settings.evictions_per_second, session.capacity
    forced = ForcedEvictions(per_second, capacity, memory.answers, view.share)
    plans = Plans(Planner(view, memory.room_search), view, forced, once.recorder)
    writer = Writer(session, view, clock, once, memory.answers, memory.backoff, leadership.left)
    evictions = Evictions(plans, writer, view, Listings(session, view))
    releases = Releases(
        settings, view, plans, writer, forced, leadership.sharing.zeros_wait_elsewhere
    )
    leadership.sharing.zeros_wait = releases.do_zeros_wait
    questions = Questions(session, clock)
    reader = Reader(cluster, view, settings.capacity_labels, once.recorder, questions)
    sought = Questions(session, clock)
    keeper = NodeReconciler(settings, view, memory, session, clock)
    return Loop(
        session,
        clock,
        leadership,
        Watches(session, view, once.recorder),
        Reconcile(view, plans, keeper, reader, memory.room_search, sought, clock),
        writer,
        Sender(plans, forced, writer, evictions, releases),
        Reports(session, plans, view, forced, once, clock),
        telling,
    )


def observe(
    settings: HandoverSettings,
    view: View,
    keeper: NodeReconciler,
    once: OnceRecorder,
    room_search: RoomSearch,
    clock: Clock,
) -> None:
    """Tell what would be done with a gathered view, and do nothing."""
    forced = ForcedEvictions(settings.evictions_per_second, sys.maxsize, Answers(), view.share)
    plans = Plans(Planner(view, room_search), view, forced, once.recorder)
    now = clock.now()
    view.queue.add(plans.controllers, urgent=True)
    _settle(plans, view, clock)
    room_search.ask(plans.room_requests, view, now, Questions(AtOnce(), clock))
    _settle(plans, view, clock)
    forced.settle()
    once.record(slot.step(now) for slot in forced.due(now, now))
    for step in (step for _, plan in plans for step in (*plan.plan.steps, *plan.plan.evictions)):
        if not forced.has_begun(step.subject.uid, now):
            once.record([step])
    released = pace.next_released(plans.rankings, view.pods.members.number)
    once.record(pace.release(each, now) for each in released)
    once.record(keeper.plan(plans, now))
    for _, found in plans:
        if found.counted is not None:  # of all pods, which were listed
            once.count(found.counted)
    once.tell_counts()


def _settle(plans: Plans, view: View, clock: Clock) -> None:
    """Plan for all keys that wait, round by round."""
    now = clock.now()
    while keys := sorted(view.queue.take(clock)):
        for key in keys:
            if key != NODES:
                plans.replan(key, now)
