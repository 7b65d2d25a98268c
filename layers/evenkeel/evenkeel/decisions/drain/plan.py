"""What to do about the pods of one workload now."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from evenkeel.decisions.drain import break_first, make_first, refusal, turns, verdicts
from evenkeel.decisions.drain.agenda import Forced
from evenkeel.decisions.drain.census import Census, MovingPod
from evenkeel.decisions.drain.last_moment import forced_evictions
from evenkeel.decisions.drain.verdicts import Candidate
from evenkeel.model.decision import Decision
from evenkeel.model.times import next_due
from evenkeel.model.way import Way


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What to do about one workload's pods now.

    - ``steps`` hold however old the cache is, evictions of pods that no count protects among them.
    - ``evictions`` take a pod away from its workload: they hold only while all its pods are known
      as of a moment ago.
    - ``candidates`` wait for their turn in the window, ``forced`` for their slot in the agenda.
    - ``due`` is when the plan changes although nothing else does.
    - ``awaits_pods``: it changes with the pods of the workload, so they have to be read every
      second where no watch shows them.
    """

    steps: Sequence[Decision] = ()
    evictions: Sequence[Decision] = ()
    candidates: Sequence[Candidate] = ()
    forced: Sequence[Forced] = ()
    due: datetime | None = None
    awaits_pods: bool = False


def plan(census: Census) -> Plan:
    """Decide about the pods of one workload.

    - pods that are not Evenkeel's to move, and those that their owner keeps past the deadline,
      stay;
    - a ReplicaSet's released pods leave or go back, and others are released: see ``make_first``;
    - or they go in turns, where a quota refuses a second pod: see ``turns``;
    - what goes any other way breaks before it makes: see ``break_first``;
    - a pod whose node dies goes at its last moment, whichever way it would go: see ``last_moment``.
    """
    staying, handed, others = list[Decision](), list[MovingPod](), list[MovingPod]()
    for mover in census.moving:
        if mover.route.way is Way.STAY:
            staying.append(verdicts.not_moved(census, mover))
        elif mover.pod.uid in census.kept:
            staying.append(refusal.leave(mover.pod, census.owner))
        else:
            (handed if mover.route.way is Way.HANDOVER else others).append(mover)
    in_turn = break_first.taking_turns(census, others)
    found = [*make_first.of_released(census), *break_first.of_moving(census, others, in_turn)]
    holds = [(mover, make_first.before_release(census, mover)) for mover in handed]
    free = [mover for mover, hold in holds if hold is None]
    candidates = list[Candidate]()
    if (note := census.in_turns) is None:
        candidates += (verdicts.candidate(census, mover) for mover in free)
    else:
        found += turns.of_turns(census, note, free)
    found += turns.of_note(census, handed)
    return Plan(
        steps=[
            *staying,
            *(each.decision for each in found if not each.needs_fresh),
            *(hold for _, hold in holds if hold is not None),
        ],
        evictions=[each.decision for each in found if each.needs_fresh],
        candidates=candidates,
        forced=forced_evictions(census, handed, others, in_turn),
        due=next_due(
            census.now,
            census.due if census.owner.hands_over else None,
            census.next_available_at if others else None,
            *turns.dues(census, handed),
            *(each.due for each in found),
            *(due for mover in handed for due in make_first.dues(census, mover)),
            *(mover.route.until for mover in census.moving),
        ),
        awaits_pods=census.is_handing_over or bool(free or in_turn),
    )
