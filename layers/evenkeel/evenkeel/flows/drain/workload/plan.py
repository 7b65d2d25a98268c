"""The plan for one controller's pods, as the flow keeps and reads it."""

from functools import cached_property

import msgspec

from evenkeel.decisions.handover.census import Census
from evenkeel.decisions.plan import Plan
from evenkeel.model import names
from evenkeel.model.pod import Pod


class WorkloadPlan(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The plan for one controller's pods, and what the flow has to know to carry it out.

    ``census`` is set for a ReplicaSet. ``polled``: its turns depend on pods that no watch
    shows, so it has to be read again every second. ``pressing``: pods of it die at their
    deadline; ``voluntary``: pods of it would move for a mere hint. ``handovers`` names the
    nodes that still have pods of it which are handed over.
    """

    plan: Plan
    census: Census | None = None
    polled: bool = False
    pressing: bool = False
    voluntary: bool = False
    handovers: frozenset[str] = frozenset()

    @cached_property
    def shown_by_watches(self) -> Pod | None:
        """A released pod of a ReplicaSet of which the watches show all that matters.

        None where its pods or its Deployment's others have to be read: in a rollout, once it
        is scaled to zero or gone, where turns are polled for, and where an earlier version released
        pods, which took the label off by which they are watched.
        """
        census = self.census
        if census is None or self.polled or census.replicas == 0 or not census.released:
            return None
        in_rollout = census.owner.deployment_in_rollout is not None
        bear_hash = all(names.TEMPLATE_HASH in i.pod.metadata.labels for i in census.released)
        return census.released[0].pod if bear_hash and not in_rollout else None

    @property
    def restless(self) -> bool:
        """Whether something other than the mere passing of time can change the plan soon."""
        released = self.census is not None and self.census.is_handing_over
        writing = any(step.write is not None for step in self.plan.steps)
        waiting = bool(self.plan.fresh_steps or self.plan.candidates)
        return self.polled or released or writing or waiting
