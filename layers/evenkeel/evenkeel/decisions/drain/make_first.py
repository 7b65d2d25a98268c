"""The way that makes before it breaks: which pods of a ReplicaSet leave, go back, or wait."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta

from evenkeel.decisions.drain import budgets, turns, verdicts
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.eviction_asked import before_eviction
from evenkeel.decisions.drain.movers import MovingPod, ReleasedPod
from evenkeel.decisions.drain.pod_plan import PodPlan, Step
from evenkeel.decisions.drain.refusal import tried_until
from evenkeel.decisions.drain.remedies import PODS_MADE
from evenkeel.decisions.drain.returning import landed_at
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.reasons import Reason
from evenkeel.model.times import earliest, in_words
from evenkeel.model.way import Way

SHORTEST_STAY = timedelta(seconds=2)
"""How long a pod that landed on its node in spite of the cordon stays at least.

Most likely the cordon was just lifted, and the watch of nodes is a moment behind that of pods.
The API server cuts the time of binding to whole seconds.
"""

LOOK_AGAIN_AFTER = timedelta(seconds=5)
"""A pod that restore moves is looked at so often: its node lives, but the next move waits."""

SHORTEST_VOLUNTARY = timedelta(seconds=60)
"""A voluntary handover is not begun with no more time than this before its deadline."""


def decide(census: Census) -> Iterator[PodPlan]:
    """Let released pods leave or go back, and have others wait for their release.

    Where pods go in turns those that are ``free`` are left to ``quota_turns``.
    """
    released = (item.pod for item in census.released)
    is_under_way = any(map(census.nodes.is_doomed, released))
    yield PodPlan(due=census.count_changes_at, awaits_pods=is_under_way)
    for pod in census.crashed_beside:
        yield PodPlan(verdicts.crashed(census, pod))
    yield from _of_released(census)
    for mover in census.movers(Way.HANDOVER):
        hold, due = _before_release(census, mover), due_before_release(census, mover)
        if hold is not None:
            yield PodPlan(hold, due)
        elif census.in_turns is None:
            yield PodPlan(verdicts.candidate(census, mover), due, awaits_pods=True)


def free(census: Census) -> Sequence[MovingPod]:
    """The pods that nothing keeps from their release, or from their turn (see ``quota_turns``)."""
    movers = census.movers(Way.HANDOVER)
    return [mover for mover in movers if _before_release(census, mover) is None]


def _of_released(census: Census) -> Iterator[PodPlan]:
    """What becomes of the released pods, in the order in which they leave."""
    for pod in census.unreadable:
        yield PodPlan(verdicts.unreadable(census, pod))
    released = census.order_of_going
    if census.count.replicas_to_keep == 0:
        yield from (_unwanted(census, item, ahead) for ahead, item in enumerate(released))
        return
    yield PodPlan(due=earliest(census.gates_known_at, turns.beside_changes_at(census)))
    turn = turns.next_beside(census)
    found = [(item, _released(census, item, turn)) for item in released]
    yield from (each for _, each in found)
    given_up = {
        item.release.cooldown for item, each in found if _is_given_up(census, item, each.step)
    }
    for key in sorted(given_up):
        yield from map(PodPlan, verdicts.cool_down(census, key))


def _released(census: Census, item: ReleasedPod, turn: Collection[str]) -> PodPlan:
    """A released pod that is wanted until it has a replacement, or it is its ``turn``."""
    if census.nodes.is_lost(item.pod):
        return PodPlan(verdicts.lost(census, item.pod))
    if item.pod.uid in census.replaced and census.is_reached(item):
        settled = census.settles_at(item)
        if settled is not None:
            return PodPlan(verdicts.settles(census, item, settled), settled)
        drainers, end = before_eviction(census, item), tried_until(item.deadline)
        if drainers is not None:
            return drainers
        if census.now < end:
            return PodPlan(verdicts.replaced(census, item), end, needs_fresh=True)
    if item.pod.uid in turn:
        return PodPlan(verdicts.makes_room(census, item), needs_fresh=True)
    return _unreplaced(census, item)


def _is_given_up(census: Census, item: ReleasedPod, step: Step) -> bool:
    """Whether a pod goes back because its voluntary handover failed: then its workload rests.

    Not where no node came for a pod that was released without room: restore counts those. A pod
    whose node came, and that was not available in time, is the workload's failure. After a move to
    another pool only further ones rest: a failed one says nothing of spot, nor of the workload. A
    pod for which a drainer did not ask again had its replacement.
    """
    if not item.release.is_voluntary or item.deadline.forced:
        return False
    if not isinstance(step, Decision) or step.verb is not Verb.ROLL_BACK:
        return False
    if step.reason is Reason.DEADLINE_PASSED and item.release.without_room:
        return census.is_placed(item)
    return step.reason is not Reason.NOT_ASKED_AGAIN


def _unwanted(census: Census, item: ReleasedPod, position: int) -> PodPlan:
    """A released pod of a workload that was deleted, or scaled to zero.

    It has no controller: it is deleted at once, unless a rollout still needs it because its own
    pods are not available yet. ``position``: how many leave before it.
    """
    pod, end, spare = item.pod, tried_until(item.deadline), census.count.spare_in_rollout
    is_needed = spare is not None and position >= spare and not census.nodes.is_lost(pod)
    if is_needed and census.now < end:
        cause = "a rollout still needs it"
        wait = verdicts.wait(census, pod, Reason.ROLLOUT_PENDING, census.stays_until(item), cause)
        return PodPlan(wait, end)
    reason, why = _why_unwanted(census)
    message = f"{why} and it has no controller: deleted"
    return PodPlan(verdicts.deleted(census, pod, reason, message), needs_fresh=True)


def _why_unwanted(census: Census) -> tuple[Reason, str]:
    if census.owner.replica_set is None or census.owner.replica_set.leaving:
        return Reason.WORKLOAD_DELETED, "its ReplicaSet is gone"
    return Reason.SCALED_TO_ZERO, "its ReplicaSet was scaled to zero"


def _unreplaced(census: Census, item: ReleasedPod) -> PodPlan:
    """A released pod whose replacement is not available, or that is still there at its end.

    - its node dies: it waits for its last moment, or goes back if its owner keeps it past that, or
      if the pods of its ReplicaSet go in turns;
    - voluntary: put back at its deadline, or as soon as its ReplicaSet cannot make pods, or has
      made one that went to the wrong capacity type;
    - else it waits.
    """
    end, back = tried_until(item.deadline), _why_back(census, item)
    if back is not None:
        return PodPlan(verdicts.roll_back(census, item, *back))
    due = end if item.target is None else min(end, census.now + LOOK_AGAIN_AFTER)
    return PodPlan(verdicts.not_replaced(census, item), due)


def _why_back(census: Census, item: ReleasedPod) -> tuple[Reason, str] | None:
    """Why a released pod goes back; None: it waits on."""
    if item.deadline.forced:
        if item.pod.uid in census.kept:
            return Reason.AT_DEADLINE_LEAVE, "its budget refused to the end"
        return (
            (Reason.QUOTA_REFUSES, verdicts.A_QUOTA_REFUSES)
            if census.in_turns is not None
            else None
        )
    if census.now >= item.deadline.at:
        return Reason.DEADLINE_PASSED, "its handover was not complete by the deadline"
    if census.owner.why_no_replacement:
        return Reason.CANNOT_BE_REPLACED, census.owner.why_no_replacement
    if census.is_missed(item):
        where = f"{item.release.target}{' outside the full pools' if item.release.avoid else ''}"
        return Reason.WRONG_CAPACITY_TYPE, f"its replacement is not on {where}"
    return None


def _before_release(census: Census, mover: MovingPod) -> Decision | None:
    """Why a pod on a doomed node is not released when its turn comes; None: it may be.

    - its workload was deleted or scaled to zero: it is its controller's, or the garbage
      collector's, to delete; if they have not by its last moment, it is evicted;
    - its ReplicaSet cannot make pods: one release was enough to learn that; unless its pods go in
      turns;
    - the move is voluntary and its workload rests after a failure, is in trouble with its
      budget, or too little time is left;
    - it landed there in spite of the cordon, and its replacement might do the same.
    """
    pod, deadline = mover.pod, mover.deadline
    end = census.stays_until(mover)
    if census.count.replicas_to_keep == 0:
        reason, why = _why_unwanted(census)
        if deadline.forced:
            return verdicts.wait(census, pod, reason, end, why)
        return census.owner.decision(pod, Verb.LEAVE, reason, f"{why}: it goes by itself")
    if deadline.forced and census.owner.why_no_replacement and census.in_turns is None:
        said = verdicts.handed_over(census.owner.why_no_replacement, PODS_MADE)
        return census.owner.decision(
            pod, Verb.WAIT, Reason.CANNOT_BE_REPLACED, said.cause, until=end, why=said
        )
    hold = None if deadline.forced else _voluntary_hold(census, end)
    if hold is not None:
        return census.owner.decision(pod, Verb.LEAVE, *hold)
    settled = _settled_at(mover, end)
    if settled is not None and census.now < settled:
        cause = "it had landed on its node in spite of the cordon"
        return verdicts.wait(census, pod, Reason.LANDED_AFTER_CORDON, min(settled, end), cause)
    return None


def due_before_release(census: Census, mover: MovingPod) -> datetime | None:
    """When ``_before_release`` says otherwise though nothing else changes."""
    deadline, cooldown = mover.deadline, verdicts.resting(census)
    hint = (
        ()
        if deadline.forced
        else (
            cooldown.until if cooldown is not None else None,
            deadline.at - SHORTEST_VOLUNTARY,
        )
    )
    return mover.due(census.now, _settled_at(mover, census.stays_until(mover)), *hint)


def _settled_at(mover: MovingPod, end: datetime) -> datetime | None:
    """From when on a pod may be released that landed on its node after the cordon.

    The cordon was lifted by hand and the mark stayed: its replacement may well land there too. So
    each such generation stays for as long as the node had been drained when it landed, or half the
    time until ``end``: there are few of them, and the last is still tried. None for all others. Of
    one that tolerates the taints see ``returning``.
    """
    since, landed = mover.notice.cordoned_at, landed_at(mover.pod)
    if since is None or landed is None or landed <= since:
        return None
    return landed + max(SHORTEST_STAY, min(landed - since, (end - landed) / 2))


def _voluntary_hold(census: Census, until: datetime) -> tuple[Reason, str] | None:
    """Why a workload's pods are not released for a hint now; None if they can be."""
    if census.owner.why_no_replacement:
        return Reason.CANNOT_BE_REPLACED, census.owner.why_no_replacement
    if census.in_turns is not None:
        return Reason.QUOTA_REFUSES, verdicts.A_QUOTA_REFUSES
    cooldown = verdicts.resting(census)
    if cooldown is not None:
        until_then = in_words(cooldown.until)
        return (
            Reason.COOLING_DOWN,
            f"{cooldown.failures} handovers were rolled back: none before {until_then}",
        )
    if until - census.now <= SHORTEST_VOLUNTARY:
        return Reason.TOO_LATE_FOR_HANDOVER, "too little time is left for a voluntary move"
    budget = budgets.hold_now(census.budgets)
    if budget is None:
        return None
    counts = f"{budget.status.current_healthy} healthy, {budget.status.desired_healthy} demanded"
    return Reason.BUDGET_HOLDS, f"{budget.reference} leaves no room ({counts})"
