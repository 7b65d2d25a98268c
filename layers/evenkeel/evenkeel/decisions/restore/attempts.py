"""Moves to spot without room: how many are begun at once, and how long the cluster rests.

The replacement requires spot and is Pending, so that an autoscaler makes a node. Whether one came
is read off the objects: a move's Lease says that it began without room.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec

from evenkeel.decisions.restore.snapshot import Candidate, Snapshot
from evenkeel.decisions.restore.workload import RELEASED_WITHIN
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Lease
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.losses import COUNTS_FOR
from evenkeel.model.meta import Reference
from evenkeel.model.move import Move
from evenkeel.model.placement import Placed
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.spot_rest import NEVER, SpotRest
from evenkeel.model.times import in_words

AFTER_A_SUCCESS: Final = 20
"""One of so many pods that are to go to spot goes at once without room, after a success: 5 %."""


def take_room(snapshot: Snapshot, rooms: Rooms) -> None:
    """Take the room that a node has which came for pods that wait for spot: they are first."""
    for candidate, move in _attempts(snapshot):
        for pod in _made_for(move, candidate):
            if not pod.spec.node_name:
                rooms.take(candidate.request(pod), Capacity.SPOT)


def renewed(snapshot: Snapshot, rest: SpotRest) -> SpotRest:
    """What is known by now.

    - a spot node was warned: it rests;
    - a pod is its owner's again that was moved since the last cause to rest, which its workload has
      not counted already: it rests, twice as long as the last time. Several that came back together
      count as one;
    - else, one of these arrived: failures are forgotten.
    """
    warned = max((min(loss.at, snapshot.now) for loss in snapshot.fleet.losses), default=NEVER)
    if warned > rest.since:
        until = max(rest.until, warned + COUNTS_FOR)
        rest = msgspec.structs.replace(rest, since=warned, until=until)
    for candidate, move in _attempts(snapshot, rest.since):
        cooldown = candidate.cooldown
        is_counted = cooldown is not None and cooldown.since >= move.since
        is_back = any(each.uid == move.pod_uid for each in candidate.owned)
        if is_back and not is_counted and snapshot.now - move.since >= RELEASED_WITHIN:
            return rest.fail(snapshot.now)
    return msgspec.structs.replace(rest, failures=0) if _arrived(snapshot, rest) else rest


def allowed(snapshot: Snapshot, rest: SpotRest) -> int:
    """How many more such moves may be begun now.

    - none while the cluster rests, nor while another run may be about to begin some;
    - one at once; 5 % of the pods that are to go to spot if one arrived since the last cause to
      rest.
    """
    if snapshot.now < max(rest.until, rest.begun + RELEASED_WITHIN):
        return 0
    standings = [each.standing for each in snapshot.candidates]
    surplus = sum(each.surplus for each in standings if each.is_managed)
    at_once = max(1, surplus // AFTER_A_SUCCESS) if _arrived(snapshot, rest) else 1
    under_way = 0
    for candidate, move in _attempts(snapshot):
        released = (pod.uid for pod in candidate.pods if pod.active and pod.released)
        under_way += move.pod_uid in released
    return max(0, at_once - under_way)


def rank(candidate: Candidate) -> datetime:
    """Who comes first: whose moves began longest ago. So none takes the others' turns.

    Their Leases tell that: they are written before the release, which may be refused, and no tenant
    can write them.
    """
    return max((move.since for move in candidate.moves.values()), default=NEVER)


def noted(snapshot: Snapshot, rest: SpotRest, *, begins: bool) -> Decision | None:
    """Note what has changed; None if nothing has.

    ``begins``: such moves are begun now. Of two runs at once only one may.
    """
    now = snapshot.now
    if begins:
        since = now if rest.since == NEVER else rest.since
        until = max(since, rest.until)
        rest = msgspec.structs.replace(rest, since=since, until=until, begun=now)
    if rest == snapshot.rest:
        return None
    rests = now < rest.until
    message = "pods may go to spot without room, so that nodes are made for them"
    if rests:
        message = f"no pod goes to spot without room before {in_words(rest.until)}"
    return Decision.about(
        Reference(Lease.resource.kind, names.SPOT_REST, names.SYSTEM_NAMESPACE),
        Verb.WAIT if rests else Verb.ACKNOWLEDGE,
        Reason.SPOT_RESTS if rests else Reason.SPOT_REST_OVER,
        f"{message}; {rest.failures} came back in a row",
        until=rest.until if rests else None,
        write=rest.write(),
    )


def left(candidate: Candidate, shortage: str, rest: SpotRest | None, now: datetime) -> Decision:
    """Leave a workload that would move without room. ``shortage`` says what is missing."""
    if rest is None:
        return candidate.leave(Reason.NO_ROOM_ON_SPOT, shortage)
    if now < rest.until:
        message = f"{shortage}, and none is asked for before {in_words(rest.until)}"
        return candidate.leave(Reason.NO_ROOM_ON_SPOT, message, until=rest.until)
    message = f"{shortage}, and others ask for a node first: its turn comes in a later run"
    return candidate.wait(Reason.BUDGET_OF_RUN, message)


def _attempts(snapshot: Snapshot, since: datetime = NEVER) -> Sequence[tuple[Candidate, Move]]:
    """The last moves without room of all workloads, that were begun since then."""
    return [
        (candidate, move)
        for candidate in snapshot.candidates
        for move in candidate.moves.values()
        if move.without_room and move.since >= since
    ]


def _arrived(snapshot: Snapshot, rest: SpotRest) -> bool:
    """Whether a pod that was moved since the last cause to rest was replaced on spot."""
    for candidate, move in _attempts(snapshot, rest.since):
        is_there = any(each.uid == move.pod_uid for each in candidate.pods if each.active)
        made = () if is_there else _made_for(move, candidate)
        if any(candidate.fleet.capacity(each) is Capacity.SPOT for each in made):
            return True
    return False


def _made_for(move: Move, candidate: Candidate) -> Sequence[Pod]:
    """The pods that were made for a move: one, unless it went again."""
    notes = ((each, Placed.of(each)) for each in candidate.owned)
    return [each for each, note in notes if note is not None and note.move == move.pod_uid]
