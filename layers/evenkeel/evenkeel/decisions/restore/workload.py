"""One workload: why nothing is to be done, or which of its pods moves where."""

from datetime import datetime, timedelta
from typing import Final

from evenkeel.decisions.drain import writes
from evenkeel.decisions.restore import moving, other_pool, relaxed_floor, template
from evenkeel.decisions.restore.moving import Moving
from evenkeel.decisions.restore.snapshot import Candidate, Snapshot
from evenkeel.decisions.restore.step import RestoreStep, StepOrDecision
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.deployment import Deployment
from evenkeel.model.ordinal import index_of
from evenkeel.model.reasons import Reason
from evenkeel.model.release import FORGOTTEN_AFTER, rest_after
from evenkeel.model.template import is_by_template
from evenkeel.model.times import in_words

RELEASED_WITHIN: Final = timedelta(seconds=30)
"""A run that told the webhook of a move releases its pod within this time, or has died."""


def consider(candidate: Candidate, snapshot: Snapshot, rooms: Rooms) -> StepOrDecision:
    """Decide about one workload.

    - a workload that is not restore's is left: see ``_hands_off``;
    - where a workload's template places its pods, or has done so, no pod is moved: see
      ``template``;
    - one that is busy already is left: see ``_busy``;
    - a floor that no on-demand node has room for is relaxed, or held again: see
      ``relaxed_floor``. A gang's is not, for it is on one capacity type, nor one that the admission
      policy holds, which does not see that;
    - one that is as wanted is left, and a StatefulSet whose floor is a default: see ``_settled``;
    - one whose new pods nothing would place is left, and one in a rollout or in its cooldown, and
      the like, waits: see ``_not_now``;
    - a gang moves as one, or not at all;
    - else one pod of it moves: towards on-demand if its floor is not held, to spot if more are on
      on-demand, or to another pool if one has too many (see ``moving`` and ``other_pool``).
    """
    workload, hands_off = candidate.workload, _hands_off(candidate)
    if hands_off is not None:
        return hands_off
    busy = _busy(candidate, snapshot)
    was_by_template = names.TEMPLATE in workload.metadata.annotations or candidate.trace is not None
    if was_by_template or is_by_template(workload):
        return template.consider(candidate, snapshot.now, rooms, busy or _in_rollout(candidate))
    if busy is not None:
        return busy
    standing, in_gang = candidate.standing, candidate.group is not None
    if not in_gang and not candidate.by_policy:
        relaxed = relaxed_floor.consider(candidate, snapshot, rooms)
        if relaxed is not None:
            return relaxed
    if standing.missing or standing.surplus:
        target = Capacity.ON_DEMAND if standing.missing else Capacity.SPOT
        found = Moving(candidate, target, snapshot, rooms)
    else:
        avoid = () if in_gang else other_pool.to_avoid(candidate)
        if not avoid:
            return _settled(candidate)
        found = Moving(candidate, Capacity.SPOT, snapshot, rooms, avoid)
    return _not_now(found) or moving.move(found)


def _hands_off(candidate: Candidate) -> Decision | None:
    """Why a workload is none of restore's business.

    - its pods are not placed: its namespace is not managed, or the cluster itself needs it;
    - nothing of it runs.
    """
    if candidate.workload.namespace in names.CLUSTERS_OWN:
        return candidate.leave(Reason.SYSTEM_NAMESPACE, "nothing is moved in this namespace")
    if not candidate.standing.is_managed:
        message = f"its namespace has not {names.MANAGED}=true"
        return candidate.leave(Reason.NOT_MANAGED, message)
    if not candidate.standing.replicas:
        return candidate.leave(Reason.SCALED_TO_ZERO, "it is scaled to zero")
    return None


def _busy(candidate: Candidate, snapshot: Snapshot) -> Decision | None:
    """Why nothing more is begun with a workload now.

    - a pod of it is being handed over, or another run is about to release it: one at a time, also
      for a notice;
    - a node of its pods is doomed: its pods move anyhow.
    """
    moves = candidate.moves.values()
    begun = {move.pod_uid for move in moves if snapshot.now - move.since < RELEASED_WITHIN}
    for pod in candidate.pods:
        if pod.active and (pod.released or pod.uid in begun):
            message = f"{pod.name} is being handed over: one at a time"
            return candidate.wait(Reason.MOVING, message)
    if not candidate.fleet.doomed.isdisjoint([pod.spec.node_name for pod in candidate.owned]):
        message = "a node of its pods is doomed: they are moved off it"
        return candidate.wait(Reason.NODE_DOOMED, message)
    return None


def _settled(candidate: Candidate) -> Decision:
    """Leave a workload that is as wanted, or of which nobody said what is wanted."""
    standing = candidate.standing
    if standing.stays and standing.on_demand != standing.wanted:
        message = (
            f"{standing.on_demand} on on-demand, {standing.wanted} of {standing.replicas} by"
            f" default: no pod is restarted unless its owner sets {names.ON_DEMAND}"
        )
        return candidate.leave(Reason.DEFAULT_FLOOR, message)
    message = "its floor is held, and all above it is on spot"
    return candidate.leave(Reason.AS_WANTED, message)


def _not_now(found: Moving) -> StepOrDecision | None:
    """Why a workload that is off has to wait, or what is written about it first.

    - its scheduler may not go by what it would be asked, and nothing would place the pod that is
      made for the one that moves;
    - its Deployment is paused, or in a rollout: new pods are placed as they come;
    - a pod of it has no node yet: the scheduler is at work, or there is no room at all;
    - the rules of those that could go exclude where one would have to go;
    - the last move did not last: that is counted as a failure;
    - it rests after failures, and before a pod goes to another pool after any move.
    """
    candidate = found.candidate
    if (left := candidate.left_to_scheduler) is not None:
        return candidate.leave(left.reason, f"{left.message}: no pod is moved")
    if candidate.unplaced:
        return candidate.leave(Reason.NOTHING_PLACES, f"{candidate.unplaced}: no pod is moved")
    if candidate.by_policy and candidate.untold:
        message = f"the policy would place the next pod, so none is moved: {candidate.untold[0]}"
        return candidate.leave(Reason.POLICY_CANNOT_TELL, message)
    waits = _in_rollout(candidate)
    if waits is not None:
        return waits
    if candidate.standing.waiting:
        return candidate.wait(Reason.PODS_WAIT, candidate.standing.told_of_waiting)
    if not found.is_allowed:
        return candidate.leave(Reason.OWN_RULES, f"its own rules exclude {found.target}")
    rests = _after_failures(candidate, found.target, found.snapshot.now)
    return other_pool.not_now(found) if rests is None and found.avoid else rests


def _after_failures(candidate: Candidate, target: Capacity, now: datetime) -> StepOrDecision | None:
    """Why a workload is not moved to this capacity type now, or that a failure is counted.

    None if it may be moved.

    - the last move did not last: see ``_relapse``;
    - after a failure it rests until its cooldown is over;
    - while failures count, also after a move that went well: one move for each cooldown;
    - but a floor does not wait because spot failed.
    """
    failed = _relapse(candidate, now)
    if failed:
        write = writes.cooldown_patch(candidate.workload, now)
        decision = candidate.about(Verb.COOL_DOWN, Reason.MOVE_DID_NOT_LAST, failed, write=write)
        return RestoreStep(decision=decision)
    last, cooldown = candidate.last_move, candidate.cooldown
    counted = candidate.failures(target, now)
    if cooldown is None or not counted:
        return None
    if now < cooldown.until:
        until, so = cooldown.until, ": none before"
    elif last is not None and last.at <= now < last.at + rest_after(counted):
        until, so = last.at + rest_after(counted), ", so the next comes no sooner than"
    else:
        return None
    message = f"{counted} moves failed{so} {in_words(until)}"
    return candidate.wait(Reason.COOLING_DOWN, message, until=until)


def _relapse(candidate: Candidate, now: datetime) -> str:
    """Why the last move counts as failed although it was not rolled back; empty if it does not.

    - to spot, and fewer of the workload's pods are on spot now than the move made: spot did not
      last. Fewer replicas, or a greater floor, are no failure;
    - of an ordinal, which is back on the capacity type that it was to leave. Not of one that never
      left: a budget refused its eviction.

    Not if a failure was counted since, nor of a move that is a good while ago.
    """
    last, cooldown, workload = candidate.last_move, candidate.cooldown, candidate.workload
    if last is None or not now - FORGOTTEN_AFTER < last.at <= now:
        return ""
    if cooldown is not None and cooldown.since >= last.at:
        return ""
    standing = candidate.standing
    if not isinstance(workload, StatefulSet):
        made = min(last.spot, standing.replicas - standing.wanted)
        if last.target is Capacity.SPOT and standing.spot < made:
            return f"{standing.spot} of {made} pods are left on spot: it did not last"
        return ""
    moved = next((pod for pod in candidate.owned if pod.name == last.pod), None)
    if moved is None or candidate.fleet.capacity(moved) is not last.target.other:
        return ""
    # The API server cuts the time at which a pod was made to whole seconds.
    created = moved.metadata.creation_timestamp
    if created is None or created <= last.at - timedelta(seconds=1):
        return ""
    is_floor = standing.floor.floor.includes(index_of(moved, workload))
    if is_floor is (last.target is Capacity.ON_DEMAND):
        return f"{moved.name} came back on {last.target.other}"
    return ""


def _in_rollout(candidate: Candidate) -> Decision | None:
    """Leave a Deployment that is paused, or whose pods are not all of one ReplicaSet."""
    deployment = candidate.workload
    if not isinstance(deployment, Deployment):
        return None
    if deployment.spec.paused:
        message = "its rollouts are paused: it is left alone until then"
        return candidate.leave(Reason.ROLLOUT_PAUSED, message)
    sizes = [each.spec.replicas for each in candidate.live_sets]
    is_observed = deployment.status.observed_generation >= deployment.metadata.generation
    if sizes == [deployment.spec.replicas] and is_observed:
        return None
    return candidate.wait(Reason.IN_ROLLOUT, "it is in a rollout, or being scaled")
