"""The plan for one controller's pods, and what the flow has to know to carry it out."""

from collections.abc import Collection, Sequence
from enum import StrEnum, auto
from functools import cached_property

import msgspec

from evenkeel.decisions.drain.pace import Ranking
from evenkeel.decisions.drain.plan import Plan
from evenkeel.flows.drain.cache.facts import Needs
from evenkeel.flows.drain.recording import Counted
from evenkeel.flows.drain.room_search import RoomRequest
from evenkeel.model.decision import Decision
from evenkeel.model.pod_label import PodLabel


class Has(StrEnum):
    """What is asked for in each turn, of the plans that have it."""

    WRITES = auto()
    EVICTIONS = auto()
    RANKING = auto()
    AWAITS_PODS = auto()
    ROOM_REQUESTS = auto()


class WorkloadPlan(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The plan for one controller's pods.

    - ``ranking``: the pods that wait to be released; None if no pod does.
    - ``pending_replacements``: so many released pods have no replacement yet.
    - ``watched_by``: watches of these labels show all that matters to it; empty where they cannot.
    - ``handovers`` names the nodes that still have pods of it which are handed over, or may be.
    - ``needs``: what has to be read for it.
    - ``room_requests``: its pods that move for a hint once a place is known for them;
      ``unsearched``: the uids of those for which none was looked for yet.
    - ``seats``: those that it keeps, each by its pod's uid; None: that is not known yet.
    - ``holding``: the nodes that are held for its next pods.
    - ``counted``: how many pods of the workload are available; None where that is not known.
    """

    plan: Plan
    ranking: Ranking | None = None
    pending_replacements: int = 0
    watched_by: frozenset[PodLabel] = frozenset()
    handovers: frozenset[str] = frozenset()
    needs: Needs = {}
    room_requests: Sequence[RoomRequest] = ()
    unsearched: Collection[str] = ()
    counted: Counted | None = None
    seats: frozenset[str] | None = frozenset()
    holding: frozenset[str] = frozenset()

    @cached_property
    def writes(self) -> Sequence[Decision]:
        """Those of its steps that change the cluster."""
        return [step for step in self.plan.steps if step.write is not None]

    @cached_property
    def notes(self) -> Sequence[Decision]:
        """The other steps, but for those of the pods for which no place was looked for yet."""
        steps = (step for step in self.plan.steps if step.write is None)
        return [step for step in steps if step.subject.uid not in self.unsearched]

    @cached_property
    def has(self) -> frozenset[Has]:
        """Which of these it has."""
        having = {
            Has.WRITES: self.writes,
            Has.EVICTIONS: self.plan.evictions,
            Has.RANKING: self.ranking,
            Has.AWAITS_PODS: self.plan.awaits_pods,
            Has.ROOM_REQUESTS: self.room_requests,
        }
        return frozenset(has for has, found in having.items() if found)
