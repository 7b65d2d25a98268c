"""The plan for one ReplicaSet: which pods are released, evicted or rolled back, and which wait."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from evenkeel.decisions.drain import budgets, verdicts, writes
from evenkeel.decisions.drain.agenda import Forced
from evenkeel.decisions.drain.census import Census, ReleasedPod
from evenkeel.decisions.drain.deadlines import Deadline, node_deadline
from evenkeel.decisions.drain.eviction_asked import left_to_drainer
from evenkeel.decisions.drain.plan import Candidate, Plan
from evenkeel.decisions.drain.refusal import kept_past_deadline, tried_until
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.times import in_words, next_due

SHORTEST_STAY = timedelta(seconds=2)
"""How long a pod that landed on its node in spite of the cordon stays at least.

Most likely the cordon was just lifted, and the watch of nodes is a moment behind that of pods.
The API server cuts the time of binding to whole seconds.
"""

LOOK_AGAIN_AFTER = timedelta(seconds=5)
"""A pod that restore moves is looked at so often: its node lives, but the next move waits."""

SHORTEST_VOLUNTARY = timedelta(seconds=60)
"""A voluntary handover is not begun with less time than this before its deadline."""


def plan(census: Census, movers: Sequence[Pod]) -> Plan:
    """Decide about the released pods of a ReplicaSet, and about its ``movers``.

    ``movers`` are the owned pods on cordoned, doomed nodes whose way is a handover.
    """
    replica_set = census.replica_set
    if replica_set is None or census.replicas == 0:
        return _unwanted(census, movers)
    steps: list[Decision] = []
    fresh_steps: list[Decision] = []
    candidates: list[Candidate] = []
    dues: list[datetime | None] = [census.due]
    given_up = False
    forced = _forced(census, movers)
    for item in census.order_of_leaving:
        if census.is_lost(item.pod):
            steps.append(verdicts.lost(census, item.pod))
            continue
        end = _end_of_patience(item)
        is_replaced = item.pod.uid in census.leaving and census.is_on_target(item)
        left = left_to_drainer(census, item) if is_replaced else None
        if left is not None:
            steps.append(left.decision)
            dues += [left.due, end]
            continue
        if is_replaced and census.now < end:
            fresh_steps.append(verdicts.replaced(census, item))
            dues.append(end)
            continue
        decision, due = _unreplaced(census, item)
        steps.append(decision)
        dues.append(due)
        voluntary = item.release.is_voluntary and not item.deadline.forced
        given_up |= decision.verb is Verb.ROLL_BACK and voluntary
    if given_up:
        steps.extend(verdicts.cool_down(census, replica_set))
    for pod in movers:
        outcome, due = _mover(census, pod)
        dues.append(due)
        if isinstance(outcome, Candidate):
            candidates.append(outcome)
        else:
            steps.append(outcome)
    return Plan(
        steps=steps,
        fresh_steps=fresh_steps,
        candidates=candidates,
        forced=forced,
        due=next_due(census.now, *dues),
    )


def _forced(census: Census, movers: Iterable[Pod]) -> Sequence[Forced]:
    """The pods of a ReplicaSet whose nodes die, and what of it serves on after each.

    Evicting a pod whose replacement is available costs nothing. Each of the others leaves one pod
    less: by eviction deadline; then released pods before the ``movers``, which are still owned,
    because pods that start replace released ones.
    """
    owner = census.owner
    released = {item.pod.uid: item for item in census.released}
    staying = (item for item in census.order_of_leaving if not census.is_lost(item.pod))
    pairs = [(item.pod, item.deadline) for item in staying]
    pairs += [(pod, node_deadline(census.dooms[pod.spec.node_name])) for pod in movers]
    replaced: list[tuple[Pod, Deadline]] = []
    others: list[tuple[Pod, Deadline]] = []
    for pod, deadline in pairs:
        if deadline.forced and kept_past_deadline(pod, owner, deadline, census.now) is None:
            (replaced if pod.uid in census.leaving else others).append((pod, deadline))
    each = 1 / census.replicas if census.replicas else 0.0
    others.sort(key=lambda pair: pair[1].evict_by(pair[0]))
    whole = census.share_left + len(others) * each
    return [
        Forced(pod=pod, owner=owner, deadline=deadline, left=whole, is_replaced=True)
        for pod, deadline in replaced
    ] + [
        Forced(
            pod=pod,
            owner=owner,
            deadline=deadline,
            left=whole - position * each,
            is_coming=position <= census.starting_off_doomed,
            first=_back_first(census, released.get(pod.uid)),
        )
        for position, (pod, deadline) in enumerate(others, 1)
    ]


def _back_first(census: Census, item: ReleasedPod | None) -> Decision | None:
    """A released pod goes back before it is evicted if its ReplicaSet cannot make pods.

    The eviction of an owned pod makes it try again at once, while its back-off after a failure
    takes up to 22 s and more.
    """
    failure = census.replica_set.cannot_create if census.replica_set else None
    if failure is None or item is None:
        return None
    message = f"no replacement can be made ({failure.message}): back to its owner"
    return verdicts.roll_back(census, item, Reason.CANNOT_BE_REPLACED, message)


def _end_of_patience(item: ReleasedPod) -> datetime:
    """How long a released pod is kept: until a budget allows its eviction, or a rollout spares it.

    One whose node dies is evicted by force at its last moment, which ends the matter, unless its
    owner keeps it.
    """
    deadline = item.deadline
    return tried_until(deadline) if deadline.forced else deadline.at


def _unwanted(census: Census, movers: Sequence[Pod]) -> Plan:
    """These pods are not wanted any more: the workload was deleted, or scaled to zero.

    - a released pod has no controller: it is deleted at once, unless a rollout still needs it
      because its own pods are not available yet;
    - an owned one is its controller's, or the garbage collector's, to delete; if they have not
      by its last moment, it is evicted.
    """
    gone = census.replica_set is None or census.replica_set.leaving
    reason = Reason.WORKLOAD_DELETED if gone else Reason.SCALED_TO_ZERO
    why = "its ReplicaSet is gone" if gone else "its ReplicaSet was scaled to zero"
    steps: list[Decision] = []
    dues = [census.due]
    forced = _forced(census, movers)
    for pod in movers:
        deadline = node_deadline(census.dooms[pod.spec.node_name])
        if not deadline.forced:
            goes = f"{why}: it goes by itself"
            steps.append(
                Decision.about(pod, Verb.LEAVE, reason, goes, workload=census.owner.workload)
            )
            continue
        left = kept_past_deadline(pod, census.owner, deadline, census.now)
        steps.append(left or verdicts.wait(census, pod, reason, deadline.evict_by(pod)))
        dues.append(tried_until(deadline))
    fresh_steps: list[Decision] = []
    spare = census.spare_in_rollout
    unowned = f"{why} and it has no controller: deleted"
    for position, item in enumerate(census.order_of_leaving):
        pod, deadline, end = item.pod, item.deadline, _end_of_patience(item)
        is_needed = spare is not None and position >= spare and not census.is_lost(pod)
        if is_needed and census.now < end:
            until = deadline.evict_by(pod) if deadline.forced else end
            steps.append(verdicts.wait(census, pod, Reason.ROLLOUT_PENDING, until))
            dues.append(end)
        else:
            write = writes.delete(pod)
            fresh_steps.append(
                Decision.about(
                    pod, Verb.DELETE, reason, unowned, workload=census.owner.workload, write=write
                )
            )
    due = next_due(census.now, *dues)
    return Plan(steps=steps, fresh_steps=fresh_steps, forced=forced, due=due)


def _unreplaced(census: Census, item: ReleasedPod) -> tuple[Decision, datetime | None]:
    """A released pod whose replacement is not available, or that is still there at its end.

    - its node dies: it waits for its last moment, or goes back if its owner kept it to the end;
    - voluntary: put back at its deadline, or as soon as its ReplicaSet cannot make pods, or has
      made one that went to the wrong capacity type;
    - else it waits.
    """
    pod = item.pod
    deadline = item.deadline
    if deadline.forced:
        if kept_past_deadline(pod, census.owner, deadline, census.now) is not None:
            message = "its budget refused to the end: back to its owner"
            return verdicts.roll_back(census, item, Reason.AT_DEADLINE_LEAVE, message), None
        end = deadline.evict_by(pod)
        return verdicts.wait(census, pod, Reason.REPLACEMENT_PENDING, end), tried_until(deadline)
    end = deadline.at
    if census.now >= end:
        message = "its handover was not complete by the deadline: back to its owner"
        return verdicts.roll_back(census, item, Reason.DEADLINE_PASSED, message), None
    failure = census.replica_set.cannot_create if census.replica_set else None
    if failure is not None:
        message = f"no replacement can be made ({failure.message}): back to its owner"
        return verdicts.roll_back(census, item, Reason.CANNOT_BE_REPLACED, message), None
    if census.is_off_target(item):
        message = f"its replacement is not on {item.release.target}: back to its owner"
        return verdicts.roll_back(census, item, Reason.WRONG_CAPACITY_TYPE, message), None
    due = end if item.release.target is None else min(end, census.now + LOOK_AGAIN_AFTER)
    return verdicts.wait(census, pod, Reason.REPLACEMENT_PENDING, end), due


def _mover(census: Census, pod: Pod) -> tuple[Candidate | Decision, datetime | None]:
    """Decide about an owned pod on a doomed node.

    It is released when its turn comes, unless

    - its owner keeps it to the end, and that has come;
    - its ReplicaSet cannot make pods: one release was enough to learn that;
    - it landed there in spite of the cordon, and its replacement might do the same;
    - the move is voluntary and its workload rests after a failure, is in trouble with its
      budget, or too little time is left.

    Also when this changes though nothing else does.
    """
    deadline = node_deadline(census.dooms[pod.spec.node_name])
    failure = census.replica_set.cannot_create if census.replica_set else None
    end = deadline.evict_by(pod) if deadline.forced else deadline.at
    settled = _settled_at(census, pod, end)
    if deadline.forced:
        left = kept_past_deadline(pod, census.owner, deadline, census.now)
        if left is not None:
            return left, None
        if failure is not None:
            return verdicts.wait(census, pod, Reason.CANNOT_BE_REPLACED, end), tried_until(deadline)
        if settled is not None and census.now < settled:
            return verdicts.wait(
                census, pod, Reason.LANDED_AFTER_CORDON, min(settled, end)
            ), settled
        return verdicts.candidate(census, pod, deadline), tried_until(deadline)
    cooldown = verdicts.cooldown_of(census)
    rested = cooldown.until if cooldown is not None else None
    due = next_due(census.now, rested, deadline.at - SHORTEST_VOLUNTARY, deadline.at)
    hold = _voluntary_hold(census, deadline.at)
    if hold is not None:
        reason, message = hold
        return Decision.about(pod, Verb.LEAVE, reason, message, workload=census.owner.workload), due
    if settled is not None and census.now < settled:
        due = next_due(census.now, due, settled)
        return verdicts.wait(census, pod, Reason.LANDED_AFTER_CORDON, settled), due
    return verdicts.candidate(census, pod, deadline), due


def _settled_at(census: Census, pod: Pod, end: datetime) -> datetime | None:
    """From when on a pod may be released that landed on its node after the cordon.

    The cordon was lifted by hand and the mark stayed, or the pod tolerates every taint: its
    replacement may well land there too. So each such generation stays for as long as the node had
    been drained when it landed, or half the time that is left: there are few of them, and the
    last is still tried. None for all others.
    """
    since = census.dooms[pod.spec.node_name].drained_since
    landed = pod.landed_at
    if since is None or landed is None or landed <= since:
        return None
    return landed + max(SHORTEST_STAY, min(landed - since, (end - landed) / 2))


def _voluntary_hold(census: Census, until: datetime) -> tuple[Reason, str] | None:
    """Why a workload's pods are not released for a hint now; None if they can be."""
    replica_set = census.replica_set
    if replica_set is not None and replica_set.cannot_create is not None:
        return Reason.CANNOT_BE_REPLACED, replica_set.cannot_create.message
    cooldown = verdicts.cooldown_of(census)
    if cooldown is not None and census.now < cooldown.until:
        until_then = in_words(cooldown.until)
        return (
            Reason.COOLING_DOWN,
            f"{cooldown.failures} handovers were rolled back: none before {until_then}",
        )
    if until - census.now < SHORTEST_VOLUNTARY:
        return Reason.TOO_LATE_FOR_HANDOVER, "too little time is left for a voluntary move"
    budget = budgets.hold_now(census.budgets)
    if budget is not None:
        counts = (
            f"{budget.status.current_healthy} healthy, {budget.status.desired_healthy} demanded"
        )
        return Reason.BUDGET_HOLDS, f"{budget.reference} leaves no room ({counts})"
    return None
