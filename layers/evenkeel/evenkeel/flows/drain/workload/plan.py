"""The plan for one controller's pods, as the flow keeps and reads it."""

import msgspec

from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.plan import Plan
from evenkeel.flows.selections import PodLabel


class WorkloadPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan for one controller's pods, and what the flow has to know to carry it out.

    - ``census`` is set for a ReplicaSet.
    - ``watched_by``: watches of these labels show all that matters to it; empty where they cannot.
    - ``awaits_pods``: it changes with the controller's pods, so they have to be read every second
      where no watch shows them.
    - ``has_deadlines``: pods of it die at their deadline.
    - ``is_voluntary``: pods of it would move for a mere hint.
    - ``handovers`` names the nodes that still have pods of it which are handed over.
    """

    plan: Plan
    census: Census | None = None
    watched_by: frozenset[PodLabel] = frozenset()
    awaits_pods: bool = False
    has_deadlines: bool = False
    is_voluntary: bool = False
    handovers: frozenset[str] = frozenset()

    @property
    def is_unfinished(self) -> bool:
        """Whether something other than the mere passing of time can change the plan soon."""
        writing = any(step.write is not None for step in self.plan.steps)
        return self.awaits_pods or writing or bool(self.plan.evictions)
