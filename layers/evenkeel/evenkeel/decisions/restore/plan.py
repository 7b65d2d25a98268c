"""The plan for all workloads: missing floors first, then what is above them."""

from itertools import islice

import msgspec

from evenkeel.decisions.restore import attempts, other_pool
from evenkeel.decisions.restore.snapshot import Case, Snapshot
from evenkeel.decisions.restore.step import RestorePlan, Step, leave
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
    steps: list[Step] = []
    without_room: list[tuple[Case, str]] = []
    budget = snapshot.terms.moves
    cases = sorted(snapshot.cases, key=_rank)
    left = [_bad_floor(case) for case in cases if _has_bad_floor(case)]
    at_rest = [case for case in cases if case.workload.key in snapshot.not_taken]
    cases = [case for case in cases if case.workload.key not in snapshot.not_taken]
    for case in cases:
        outcome = consider(case, snapshot, rooms)
        if isinstance(outcome, Decision) and attempts.lacks_room(case, outcome):
            without_room.append((case, outcome.message))
        elif isinstance(outcome, Decision):
            left.append(outcome)
        elif outcome.counts > budget:
            left.append(_beyond_budget(case, snapshot))
        else:
            budget -= outcome.counts
            steps.append(outcome)
    rest = attempts.renewed(snapshot, snapshot.rest) if snapshot.rest is not None else None
    number = min(budget, attempts.allowed(snapshot, rest)) if rest is not None else 0
    without_room.sort(key=lambda each: attempts.rank(each[0]))
    begun = [consider(case, snapshot, rooms, may_wait=True) for case, _ in without_room[:number]]
    steps += [step for step in begun if isinstance(step, Step)]
    left += [
        attempts.left(case, message, rest, snapshot.now) for case, message in without_room[number:]
    ]
    noted = attempts.noted(snapshot, rest, begins=bool(begun)) if rest is not None else None
    left += [_at_rest(case, snapshot, rooms) for case in at_rest]
    have = {step.workload for step in steps}
    others = (case for case in cases if case.workload.key not in have)
    found = (other_pool.note(case, snapshot.fleet) for case in others)
    notes = islice(filter(None, found), snapshot.terms.moves)
    return RestorePlan(steps=[*steps, *notes], left=left, rest=noted)


def plan_again(snapshot: Snapshot, case: Case, step: Step) -> Step | None:
    """The step for a workload whose pods were read again, as if it were the only one.

    None if it is not to be moved any more. Without room it is still so: others may have taken what
    there was in the plan.
    """
    alone = msgspec.structs.replace(snapshot, cases=[case])
    rooms = Rooms(snapshot.fleet, are_full=step.without_room)
    again = consider(case, alone, rooms, may_wait=step.without_room)
    return again if isinstance(again, Step) else None


def _at_rest(case: Case, snapshot: Snapshot, rooms: Rooms) -> Decision:
    """Why nothing is done with a workload that rests, if anything were to be done."""
    outcome = consider(case, snapshot, rooms)
    if isinstance(outcome, Decision):
        return outcome
    rests = snapshot.not_taken[case.workload.key]
    message = f"{rests.words}: not tried again before {in_words(rests.until)}"
    return leave(case, Reason.WRITE_REFUSED, message, warning=True, until=rests.until)


def _rank(case: Case) -> tuple[bool, float, str, str]:
    standing = case.standing
    off = max(standing.missing, standing.surplus) / max(1, standing.replicas)
    return not standing.missing, -off, case.workload.namespace, case.workload.name


def _beyond_budget(case: Case, snapshot: Snapshot) -> Decision:
    message = f"{snapshot.terms.moves} pods are moved in one run: its turn comes in a later one"
    return leave(case, Reason.BUDGET_OF_RUN, message, verb=Verb.WAIT)


def _has_bad_floor(case: Case) -> bool:
    return bool(case.standing.floor.problem) and case.standing.is_managed


def _bad_floor(case: Case) -> Decision:
    problem = case.standing.floor.problem
    return leave(case, Reason.BAD_FLOOR, problem, verb=Verb.REJECT, warning=True)
