"""The plan for all workloads: missing floors first, then what is above them."""

import msgspec

from evenkeel.decisions.restore import attempts
from evenkeel.decisions.restore.room import Rooms
from evenkeel.decisions.restore.snapshot import Case, Snapshot
from evenkeel.decisions.restore.step import RestorePlan, Step, leave
from evenkeel.decisions.restore.workload import consider
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.reasons import Reason


def plan(snapshot: Snapshot) -> RestorePlan:
    """Decide about every workload.

    Missing floors come before surplus, and of each the workload that is furthest off, by its
    size. A move takes its room before the next is looked at. Last come those to spot that no node
    has room for, as many as are allowed now. Beyond the run's budget workloads wait for the next
    run.
    """
    rooms = Rooms(snapshot.fleet)
    attempts.take_room(snapshot, rooms)
    steps: list[Step] = []
    left: list[Decision] = []
    without_room: list[tuple[Case, Step]] = []
    budget = snapshot.terms.moves
    for case in sorted(snapshot.cases, key=_rank):
        if case.standing.floor.problem and case.standing.is_managed:
            left.append(_bad_floor(case))
        outcome = consider(case, snapshot, rooms)
        if isinstance(outcome, Decision):
            left.append(outcome)
        elif outcome.without_room:
            without_room.append((case, outcome))
        elif outcome.counts > budget:
            left.append(_beyond_budget(case, snapshot))
        else:
            budget -= outcome.counts
            steps.append(outcome)
    rest = attempts.renewed(snapshot, snapshot.rest) if snapshot.rest is not None else None
    number = min(budget, attempts.allowed(snapshot, rest)) if rest is not None else 0
    without_room.sort(key=lambda each: attempts.rank(each[0]))
    steps += [step for _, step in without_room[:number]]
    left += [attempts.left(case, rest, snapshot.now) for case, _ in without_room[number:]]
    begins = bool(without_room[:number])
    note = attempts.noted(snapshot, rest, begins=begins) if rest is not None else None
    return RestorePlan(steps=steps, left=left, rest=note)


def plan_again(snapshot: Snapshot, case: Case, step: Step) -> Step | None:
    """The step for a workload whose pods were read again, as if it were the only one.

    None if it is not to be moved any more, or not as was planned: with room, or without it, which
    others may have taken in the plan.
    """
    fleet = snapshot.fleet
    there = msgspec.structs.replace(fleet, nodes={}) if step.without_room else fleet
    again = consider(case, msgspec.structs.replace(snapshot, cases=[case]), Rooms(there))
    if isinstance(again, Step) and again.without_room is step.without_room:
        return again
    return None


def _rank(case: Case) -> tuple[bool, float, str, str]:
    standing = case.standing
    off = max(standing.missing, standing.surplus) / max(1, standing.replicas)
    return not standing.missing, -off, case.workload.namespace, case.workload.name


def _beyond_budget(case: Case, snapshot: Snapshot) -> Decision:
    message = f"{snapshot.terms.moves} pods are moved in one run: its turn comes in a later one"
    return leave(case, Reason.BUDGET_OF_RUN, message, verb=Verb.WAIT)


def _bad_floor(case: Case) -> Decision:
    problem = case.standing.floor.problem
    return leave(case, Reason.BAD_FLOOR, problem, verb=Verb.REJECT, warning=True)
