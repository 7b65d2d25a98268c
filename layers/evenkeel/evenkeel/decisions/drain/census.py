"""All that is known of one workload when something is decided about its pods."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cached_property

import msgspec

from evenkeel.decisions.drain.counts import Counts
from evenkeel.decisions.drain.movers import MovingPod, ReleasedPod
from evenkeel.decisions.drain.nodes import Nodes
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.quota_turns import QuotaTurns
from evenkeel.decisions.drain.refusal import kept_past_deadline
from evenkeel.decisions.drain.releases import Releases
from evenkeel.decisions.drain.targets import Targets
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.pod import Pod
from evenkeel.model.way import Way


class Census(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What deciders go by: how many pods there are, which of them move, and what was promised.

    - ``moving``: pods that have to move and are not released yet, each with its way.
    - ``budgets`` select its pods.
    - ``going``: see ``QuotaTurns``; ``siblings``, ``minimum_available``: see ``Releases``.
    """

    counts: Counts
    moving: Sequence[MovingPod] = ()
    budgets: Sequence[PodDisruptionBudget] = ()
    going: Sequence[Pod] = ()
    siblings: Sequence[Pod] | None = None
    minimum_available: int = 0

    @cached_property
    def now(self) -> datetime:
        """The time of the census."""
        return self.counts.now

    @cached_property
    def owner(self) -> Owner:
        """Who owns the pods."""
        return self.counts.owner

    @cached_property
    def nodes(self) -> Nodes:
        """What is known of the nodes that they are on."""
        return self.counts.nodes

    @cached_property
    def releases(self) -> Releases:
        """What was promised when pods were released, and which may go."""
        return Releases(
            counts=self.counts, siblings=self.siblings, minimum_available=self.minimum_available
        )

    @cached_property
    def quota(self) -> QuotaTurns:
        """Whether its pods go in turns."""
        return QuotaTurns(counts=self.counts, going=self.going)

    @cached_property
    def targets(self) -> Targets:
        """Where replacements have to be."""
        return Targets(self.counts)

    @cached_property
    def by_way(self) -> Mapping[Way, Sequence[MovingPod]]:
        """The moving pods by the way that each goes; one that its owner keeps stays.

        Where pods are handed over that way is always there: pods are released that do not move.
        """
        found: dict[Way, list[MovingPod]] = {Way.HANDOVER: []} if self.owner.hands_over else {}
        for each in self.moving:
            way = Way.STAY if each.pod.uid in self.kept else each.route.way
            found.setdefault(way, []).append(each)
        return found

    def movers(self, *ways: Way) -> Sequence[MovingPod]:
        """The pods that go one of these ways."""
        return [each for way in ways for each in self.by_way.get(way, ())]

    @property
    def leaving(self) -> Sequence[ReleasedPod | MovingPod]:
        """The pods that leave their nodes, released or not."""
        return (*self.counts.released, *self.moving)

    @cached_property
    def kept(self) -> frozenset[str]:
        """The uids of the pods whose eviction is not tried any more, because an owner keeps them.

        See ``refusal.kept_past_deadline``.
        """
        return frozenset(
            each.pod.uid
            for each in self.leaving
            if kept_past_deadline(each.pod, self.owner, each.deadline, self.now)
        )

    @cached_property
    def lacks_place(self) -> str:
        """Why the scheduler has a node for none of the owned pods that are missing; empty if not.

        It may not have looked for a node for all of them yet.
        """
        missing = self.counts.unavailable_owned
        if any(pod.spec.node_name for pod in missing):
            return ""
        return next((pod.status.refused for pod in missing if pod.status.refused), "")

    @property
    def off_doomed(self) -> Sequence[Pod]:
        """Owned pods that already have a place off doomed nodes."""
        nodes = self.nodes
        return [
            pod
            for pod in self.counts.owned
            if pod.spec.node_name and not nodes.is_doomed(pod) and not nodes.is_lost(pod)
        ]

    @cached_property
    def ready_off_doomed(self) -> int:
        """Owned pods that are ready off doomed nodes: these serve on once the nodes are gone."""
        return sum(pod.ready for pod in self.off_doomed)

    @cached_property
    def starting_off_doomed(self) -> int:
        """Owned pods that have a place off doomed nodes, and are about to be ready there."""
        is_on_its_way = self.counts.is_on_its_way
        return sum(not pod.ready and is_on_its_way(pod) for pod in self.off_doomed)
