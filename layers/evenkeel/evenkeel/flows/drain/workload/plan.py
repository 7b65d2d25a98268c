"""The plan for one controller's pods, as the flow keeps and reads it."""

import msgspec

from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.plan import Plan
from evenkeel.flows.selections import PodLabel


class WorkloadPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan for one controller's pods, and what the flow has to know to carry it out.

    - ``census`` is set for a ReplicaSet.
    - ``watched_by``: watches of these labels show all that matters to it; empty where they cannot.
    - ``is_voluntary``: pods of it would move for a mere hint.
    - ``handovers`` names the nodes that still have pods of it which are handed over.
    """

    plan: Plan
    census: Census | None = None
    watched_by: frozenset[PodLabel] = frozenset()
    is_voluntary: bool = False
    handovers: frozenset[str] = frozenset()

    @property
    def awaits_pods(self) -> bool:
        """Whether it changes with the controller's pods: see ``Plan``."""
        return self.plan.awaits_pods
