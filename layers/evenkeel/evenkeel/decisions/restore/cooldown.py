"""What restore remembers of a workload, and how long that makes it rest."""

from datetime import datetime, timedelta

import msgspec

from evenkeel.decisions.drain import writes
from evenkeel.decisions.restore.snapshot import Case
from evenkeel.decisions.restore.step import leave
from evenkeel.decisions.room.fleet import Fleet
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.move import Restored
from evenkeel.model.ordinal import index_of
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.release import FORGOTTEN_AFTER, rest_after
from evenkeel.model.request import Patch
from evenkeel.model.times import in_words


def relapse(case: Case, fleet: Fleet, now: datetime) -> str:
    """Why the last move counts as failed although it was not rolled back; empty if it does not.

    - to spot, and fewer of the workload's pods are on spot now than the move made: spot did not
      last. Fewer replicas, or a greater floor, are no failure;
    - of an ordinal, which is back on the capacity type that it was to leave. Not of one that never
      left: a budget refused its eviction.

    Not if a failure was counted since, nor of a move that is a good while ago.
    """
    last = Restored.of(case.workload)
    if last is None or not now - FORGOTTEN_AFTER < last.at <= now:
        return ""
    cooldown = writes.cooldown_of(case.workload)
    if cooldown is not None and cooldown.since >= last.at:
        return ""
    standing = case.standing
    if isinstance(case.workload, StatefulSet):
        moved = next((pod for pod in case.owned if pod.name == last.pod), None)
        if moved is None or fleet.capacity(moved) is not last.target.other:
            return ""
        if not _is_younger(moved, last.at):
            return ""
        is_floor = standing.floor.floor.includes(index_of(moved, case.workload))
        if is_floor is (last.target is Capacity.ON_DEMAND):
            return f"{moved.name} came back on {last.target.other}"
        return ""
    made = min(last.spot, standing.replicas - standing.wanted)
    if last.target is Capacity.SPOT and standing.spot < made:
        return f"{standing.spot} of {made} pods are left on spot: it did not last"
    return ""


def _is_younger(pod: Pod, time: datetime) -> bool:
    """Whether a pod was made after this time; the API server cuts its own to whole seconds."""
    created = pod.metadata.creation_timestamp
    return created is not None and created > time - timedelta(seconds=1)


def failures(case: Case, target: Capacity, now: datetime) -> int:
    """How many failures count against a move to this capacity type: a floor's none of spot's."""
    last, cooldown = Restored.of(case.workload), writes.cooldown_of(case.workload)
    spot_failed = last is not None and last.target is Capacity.SPOT
    if cooldown is None or (target is Capacity.ON_DEMAND and spot_failed):
        return 0
    return cooldown.counts(now)


def rest(case: Case, target: Capacity, now: datetime) -> Decision | None:
    """Why a workload is not moved to this capacity type now; None if it may be.

    - after a failure until its cooldown is over;
    - while failures count, also after a move that went well: one move for each cooldown;
    - but a floor does not wait because spot failed.
    """
    last = Restored.of(case.workload)
    cooldown = writes.cooldown_of(case.workload)
    counted = failures(case, target, now)
    if cooldown is None or not counted:
        return None
    if now < cooldown.until:
        until, so = cooldown.until, ": none before"
    elif last is not None and last.at <= now < last.at + rest_after(counted):
        until, so = last.at + rest_after(counted), ", so the next comes no sooner than"
    else:
        return None
    message = f"{counted} moves failed{so} {in_words(until)}"
    return leave(case, Reason.COOLING_DOWN, message, verb=Verb.WAIT, until=until)


def note(case: Case, pod_name: str, target: Capacity, now: datetime, number: int) -> Patch:
    """Note on the workload what is moved, so many pods, beside what was noted before."""
    spot = case.standing.spot + (number if target is Capacity.SPOT else -number)
    value = Restored(at=now, target=target, pod=pod_name, spot=spot)
    return writes.annotate(case.workload, names.RESTORED, msgspec.json.encode(value).decode())
