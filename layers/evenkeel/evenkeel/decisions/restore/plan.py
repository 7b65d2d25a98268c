"""The plan for all workloads: missing floors first, then what is above them."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

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
    ordered = sorted(snapshot.cases, key=_rank)
    cases = [case for case in ordered if case.workload.key not in snapshot.not_taken]
    at_rest = [case for case in ordered if case.workload.key in snapshot.not_taken]
    moves = _moves(snapshot, cases, rooms)
    tried = _without_room(snapshot, moves, rooms)
    steps = [*moves.steps, *tried.steps]
    return RestorePlan(
        steps=[*steps, *_full_pools(snapshot, cases, steps)],
        left=[
            *map(_bad_floor, filter(_has_bad_floor, ordered)),
            *moves.left,
            *tried.left,
            *(_at_rest(case, snapshot, rooms) for case in at_rest),
        ],
        rest=tried.rest,
    )


class _Moves(NamedTuple):
    """The moves that have a room, what is left, and those to spot that no node has room for."""

    steps: Sequence[Step]
    left: Sequence[Decision]
    without_room: Sequence[tuple[Case, str]]
    budget: int


def _moves(snapshot: Snapshot, cases: Sequence[Case], rooms: Rooms) -> _Moves:
    """Take the budget, and a room, for one workload after the other."""
    steps, left, without_room = list[Step](), list[Decision](), list[tuple[Case, str]]()
    budget = snapshot.terms.moves
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
    return _Moves(steps, left, without_room, budget)


def _without_room(snapshot: Snapshot, moves: _Moves, rooms: Rooms) -> RestorePlan:
    """Try as many moves to spot without a room as may be tried now; the others wait."""
    waiting = sorted(moves.without_room, key=lambda each: attempts.rank(each[0]))
    rest = attempts.renewed(snapshot, snapshot.rest) if snapshot.rest is not None else None
    number = min(moves.budget, attempts.allowed(snapshot, rest)) if rest is not None else 0
    begun = [consider(case, snapshot, rooms, may_wait=True) for case, _ in waiting[:number]]
    return RestorePlan(
        steps=[step for step in begun if isinstance(step, Step)],
        left=[attempts.left(case, text, rest, snapshot.now) for case, text in waiting[number:]],
        rest=attempts.noted(snapshot, rest, begins=bool(begun)) if rest is not None else None,
    )


def _full_pools(snapshot: Snapshot, cases: Sequence[Case], steps: Sequence[Step]) -> Iterable[Step]:
    """Note which pools are full on workloads without a step."""
    have = {step.workload for step in steps}
    others = (case for case in cases if case.workload.key not in have)
    found = (other_pool.note(case, snapshot.fleet) for case in others)
    return islice(filter(None, found), snapshot.terms.moves)


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
