"""What to do about the pods of one workload now."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final, Self

import msgspec

from evenkeel.decisions.drain import (
    at_once,
    break_first,
    last_moment,
    make_first,
    node_ends_at,
    quota_turns,
    seats,
    stay,
)
from evenkeel.decisions.drain.agenda import Forced
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.pod_plan import Candidate, PodPlan
from evenkeel.model.decision import Decision
from evenkeel.model.times import next_due
from evenkeel.model.way import Way

type Decider = Callable[[Census], Iterator[PodPlan]]
"""Looks at the pods that are its own, and says what becomes of each."""

GOING: Final = tuple(way for way in Way if way is not Way.STAY)
"""The ways of pods that leave their nodes."""

DECIDERS: Final[Sequence[tuple[Collection[Way], Decider]]] = (
    ((Way.STAY,), stay.decide),
    ((Way.HANDOVER,), make_first.decide),
    ((Way.HANDOVER,), quota_turns.decide),
    ((Way.AT_ONCE,), at_once.decide),
    (break_first.TAKE_TURNS, break_first.decide),
    ((Way.AT_LAST_MOMENT,), last_moment.decide),
    (GOING, last_moment.of_dying),
    (tuple(Way), node_ends_at.decide),
)
"""Each decider, and the ways of its pods: it is asked where a pod goes one of them.

``make_first`` has released pods and those that wait for a release, ``quota_turns`` the latter where
a quota refuses a second pod. Beside its step each pod on a dying node gets a slot for its last
moment, and ``node_ends_at`` tells pods, whichever way they go.
"""


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

    @classmethod
    def of(cls, now: datetime, found: Iterable[PodPlan]) -> Self:
        """What deciders said of each pod, put together."""
        steps, evictions = list[Decision](), list[Decision]()
        candidates, forced = list[Candidate](), list[Forced]()
        awaits_pods, dues = False, list[datetime | None]()
        for each in found:
            match each.step:
                case Decision():
                    (evictions if each.needs_fresh else steps).append(each.step)
                case Candidate():
                    candidates.append(each.step)
                case Forced():
                    forced.append(each.step)
            awaits_pods = awaits_pods or each.awaits_pods
            dues.append(each.due)
        return cls(
            steps=steps,
            evictions=evictions,
            candidates=candidates,
            forced=forced,
            due=next_due(now, *dues),
            awaits_pods=awaits_pods,
        )


def plan(census: Census) -> Plan:
    """Decide about the pods of one workload."""
    ways = census.by_way.keys()
    asked = (decide for its_own, decide in DECIDERS if not ways.isdisjoint(its_own))
    deciders = (*asked, seats.decide)  # next pods are let in when no pod moves any more
    return Plan.of(census.now, (each for decide in deciders for each in decide(census)))
