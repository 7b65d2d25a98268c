"""The plan for all workloads: missing floors first, then what is above them."""

import msgspec

from evenkeel.decisions.restore.room import Rooms
from evenkeel.decisions.restore.snapshot import Case, Snapshot
from evenkeel.decisions.restore.step import Outcome, RestorePlan, Step, leave
from evenkeel.decisions.restore.workload import consider
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.reasons import Reason


def plan(snapshot: Snapshot) -> RestorePlan:
    """Decide about every workload.

    Missing floors come before surplus, and of each the workload that is furthest off, by its
    size. A move takes its room before the next is looked at. Beyond the run's budget workloads
    wait for the next run.
    """
    rooms = Rooms(snapshot.fleet)
    steps: list[Step] = []
    left: list[Decision] = []
    budget = snapshot.terms.moves
    for case in sorted(snapshot.cases, key=_rank):
        if case.standing.floor.problem and case.standing.is_managed:
            left.append(_bad_floor(case))
        outcome = consider(case, snapshot, rooms)
        if isinstance(outcome, Decision):
            left.append(outcome)
        elif outcome.counts > budget:
            left.append(_beyond_budget(case, snapshot))
        else:
            budget -= outcome.counts
            steps.append(outcome)
    return RestorePlan(steps=steps, left=left)


def plan_again(snapshot: Snapshot, case: Case) -> Outcome:
    """What becomes of one workload whose pods were read again, as if it were the only one."""
    fleet = snapshot.fleet
    return consider(case, msgspec.structs.replace(snapshot, cases=[case]), Rooms(fleet))


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
