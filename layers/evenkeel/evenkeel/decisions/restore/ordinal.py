"""Moving one pod of a StatefulSet: it is evicted, and the webhook places the ordinal's next pod."""

from datetime import timedelta
from typing import Final

from evenkeel.decisions.drain import budgets, writes
from evenkeel.decisions.drain.break_first import ordinal_of
from evenkeel.decisions.drain.route import Way, route
from evenkeel.decisions.drain.surroundings import Owner
from evenkeel.decisions.floor.source import Source
from evenkeel.decisions.restore import memory
from evenkeel.decisions.restore.handover import floor_held_without, reason_of, tell, why
from evenkeel.decisions.restore.room import Rooms, Wish
from evenkeel.decisions.restore.snapshot import Case, Snapshot
from evenkeel.decisions.restore.step import Outcome, Step, about, leave
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.move import new_move
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.request import Write
from evenkeel.model.workload import StatefulSet

PLACED_WITHIN: Final = timedelta(minutes=2)
"""An evicted ordinal is made again within this time, its grace period included."""


def move(case: Case, target: Capacity, snapshot: Snapshot, rooms: Rooms) -> Outcome:
    """Evict one ordinal that is not where it should be; or say why not.

    Nothing runs in its place meanwhile, so all of these have to hold:

    - its owner asked for the floor, if it is the only pod: by default that is not restarted;
    - it would come back with the same template: under OnDelete its owner updates by deleting;
    - all pods are Ready, and its budget allows one less now;
    - a node of the other capacity type has room, in the zone of its volumes;
    - away from on-demand only while the floor is Ready there without it.

    The highest ordinal goes first, as in a rolling update.
    """
    stateful_set = case.workload
    assert isinstance(stateful_set, StatefulSet)  # noqa: S101 - a Deployment's are handed over
    floor = case.standing.floor
    if stateful_set.spec.replicas == 1 and floor.source is Source.DEFAULT:
        message = "its only pod is not restarted, unless its owner asks for a floor"
        return leave(case, Reason.SINGLE_BY_DEFAULT, message)
    pod = _who(case, stateful_set, target, snapshot)
    if pod is None:
        return leave(
            case, Reason.NOBODY_TO_MOVE, f"no ordinal that belongs on {target} is elsewhere"
        )
    owner = Owner(kind="StatefulSet", controller=stateful_set)
    held = _held(case, stateful_set, pod, owner, snapshot)
    held = held or floor_held_without(case, pod, target)
    if held is not None:
        return held
    wish = Wish(
        requests=pod.requests,
        rules=stateful_set.spec.template.spec,
        zone=_zone(case, pod, snapshot),
    )
    if not rooms.take(wish, target):
        where = f" in {wish.zone}" if wish.zone else ""
        reason = Reason.NO_ROOM_ON_SPOT if target is Capacity.SPOT else Reason.NO_ROOM_ON_DEMAND
        return leave(case, reason, f"no {target} node{where} has room for {pod.name}")
    return _step(case, pod, target, snapshot)


def _who(case: Case, stateful_set: StatefulSet, target: Capacity, snapshot: Snapshot) -> Pod | None:
    """The highest ordinal that belongs on ``target``, and is not there."""
    first = stateful_set.spec.ordinals.start
    floor = case.standing.floor.floor
    off = [
        pod
        for pod in case.owned
        if snapshot.fleet.capacity(pod) is target.other
        and floor.includes(ordinal_of(pod) - first) is (target is Capacity.ON_DEMAND)
    ]
    return max(off, key=ordinal_of, default=None)


def _held(
    case: Case, stateful_set: StatefulSet, pod: Pod, owner: Owner, snapshot: Snapshot
) -> Decision | None:
    way = route(pod, owner, case.surroundings, hint=True, now=snapshot.now)
    if way.way is not Way.BY_ORDINAL:
        return leave(case, way.reason, way.message, until=way.until)
    if _would_update(stateful_set, pod):
        message = f"{pod.name} would come back with the new template: its owner says when"
        return leave(case, Reason.UPDATE_ON_DELETE, message)
    least = stateful_set.spec.min_ready_seconds
    available = sum(each.available(snapshot.now, least) for each in case.owned)
    if available < stateful_set.spec.replicas:
        message = f"{available} of {stateful_set.spec.replicas} are available"
        return leave(case, Reason.NOT_ALL_AVAILABLE, message, verb=Verb.WAIT)
    selecting = case.surroundings.budgets_of(pod)
    hold = budgets.hold_now(selecting) or next(
        (budget for budget in selecting if budget.status.disruptions_allowed < 1), None
    )
    if hold is None:
        return None
    return leave(case, Reason.BUDGET_HOLDS, f"{hold.reference} leaves no room")


def _would_update(stateful_set: StatefulSet, pod: Pod) -> bool:
    newest = stateful_set.status.update_revision
    on_delete = stateful_set.spec.update_strategy.type == "OnDelete"
    return on_delete and pod.metadata.labels.get(names.REVISION_HASH, newest) != newest


def _zone(case: Case, pod: Pod, snapshot: Snapshot) -> str:
    """The zone that a pod's volumes keep it in; empty if it has none that only one node mounts."""
    mounted = {
        volume.persistent_volume_claim.claim_name
        for volume in pod.spec.volumes
        if volume.persistent_volume_claim is not None
    }
    shared = {claim.name for claim in case.surroundings.claims if not claim.single_node}
    if not mounted - shared:
        return ""
    return snapshot.fleet.nodes[pod.spec.node_name].metadata.labels.get(names.ZONE, "")


def _step(case: Case, pod: Pod, target: Capacity, snapshot: Snapshot) -> Step:
    """The move; to spot the webhook is told, because a preference may not bring it there.

    On-demand is required of an ordinal of the floor anyhow. One that finds no place on spot is
    deleted by the next run (see ``relaxing``); the pod made then only prefers it.
    """
    now = snapshot.now
    before: list[Write] = [memory.note(case, pod.name, target, now)]
    if target is Capacity.SPOT:
        owner = case.workload.reference
        lease = new_move(owner, pod.reference, target, now, now + PLACED_WITHIN)
        before.append(tell(lease, case.moves.get(owner.uid)))
    message = f"{why(case, target)}; nothing runs in its place meanwhile"
    decision = about(case, Verb.EVICT, reason_of(target), message, pod=pod, write=writes.evict(pod))
    return Step(workload=case.workload.key, decision=decision, before=before, moves=1)
