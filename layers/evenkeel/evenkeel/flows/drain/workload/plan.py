"""The plan for one controller's pods, as the flow keeps and reads it."""

from collections.abc import Sequence

import msgspec

from evenkeel.decisions.drain.pace import Ranking
from evenkeel.decisions.drain.plan import Plan
from evenkeel.flows.selections import PodLabel
from evenkeel.model.decision import Decision


class WorkloadPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan for one controller's pods, and what the flow has to know to carry it out.

    - ``writes`` are those of its steps that change the cluster, ``notes`` the others.
    - ``ranking``: the pods that wait to be released; None if no pod does.
    - ``pending_replacements``: so many released pods have no replacement yet.
    - ``watched_by``: watches of these labels show all that matters to it; empty where they cannot.
    - ``held_in`` is the namespace whose budgets hold pods that move for a mere hint.
    - ``handovers`` names the nodes that still have pods of it which are handed over.
    """

    plan: Plan
    writes: Sequence[Decision] = ()
    notes: Sequence[Decision] = ()
    ranking: Ranking | None = None
    pending_replacements: int = 0
    watched_by: frozenset[PodLabel] = frozenset()
    held_in: str | None = None
    handovers: frozenset[str] = frozenset()

    @property
    def awaits_pods(self) -> bool:
        """Whether it changes with the controller's pods: see ``Plan``."""
        return self.plan.awaits_pods

    @property
    def is_unfinished(self) -> bool:
        """Whether something other than the mere passing of time can change it soon."""
        return self.awaits_pods or bool(self.writes) or bool(self.plan.evictions)
