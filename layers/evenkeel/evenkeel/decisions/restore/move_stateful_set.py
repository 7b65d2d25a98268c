"""Moving one pod of a StatefulSet: it is evicted, and the webhook places the ordinal's next pod."""

from datetime import timedelta
from typing import Final

from evenkeel.decisions.drain import budgets, writes
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.restore.moving import Moving
from evenkeel.decisions.restore.step import Outcome, Step, leave
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.ordinal import index_of
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Write
from evenkeel.model.way import Way

PLACED_WITHIN: Final = timedelta(minutes=2)
"""An evicted ordinal is made again within this time, its grace period included."""


def move(moving: Moving) -> Outcome:
    """Evict one ordinal that is not where it should be; or say why not.

    Nothing runs in its place meanwhile, so all of these have to hold:

    - it would come back with the same template: under OnDelete its owner updates by deleting;
    - all pods are Ready, and its budget allows one less now;
    - a node of the other capacity type has room, and can mount its volumes;
    - away from on-demand only while the floor is Ready there without it.

    The highest ordinal goes first, as in a rolling update.
    """
    case, target = moving.case, moving.target
    stateful_set = case.workload
    assert isinstance(stateful_set, StatefulSet)  # noqa: S101 - a Deployment's are handed over
    pod = _choose(moving, stateful_set)
    if pod is None:
        return leave(
            case, Reason.NOBODY_TO_MOVE, f"no ordinal that belongs on {target} is elsewhere"
        )
    held = _held(moving, stateful_set, pod) or moving.floor_needs(pod)
    if held is not None:
        return held
    request = moving.request(pod)
    if not moving.rooms.take(request, target):
        short = moving.rooms.shortage(request, target)
        reason = Reason.NO_ROOM_ON_SPOT if target is Capacity.SPOT else Reason.NO_ROOM_ON_DEMAND
        return leave(
            case, Reason.NO_NODE_TAKES_IT if short.is_refused else reason, short.of(pod.name)
        )
    return _step(moving, pod)


def _choose(moving: Moving, stateful_set: StatefulSet) -> Pod | None:
    """The highest ordinal that belongs on the target, and is not there."""
    floor, belongs = moving.case.standing.floor.floor, moving.target is Capacity.ON_DEMAND
    off = [
        pod for pod in moving.candidates if floor.includes(index_of(pod, stateful_set)) is belongs
    ]
    return max(off, key=lambda pod: index_of(pod, stateful_set) or 0, default=None)


def _held(moving: Moving, stateful_set: StatefulSet, pod: Pod) -> Decision | None:
    case, now = moving.case, moving.snapshot.now
    owner = Owner(kind="StatefulSet", controller=stateful_set)
    stays = moving.stays(pod, owner, Way.BY_ORDINAL)
    if stays is not None:
        return stays
    if _would_update(stateful_set, pod):
        message = f"{pod.name} would come back with the new template: its owner says when"
        return leave(case, Reason.UPDATE_ON_DELETE, message)
    least = stateful_set.spec.min_ready_seconds
    available = sum(each.available(now, least) for each in case.owned)
    if available < stateful_set.spec.replicas:
        message = f"{available} of {stateful_set.spec.replicas} are available"
        return leave(case, Reason.NOT_ALL_AVAILABLE, message, verb=Verb.WAIT)
    selecting = case.namespace_objects.budgets_of(pod)
    used_up = (each for each in selecting if each.status.disruptions_allowed < 1)
    return moving.held_by(budgets.hold_now(selecting) or next(used_up, None))


def _would_update(stateful_set: StatefulSet, pod: Pod) -> bool:
    newest = stateful_set.status.update_revision
    on_delete = stateful_set.spec.update_strategy.type == "OnDelete"
    return on_delete and pod.metadata.labels.get(names.REVISION_HASH, newest) != newest


def _step(moving: Moving, pod: Pod) -> Step:
    """The move; to spot the webhook is told, because a preference may not bring it there.

    On-demand is required of an ordinal of the floor anyhow. One that finds no place on spot is
    deleted by the next run (see ``relaxed_floor``); the pod made then only prefers it.
    """
    before: list[Write] = [moving.note(pod, 1)]
    if moving.target is Capacity.SPOT:
        until = moving.snapshot.now + PLACED_WITHIN
        before.append(moving.announce(moving.case.workload.reference, pod, until))
    message = "nothing runs in its place meanwhile"
    decision = moving.decide(Verb.EVICT, pod, writes.evict(pod), message)
    return Step(workload=moving.case.workload.key, decision=decision, before=before, moves=1)
