"""The plan for one ReplicaSet: who is released, evicted, rolled back, and who waits."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from evenkeel.decisions import writes
from evenkeel.decisions.drain import budgets
from evenkeel.decisions.drain.deadlines import Deadline, node_deadline
from evenkeel.decisions.drain.margins import Dying, Margins, margin_of
from evenkeel.decisions.drain.refusal import left_to_the_end
from evenkeel.decisions.handover import verdicts
from evenkeel.decisions.handover.census import Census, ReleasedPod
from evenkeel.decisions.plan import Candidate, Plan, next_due
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.pod import Pod
from evenkeel.model.release import Cooldown
from evenkeel.model.surroundings import PodDisruptionBudget
from evenkeel.model.times import in_words

SHORTEST_HANDOVER = timedelta(seconds=5)
"""With no more time than this before the last moment, a release would only be in the way."""

ROLL_BACK_LEAD = timedelta(seconds=4)
"""How long before its last moment an irreplaceable pod is put back into its ReplicaSet."""

SHORTEST_STAY = timedelta(seconds=2)
"""How long a pod stays at least that landed on its node in spite of the cordon.

Most likely the cordon was just lifted, and the watch of nodes is a moment behind that of pods.
The API server cuts the time of binding to whole seconds.
"""

LOOK_AGAIN_AFTER = timedelta(seconds=5)
"""A pod that restore moves is looked at so often: its node lives, but the next move waits."""

SHORTEST_VOLUNTARY = timedelta(seconds=60)
"""A voluntary handover is not begun with less time than this before its deadline."""


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What else bears on a ReplicaSet's plan.

    ``budgets`` are the disruption budgets that select its pods. ``dying`` are, by uid, those of
    them that have no replacement.
    """

    margins: Margins = {}
    budgets: Sequence[PodDisruptionBudget] = ()
    dying: Mapping[str, Dying] = {}

    def last_moment(self, pod: Pod, deadline: Deadline) -> datetime:
        """When a pod goes, replacement or not: the earlier, the more others have to go too."""
        margin = margin_of(pod, deadline, self.margins)
        dying = self.dying.get(pod.uid)
        ahead = margin.replaced if dying is None else margin.of(dying.left)
        return deadline.last_moment(pod, ahead)


def plan(census: Census, movers: Sequence[Pod], rules: Rules) -> Plan:
    """Decide about the released pods of a ReplicaSet, and about its ``movers``.

    ``movers`` are the owned pods on cordoned, doomed nodes whose way is a handover.
    """
    replica_set = census.replica_set
    if replica_set is None or census.replicas == 0:
        return _unwanted(census, movers, rules)
    steps: list[Decision] = []
    fresh_steps: list[Decision] = []
    dues: list[datetime | None] = [census.next_available_at]
    given_up = False
    for item in census.order_of_leaving:
        if census.is_lost(item.pod):
            steps.append(verdicts.lost(census, item.pod))
            continue
        is_replaced = item.pod.uid in census.leaving
        end = _end_of_patience(census, item, rules)
        if is_replaced and census.now < end and census.is_on_target(item):
            fresh_steps.append(verdicts.replaced(census, item))
            dues.append(end)
            continue
        decision, due = _unreplaced(census, item, end)
        steps.append(decision)
        dues.append(due)
        voluntary = item.release.is_voluntary and not census.deadline_of(item).forced
        given_up |= decision.verb is Verb.ROLL_BACK and voluntary
    if given_up:
        steps.extend(verdicts.cool_down(census, replica_set))
    candidates: list[Candidate] = []
    for pod in movers:
        outcome, due = _mover(census, pod, rules)
        dues.append(due)
        if isinstance(outcome, Candidate):
            candidates.append(outcome)
        else:
            steps.append(outcome)
    due = next_due(census.now, *dues)
    return Plan(steps=steps, fresh_steps=fresh_steps, candidates=candidates, due=due)


def _unwanted(census: Census, movers: Sequence[Pod], rules: Rules) -> Plan:
    """Nobody wants these pods any more: the workload was deleted, or scaled to zero.

    - a released pod belongs to nobody: it is deleted at once, but for those that a rollout
      still needs, for its own pods are not available yet;
    - an owned one is its controller's, or the garbage collector's, to delete; what they have
      not deleted by its last moment is evicted.
    """
    gone = census.replica_set is None or census.replica_set.leaving
    reason = "WorkloadDeleted" if gone else "ScaledToZero"
    why = "its ReplicaSet is gone" if gone else "its ReplicaSet was scaled to zero"
    steps: list[Decision] = []
    dues: list[datetime] = []
    for pod in movers:
        deadline = node_deadline(census.dooms[pod.spec.node_name])
        last = rules.last_moment(pod, deadline)
        if not deadline.forced:
            steps.append(
                verdicts.decide(census, pod, Verb.LEAVE, reason, f"{why}: it goes by itself")
            )
        elif census.now >= last:
            steps.append(verdicts.at_last_moment(census, pod, deadline))
        else:
            steps.append(verdicts.wait(census, pod, reason, last))
            dues.append(last)
    fresh_steps: list[Decision] = []
    spare = census.spare_in_rollout
    unowned = f"{why} and nobody owns it: deleted"
    for position, item in enumerate(census.order_of_leaving):
        pod, end = item.pod, _end_of_patience(census, item, rules)
        is_needed = spare is not None and position >= spare
        if is_needed and census.now < end and not census.is_lost(pod):
            steps.append(verdicts.wait(census, pod, "RolloutPending", end))
            dues.append(end)
        else:
            write = writes.delete(pod)
            fresh_steps.append(
                verdicts.decide(census, pod, Verb.DELETE, reason, unowned, write=write)
            )
    return Plan(steps=steps, fresh_steps=fresh_steps, due=next_due(census.now, *dues))


def _end_of_patience(census: Census, item: ReleasedPod, rules: Rules) -> datetime:
    """When it no longer matters whether a released pod has a replacement, or a budget's leave.

    Forced: its last moment; voluntary: its deadline.
    """
    deadline = census.deadline_of(item)
    if not deadline.forced:
        return deadline.at
    return rules.last_moment(item.pod, deadline)


def _unreplaced(
    census: Census, item: ReleasedPod, end: datetime
) -> tuple[Decision, datetime | None]:
    """A released pod whose replacement is not available, or that is still there at its ``end``.

    - forced: evicted at its last moment; put back shortly before that if its ReplicaSet
      cannot make pods, for the eviction of an owned pod makes it try again at once, while
      its back-off after a failure takes up to 22 s and more; put back also after the end, if
      its owner kept it to that;
    - voluntary: put back at its deadline, or as soon as its ReplicaSet cannot make pods, or has
      made one that went to the wrong capacity type;
    - else it waits.
    """
    pod = item.pod
    deadline = census.deadline_of(item)
    failure = census.replica_set.cannot_create if census.replica_set else None
    if deadline.forced:
        if left_to_the_end(pod, census.owner, deadline, census.now) is not None:
            message = "its budget refused to the end: back to its owner"
            return verdicts.roll_back(census, item, "AtDeadlineLeave", message), None
        if census.now >= end:
            return verdicts.at_last_moment(census, pod, deadline), None
        if failure is not None:
            if census.now >= end - ROLL_BACK_LEAD:
                message = f"no replacement can be made ({failure.message}): back to its owner"
                return verdicts.roll_back(census, item, "CannotBeReplaced", message), end
            end -= ROLL_BACK_LEAD
        return verdicts.wait(census, pod, "ReplacementPending", end), end
    if census.now >= end:
        message = "its handover was not complete by the deadline: back to its owner"
        return verdicts.roll_back(census, item, "DeadlinePassed", message), None
    if failure is not None:
        message = f"no replacement can be made ({failure.message}): back to its owner"
        return verdicts.roll_back(census, item, "CannotBeReplaced", message), None
    if census.is_off_target(item):
        message = f"its replacement is not on {item.release.target}: back to its owner"
        return verdicts.roll_back(census, item, "WrongCapacityType", message), None
    due = end if item.release.target is None else min(end, census.now + LOOK_AGAIN_AFTER)
    return verdicts.wait(census, pod, "ReplacementPending", end), due


def _mover(census: Census, pod: Pod, rules: Rules) -> tuple[Candidate | Decision, datetime | None]:
    """Decide about an owned pod on a doomed node.

    It is released when its turn comes, unless

    - its last moment is here (evicted), or so near that a release would not help (waits);
    - its ReplicaSet cannot make pods: one release was enough to learn that;
    - it landed there in spite of the cordon, and its replacement might do the same;
    - the move is voluntary and its workload rests after a failure, is in trouble with its
      budget, or too little time is left.

    Also when this changes though nothing else does.
    """
    deadline = node_deadline(census.dooms[pod.spec.node_name])
    failure = census.replica_set.cannot_create if census.replica_set else None
    end = rules.last_moment(pod, deadline) if deadline.forced else deadline.at
    settled = _settled_at(census, pod, end)
    if deadline.forced:
        if census.now >= end:
            return verdicts.at_last_moment(census, pod, deadline), None
        if end - census.now <= SHORTEST_HANDOVER:
            return verdicts.wait(census, pod, "TooLateForHandover", end), end
        if failure is not None:
            return verdicts.wait(census, pod, "CannotBeReplaced", end), end
        if settled is not None and census.now < settled:
            until = min(settled, end)
            return verdicts.wait(census, pod, "LandedAfterCordon", until), until
        return verdicts.candidate(census, pod, deadline), end - SHORTEST_HANDOVER
    cooldown = _cooldown_of(census)
    rested = cooldown.until if cooldown is not None else None
    due = next_due(census.now, rested, deadline.at - SHORTEST_VOLUNTARY, deadline.at)
    hold = _voluntary_hold(census, rules, deadline.at)
    if hold is not None:
        reason, message = hold
        return verdicts.decide(census, pod, Verb.LEAVE, reason, message), due
    if settled is not None and census.now < settled:
        due = next_due(census.now, due, settled)
        return verdicts.wait(census, pod, "LandedAfterCordon", settled), due
    return verdicts.candidate(census, pod, deadline), due


def _settled_at(census: Census, pod: Pod, end: datetime) -> datetime | None:
    """From when on a pod may be released that landed on its node after the cordon.

    Somebody lifted the cordon by hand and the mark stayed, or the pod tolerates every taint:
    its replacement may well land there too. So each such generation stays for as long again as
    the node is drained already, or half the time that is left: there are few of them, and the
    last is not left without a try. None for all others.
    """
    since = census.dooms[pod.spec.node_name].drained_since
    landed = pod.landed_at
    if since is None or landed is None or landed <= since:
        return None
    return landed + max(SHORTEST_STAY, min(landed - since, (end - landed) / 2))


def _voluntary_hold(census: Census, rules: Rules, until: datetime) -> tuple[str, str] | None:
    """Why a workload's pods are not released for a mere hint now; None if they can be."""
    replica_set = census.replica_set
    if replica_set is not None and replica_set.cannot_create is not None:
        return "CannotBeReplaced", replica_set.cannot_create.message
    cooldown = _cooldown_of(census)
    if cooldown is not None and census.now < cooldown.until:
        until_then = in_words(cooldown.until)
        return (
            "CoolingDown",
            f"{cooldown.failures} handovers were rolled back: it rests until {until_then}",
        )
    if until - census.now < SHORTEST_VOLUNTARY:
        return "TooLateForHandover", "too little time is left for a voluntary move"
    budget = budgets.hold_now(rules.budgets)
    if budget is not None:
        counts = (
            f"{budget.status.current_healthy} healthy, {budget.status.desired_healthy} demanded"
        )
        return "BudgetHolds", f"{budget.reference} leaves no room ({counts})"
    return None


def _cooldown_of(census: Census) -> Cooldown | None:
    """The cooldown of the Deployment if there is one, else of the ReplicaSet."""
    top = census.owner.deployment or census.replica_set
    return writes.cooldown_of(top) if top is not None else None
