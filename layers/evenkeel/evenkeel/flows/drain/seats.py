"""Frees seats that no plan keeps, also those of another invocation, and holds their nodes."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.node import held
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.plans import NOTHING, Plans
from evenkeel.model import names
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Delete
from evenkeel.model.seat import controller_key

LONGEST: Final = timedelta(minutes=3)
"""So old is a seat that is freed although nothing is known of its pod's workload."""


def freed(plans: Plans, view: View, now: datetime) -> Iterator[Decision]:
    """The seats that go, because the plan for their controller's pods keeps them no longer."""
    for seat in view.seats:
        key, made = controller_key(seat), seat.metadata.creation_timestamp
        kept = plans.of(key).seats
        if kept is None or view.queue.has_changed(key) or seat.leaving:
            continue
        is_left = plans.of(key) is not NOTHING or (made is not None and now - made > LONGEST)
        if is_left and seat.metadata.labels[names.SEAT] not in kept:
            yield _free(seat)


def nodes(plans: Plans, view: View) -> Iterator[Decision]:
    """The nodes that are held from now on, and those that are no more."""
    if not view.nodes.seated:
        return
    wanted = frozenset[str]().union(*(plan.holding for _, plan in plans))
    for name, node in view.nodes.seated.items():
        if name in wanted and not node.is_held:
            yield held.hold(node)
        elif name not in wanted and held.bears_hold(node):
            yield held.let_go(node)


def _free(seat: Pod) -> Decision:
    return Decision.about(
        seat,
        Verb.FREE,
        Reason.SEAT_NOT_NEEDED,
        "the room that it kept is free for the next pod, or not needed",
        write=Delete(Pod, seat.name, seat.namespace, seat.uid, grace_seconds=0),
    )
