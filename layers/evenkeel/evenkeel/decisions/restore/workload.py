"""One workload: why nothing is to be done, or which of its pods moves where."""

from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.drain import writes
from evenkeel.decisions.placement.rules import allowed_by
from evenkeel.decisions.restore import (
    cooldown,
    move_deployment,
    move_gang,
    move_stateful_set,
    other_pool,
    relaxed_floor,
    template,
)
from evenkeel.decisions.restore.moving import Moving
from evenkeel.decisions.restore.snapshot import Case, Snapshot
from evenkeel.decisions.restore.step import Outcome, Step, about, leave
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.deployment import Deployment
from evenkeel.model.gang import GroupName
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason

RELEASED_WITHIN: Final = timedelta(seconds=30)
"""A run that told the webhook of a move releases its pod within this time, or has died."""


def consider(case: Case, snapshot: Snapshot, rooms: Rooms, *, may_wait: bool = False) -> Outcome:
    """Decide about one workload. ``may_wait``: a spot node may be asked for where none has room.

    - a workload that is not restore's is left: see ``_hands_off``;
    - where a workload's template places its pods, no pod is moved: see ``template``;
    - one that is busy already is left: see ``_busy``;
    - a floor that no on-demand node has room for is relaxed, or held again: see
      ``relaxed_floor``. A gang's is not, for it is on one capacity type, nor one that the admission
      policy holds, which does not see that;
    - one that is as wanted is left, and a StatefulSet whose floor is a default: see ``_settled``;
    - one whose new pods nothing would place is left, and one in a rollout or in its cooldown, and
      the like, waits: see ``_not_now``;
    - a gang moves as one, or not at all: see ``move_gang``;
    - else one pod of it moves: towards on-demand if its floor is not held, to spot if more are on
      on-demand, or to another pool if one has too many (see ``other_pool``).
    """
    hands_off = _hands_off(case)
    if hands_off is not None:
        return hands_off
    busy = _busy(case, snapshot)
    if template.concerns(case):
        return template.consider(case, snapshot, rooms, busy=busy or _in_rollout(case))
    if busy is not None:
        return busy
    group = move_gang.named_by(case.workload, case.namespace_objects)
    if group is None and not case.placing.by_policy:
        relaxed = relaxed_floor.consider(case, snapshot, rooms)
        if relaxed is not None:
            return relaxed
    target = _target(case)
    settled = target is None and group is None
    avoid = other_pool.to_avoid(case, snapshot.fleet) if settled else ()
    if target is None and not avoid:
        return _settled(case)
    moving = Moving(case, target or Capacity.SPOT, snapshot, rooms, may_wait, avoid)
    return _not_now(moving) or _move(moving, group)


def _move(moving: Moving, group: GroupName | None) -> Outcome:
    replica_sets = _replica_sets(moving.case)
    if group is not None:
        return move_gang.move(moving, group, replica_sets)
    if isinstance(moving.case.workload, Deployment):
        (replica_set,) = replica_sets
        return move_deployment.move(moving, replica_set)
    return move_stateful_set.move(moving)


def _hands_off(case: Case) -> Decision | None:
    """Why a workload is none of restore's business.

    - its pods are not placed: its namespace is not managed, or the cluster itself needs it;
    - nothing of it runs.
    """
    if case.workload.namespace in names.CLUSTERS_OWN:
        return leave(case, Reason.SYSTEM_NAMESPACE, "nothing is moved in this namespace")
    if not case.standing.is_managed:
        message = f"its namespace has not {names.MANAGED}=true"
        return leave(case, Reason.NOT_MANAGED, message)
    if not case.standing.replicas:
        return leave(case, Reason.SCALED_TO_ZERO, "it is scaled to zero")
    return None


def _busy(case: Case, snapshot: Snapshot) -> Decision | None:
    """Why nothing more is begun with a workload now.

    - a pod of it is being handed over: one at a time, also for a notice;
    - a node of its pods is doomed: its pods move anyhow.
    """
    moving = next((pod for pod in case.pods if _is_moving(case, pod, snapshot.now)), None)
    if moving is not None:
        message = f"{moving.name} is being handed over: one at a time"
        return leave(case, Reason.MOVING, message, verb=Verb.WAIT)
    if any(map(snapshot.fleet.is_doomed, case.owned)):
        message = "a node of its pods is doomed: they are moved off it"
        return leave(case, Reason.NODE_DOOMED, message, verb=Verb.WAIT)
    return None


def _is_moving(case: Case, pod: Pod, now: datetime) -> bool:
    """Whether a pod is being handed over, or another run is about to release it."""
    about_to = any(
        move.pod_uid == pod.uid and now - move.since < RELEASED_WITHIN
        for move in case.moves.values()
    )
    return pod.active and (pod.released or about_to)


def _target(case: Case) -> Capacity | None:
    """Where a pod of the workload has to go, if any: a missing floor counts more than surplus."""
    if case.standing.missing:
        return Capacity.ON_DEMAND
    return Capacity.SPOT if case.standing.surplus else None


def _settled(case: Case) -> Decision:
    """Leave a workload that is as wanted, or of which nobody said what is wanted."""
    standing = case.standing
    if standing.stays and standing.on_demand != standing.wanted:
        message = (
            f"{standing.on_demand} on on-demand, {standing.wanted} of {standing.replicas} by"
            f" default: no pod is restarted unless its owner sets {names.ON_DEMAND}"
        )
        return leave(case, Reason.DEFAULT_FLOOR, message)
    return leave(case, Reason.AS_WANTED, "its floor is held, and all above it is on spot")


def _not_now(moving: Moving) -> Outcome | None:
    """Why a workload that is off has to wait, or what is written about it first.

    - its scheduler may not go by what it would be asked, and nothing would place the pod that is
      made for the one that moves;
    - its Deployment is paused, or in a rollout: new pods are placed as they come;
    - a pod of it has no node yet: the scheduler is at work, or there is no room at all;
    - the rules of those that could go exclude where one would have to go;
    - the last move did not last: that is counted as a failure;
    - it rests after failures, and before a pod goes to another pool after any move.
    """
    case, target, snapshot = moving.case, moving.target, moving.snapshot
    if (left := case.left_to_scheduler) is not None:
        return leave(case, left.reason, f"{left.message}: no pod is moved")
    if case.placing.nothing:
        return leave(case, Reason.NOTHING_PLACES, f"{case.placing.nothing}: no pod is moved")
    if case.placing.by_policy and case.placing.cannot_tell:
        message = (
            f"the policy would place the next pod, so none is moved: {case.placing.cannot_tell[0]}"
        )
        return leave(case, Reason.POLICY_CANNOT_TELL, message)
    waits = _in_rollout(case)
    if waits is not None:
        return waits
    if case.standing.waiting:
        return leave(case, Reason.PODS_WAIT, case.standing.told_of_waiting, verb=Verb.WAIT)
    if all(target not in allowed_by(each, snapshot.fleet.labels) for each in moving.rules):
        return leave(case, Reason.OWN_RULES, f"its own rules exclude {target}")
    return _after_failures(case, target, snapshot) or other_pool.not_now(moving)


def _after_failures(case: Case, target: Capacity, snapshot: Snapshot) -> Outcome | None:
    now, workload = snapshot.now, case.workload
    failed = cooldown.relapse(case, snapshot.fleet, now)
    if not failed:
        return cooldown.rest(case, target, now)
    write = writes.cooldown_patch(workload, now)
    decision = about(case, Verb.COOL_DOWN, Reason.MOVE_DID_NOT_LAST, failed, write=write)
    return Step(workload=workload.key, decision=decision)


def _in_rollout(case: Case) -> Decision | None:
    """Leave a Deployment that is paused, or whose pods are not all of one ReplicaSet."""
    deployment = case.workload
    if not isinstance(deployment, Deployment):
        return None
    if deployment.spec.paused:
        return leave(
            case, Reason.ROLLOUT_PAUSED, "its rollouts are paused: it is left alone until then"
        )
    found = _replica_sets(case)
    settled = [each.spec.replicas for each in found] == [
        deployment.spec.replicas
    ] and deployment.status.observed_generation >= deployment.metadata.generation
    if settled:
        return None
    return leave(case, Reason.IN_ROLLOUT, "it is in a rollout, or being scaled", verb=Verb.WAIT)


def _replica_sets(case: Case) -> list[ReplicaSet]:
    """The ReplicaSets that want pods or have some."""
    owners = {pod.controller_key for pod in case.owned}
    return [each for each in case.replica_sets if each.spec.replicas or each.key in owners]
