"""The plan for one controller's pods, as the flow keeps and reads it."""

from collections.abc import Sequence
from enum import StrEnum, auto
from functools import cached_property

import msgspec

from evenkeel.decisions.drain.pace import Ranking
from evenkeel.decisions.drain.plan import Plan
from evenkeel.flows.drain.cache.facts import Needs
from evenkeel.flows.selections import PodLabel
from evenkeel.model.decision import Decision


class Has(StrEnum):
    """What is asked for in each turn, of the plans that have it."""

    WRITES = auto()
    EVICTIONS = auto()
    RANKING = auto()
    AWAITS_PODS = auto()


class WorkloadPlan(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The plan for one controller's pods, and what the flow has to know to carry it out.

    - ``writes`` are those of its steps that change the cluster, ``notes`` the others.
    - ``ranking``: the pods that wait to be released; None if no pod does.
    - ``pending_replacements``: so many released pods have no replacement yet.
    - ``watched_by``: watches of these labels show all that matters to it; empty where they cannot.
    - ``handovers`` names the nodes that still have pods of it which are handed over, or may be.
    - ``needs``: what has to be read for it.
    """

    plan: Plan
    writes: Sequence[Decision] = ()
    notes: Sequence[Decision] = ()
    ranking: Ranking | None = None
    pending_replacements: int = 0
    watched_by: frozenset[PodLabel] = frozenset()
    handovers: frozenset[str] = frozenset()
    needs: Needs = {}

    @property
    def awaits_pods(self) -> bool:
        """Whether it changes with the controller's pods: see ``Plan``."""
        return self.plan.awaits_pods

    @cached_property
    def has(self) -> frozenset[Has]:
        """Which of these it has."""
        having = {
            Has.WRITES: self.writes,
            Has.EVICTIONS: self.plan.evictions,
            Has.RANKING: self.ranking,
            Has.AWAITS_PODS: self.awaits_pods,
        }
        return frozenset(has for has, found in having.items() if found)
