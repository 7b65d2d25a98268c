"""Seats: room that is kept for the next pods of those that go before others run.

A pod that goes first waits until its seat has a node, as long as its turn allows. So of the gap
that it leaves the start of its next pod alone is left, and no node is waited for.

1. While the pod serves, its seat is made, and gets a node.
2. The pod goes. The node of its seat is held: it takes no other pod (``decisions/node/held.py``).
3. Its next pod is made, and let in to that node. Then the seat is freed.
4. The next pod has its node: that is let go.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.drain import turns, verdicts
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.deadlines import A_FEW_SECONDS
from evenkeel.decisions.drain.movers import MovingPod
from evenkeel.decisions.drain.pod_plan import PodPlan
from evenkeel.model import names
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.times import next_due
from evenkeel.model.way import Way

TAKE_SEATS: Final = (Way.RATIONED, Way.BY_ORDINAL, Way.AT_ONCE)

TOO_LATE: Final = timedelta(seconds=10)
"""A pod that goes sooner gets no seat: it takes a few seconds until one has its node."""

HELD_WITHIN: Final = timedelta(seconds=4)
"""So long after the next pod was made its seat is freed, also if its node cannot be held."""

HELD_FOR: Final = timedelta(seconds=30)
"""So long after it was made a node is held for a pod. What it lacks then is not the seat's room."""


def decide(census: Census) -> Iterator[PodPlan]:
    """Make seats for the pods that have none, and let next pods in to those that are theirs."""
    for mover in _unseated(census):
        yield PodPlan(verdicts.seated(census, mover))
    if census.seats:  # an invocation stays until they have their nodes, and are taken
        yield PodPlan(due=census.seats_change_at, awaits_pods=True)
    for uid, next_pod in _taken(census):
        node = census.nodes.seated.get(census.seats[uid].spec.node_name)
        if next_pod is None or next_pod.metadata.creation_timestamp is None:
            continue
        made = next_pod.metadata.creation_timestamp
        yield PodPlan(due=next_due(census.now, made + HELD_WITHIN, made + HELD_FOR))
        if node is not None and names.SEAT not in next_pod.metadata.annotations:
            yield PodPlan(verdicts.let_in(census, next_pod, node, uid))


def _unseated(census: Census) -> Sequence[MovingPod]:
    """The pods that get a seat now: they serve on dying nodes, and go before another one runs."""
    if not census.new_seats:
        return ()
    usable = _usable(census)
    without = (
        mover
        for mover in census.movers(*TAKE_SEATS)
        if mover.deadline.forced
        and not mover.lives
        and mover.together is None
        and not mover.pod.is_moved_alive
        and census.is_available(mover.pod)
        and census.now + TOO_LATE < census.evict_by(mover)
        and mover.pod.uid not in usable
    )
    return sorted(without, key=census.turn_of)[: census.new_seats]


def _usable(census: Census) -> Mapping[str, Pod]:
    """The seats that have not ended, and are not on nodes that are drained or gone."""
    nodes = census.nodes
    return {
        uid: seat
        for uid, seat in sorted(census.seats.items())
        if seat.active and not nodes.is_doomed(seat) and not nodes.is_lost(seat)
    }


def awaited(census: Census) -> Collection[str]:
    """The uids of the pods whose seats have no node yet, or are about to be made."""
    waiting = (each.pod.uid for each in _unseated(census))
    there = (uid for uid, seat in _usable(census).items() if not seat.spec.node_name)
    return {*waiting, *there}


def turns_begin_by(census: Census, line: Sequence[MovingPod]) -> datetime:
    """When the first of these goes at the latest, seat or not, for a turn to be left for each.

    So many at a time as may be missing anyhow. A pod takes a few seconds to stop as long as none
    was seen to. Now where none of their nodes dies.
    """
    dying = [each for each in line if each.deadline.forced]
    last = max((census.evict_by(each) for each in dying), default=census.now)
    others = math.ceil(len(dying) / turns.least_missing(census)) - 1
    shortest = turns.turn_length(census, census.stops_in or A_FEW_SECONDS)
    return last - others * max(shortest, turns.seen_length(census))


def kept(census: Census) -> frozenset[str]:
    """The seats that are of use yet, each by the uid of its pod.

    Those of pods that are to go, and of pods that went, until their next ones have the room.
    """
    if not census.seats:
        return frozenset()
    to_go = {each.pod.uid for each in census.movers(*TAKE_SEATS) if each.deadline.forced}
    after = (uid for uid, next_pod in _taken(census) if not _has_room(census, uid, next_pod))
    return frozenset((*(_usable(census).keys() & to_go), *after))


def _taken(census: Census) -> Sequence[tuple[str, Pod | None]]:
    """The seats of pods that went, by their uids, each with the pod that comes in its place.

    None: it is not made yet. A seat for which none will come is not among them.
    """
    if not census.seats:
        return ()
    there = {pod.uid for pod in census.pods}
    left = {uid: seat for uid, seat in _usable(census).items() if uid not in there}
    found = list[tuple[str, Pod | None]]()
    for pod in census.owned:
        if not pod.spec.node_name and (uid := _seat_for(pod, left)):
            found.append((uid, pod))
            del left[uid]
    to_make = max(0, census.count.spec_replicas - len(census.owned))
    return [*found, *((uid, None) for uid in [*left][:to_make])]


def _seat_for(pod: Pod, seats: Mapping[str, Pod]) -> str:
    """The seat of a pod that has no node, by the uid of the pod before it; empty without one.

    The one to which it was let in; else one with a node, its own ordinal's if that has one.
    """
    taken = pod.metadata.annotations.get(names.SEAT)
    if taken is not None:
        return taken if taken in seats else ""

    def worth(uid: str) -> tuple[bool, bool]:
        is_own = seats[uid].metadata.annotations.get(names.SEAT_FOR) == pod.name
        return bool(seats[uid].spec.node_name), is_own

    return max(seats, key=worth, default="")


def _has_room(census: Census, uid: str, next_pod: Pod | None) -> bool:
    """Whether the seat may go: its node is held for the next pod, or could not be held in time.

    A seat without a node is in the way of its next pod, which asks for one itself.
    """
    if next_pod is None:
        return False
    name, made = census.seats[uid].spec.node_name, next_pod.metadata.creation_timestamp
    if not name or (made is not None and census.now - made > HELD_WITHIN):
        return True
    node = census.nodes.seated.get(name)
    return node is not None and node.is_held and _is_let_in(next_pod, node)


def held(census: Census) -> frozenset[str]:
    """The names of the nodes that are held for the next pods of those that went."""
    nodes = census.nodes.seated
    if not nodes:
        return frozenset()
    seats = (census.seats[uid].spec.node_name for uid, _ in _taken(census))
    waiting = [pod for pod in census.owned if not pod.spec.node_name and _is_young(census, pod)]
    waited_for = (
        name for name, node in nodes.items() if any(_is_let_in(pod, node) for pod in waiting)
    )
    return frozenset((*seats, *waited_for)) & nodes.keys()


def _is_young(census: Census, pod: Pod) -> bool:
    made = pod.metadata.creation_timestamp
    return made is not None and census.now - made < HELD_FOR


def _is_let_in(pod: Pod, node: Node) -> bool:
    """Whether it tolerates that this node is held: nobody else knows the uid that this takes."""
    there = pod.spec.tolerations or ()
    return any((each.key, each.value) == (names.SEAT, node.uid) for each in there)
