"""The plan for all workloads: missing floors first, then what is above them."""

from collections.abc import Sequence
from itertools import islice

from evenkeel.decisions.restore import attempts, other_pool
from evenkeel.decisions.restore.snapshot import Candidate, Snapshot
from evenkeel.decisions.restore.step import RestorePlan, RestoreStep
from evenkeel.decisions.restore.workload import consider
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.reasons import Reason
from evenkeel.model.times import in_words


def plan(snapshot: Snapshot) -> RestorePlan:
    """Decide about every workload.

    Missing floors come before surplus, and of each the workload that is furthest off, by its
    size. A move takes its room before the next is looked at. Last come those to spot that no node
    has room for, as many as are allowed now. Beyond the run's budget workloads wait for the next
    run. At the end it is noted which pools are full, on as many workloads without a step as pods
    may move. Workloads about which no write is taken are looked at after the others, and rest.
    """
    rooms = Rooms(snapshot.fleet)
    attempts.take_room(snapshot, rooms)
    ordered = sorted(snapshot.candidates, key=_rank)
    steps, without_room, budget = (
        list[RestoreStep](),
        list[tuple[Candidate, RestoreStep]](),
        snapshot.terms.moves,
    )
    left = [
        each.about(Verb.REJECT, Reason.BAD_FLOOR, each.standing.floor.problem, warning=True)
        for each in ordered
        if each.standing.floor.problem and each.standing.is_managed
    ]
    beyond = f"{budget} pods are moved in one run: its turn comes in a later one"
    active = [each for each in ordered if each.workload.key not in snapshot.not_taken]
    for candidate in active:
        outcome = consider(candidate, snapshot, rooms)
        if isinstance(outcome, Decision):
            left.append(outcome)
        elif outcome.shortage:
            without_room.append((candidate, outcome))
        elif outcome.counts > budget:
            left.append(candidate.wait(Reason.BUDGET_OF_RUN, beyond))
        else:
            budget -= outcome.counts
            steps.append(outcome)
    tried = _without_room(snapshot, without_room, budget)
    steps += tried.steps
    at_rest = [each for each in ordered if each.workload.key in snapshot.not_taken]
    have = {step.workload for step in steps}
    others = (each for each in active if each.workload.key not in have)
    full_pools = islice(filter(None, map(other_pool.note, others)), snapshot.terms.moves)
    return RestorePlan(
        steps=[*steps, *full_pools],
        left=[*left, *tried.left, *(_at_rest(each, snapshot, rooms) for each in at_rest)],
        rest=tried.rest,
    )


def _without_room(
    snapshot: Snapshot, found: Sequence[tuple[Candidate, RestoreStep]], budget: int
) -> RestorePlan:
    """Begin as many moves to spot without a room as may be begun now; the others wait."""
    waiting = sorted(found, key=lambda each: attempts.rank(each[0]))
    rest = attempts.renewed(snapshot, snapshot.rest) if snapshot.rest is not None else None
    number = min(budget, attempts.allowed(snapshot, rest)) if rest is not None else 0
    begun = [step for _, step in waiting[:number]]
    others = waiting[number:]
    return RestorePlan(
        steps=begun,
        left=[attempts.left(each, step.shortage, rest, snapshot.now) for each, step in others],
        rest=attempts.noted(snapshot, rest, begins=bool(begun)) if rest is not None else None,
    )


def plan_again(snapshot: Snapshot, candidate: Candidate, step: RestoreStep) -> RestoreStep | None:
    """The step for a workload whose pods were read again, as if it were the only one.

    None if it is not to be moved any more, or there is no room any more. A step without room stays
    one: others may have taken what there was in the plan.
    """
    rooms = Rooms(snapshot.fleet, are_full=bool(step.shortage))
    again = consider(candidate, snapshot, rooms)
    if isinstance(again, Decision) or (again.shortage and not step.shortage):
        return None
    return again


def _at_rest(candidate: Candidate, snapshot: Snapshot, rooms: Rooms) -> Decision:
    """Why nothing is done with a workload that rests, if anything were to be done."""
    outcome = consider(candidate, snapshot, rooms)
    if isinstance(outcome, Decision):
        return outcome
    if outcome.shortage:
        return attempts.left(candidate, outcome.shortage, None, snapshot.now)
    rests = snapshot.not_taken[candidate.workload.key]
    message = f"{rests.words}: not tried again before {in_words(rests.until)}"
    return candidate.leave(Reason.WRITE_REFUSED, message, warning=True, until=rests.until)


def _rank(candidate: Candidate) -> tuple[bool, float, str, str]:
    standing, workload = candidate.standing, candidate.workload
    off = max(standing.missing, standing.surplus) / max(1, standing.replicas)
    return not standing.missing, -off, workload.namespace, workload.name
