"""What the releases of a workload's pods promise, and which released pods may go."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cached_property

import msgspec

from evenkeel.decisions.drain.budgets import kept_in_rollout
from evenkeel.decisions.drain.counts import ON_ITS_WAY, Counts
from evenkeel.decisions.drain.movers import ReleasedPod
from evenkeel.model import names
from evenkeel.model.pod import Pod, next_available_at
from evenkeel.model.release import Release
from evenkeel.model.times import earliest

LONGEST_TO_MAKE = timedelta(seconds=60)
"""A ReplicaSet controller at its default rate makes the pods of a whole window in 20 s."""


class Releases(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """How many pods have to stay available while released ones leave.

    - ``siblings``: the pods that the other ReplicaSets of its Deployment own; None: no rollout
      goes on, or they were not read.
    - ``minimum_available``: the highest count so far of pods to keep available. A count in the
      middle of many releases may miss a pod.
    """

    counts: Counts
    siblings: Sequence[Pod] | None = None
    minimum_available: int = 0

    @cached_property
    def available_at_release(self) -> int:
        """How many pods its releases have to keep available, or had to: the most of all."""
        wanted = (each.release.wanted for each in self.counts.released)
        return max([self.minimum_available, *wanted])

    @cached_property
    def wanted_by_a_new_release(self) -> int:
        """How many pods a release has to keep available, were it made now.

        The pods that are available, owned and released, and those that are young and starting, or
        what is promised if that is more; never more than the replicas asked for.
        """
        counts = self.counts
        there = counts.available_owned + counts.available_released + len(counts.on_their_way)
        return min(counts.replicas_to_keep, max(self.available_at_release, there))

    @cached_property
    def wanted_available(self) -> int:
        """How many available pods there have to be from now on.

        The lower of the replicas asked for now and the pods that the releases promised to keep.
        """
        replicas = self.counts.replicas_to_keep
        return min(replicas, self.available_at_release) if self.counts.released else replicas

    @property
    def surplus(self) -> int:
        """How many released pods can go without the workload falling below what is wanted.

        Nor, in a rollout, below what the Deployment keeps available.
        """
        counts = self.counts
        there = counts.available_owned - counts.excess + counts.available_released
        own, spare = there - self.wanted_available, self.spare_in_rollout
        return max(0, own if spare is None else min(own, spare))

    @cached_property
    def spare_in_rollout(self) -> int | None:
        """How many released pods the Deployment can spare in a rollout; None if none goes on.

        Below zero where pods are missing.

        Its controller does not count them. It takes a released pod's replacement for an old
        pod that ails, and takes the ReplicaSet's size back by it: the ReplicaSet then has one
        pod too many, which the Deployment still needs.
        """
        counts, deployment = self.counts, self.counts.owner.deployment
        if deployment is None or self.siblings is None:
            return None
        siblings = counts.available_of(self.siblings, deployment.spec.min_ready_seconds)
        owned = min(counts.available_owned, counts.replicas_to_keep)
        there = owned + counts.available_released + sum(1 for _ in siblings)
        return there - kept_in_rollout(deployment)

    @cached_property
    def may_go(self) -> frozenset[str]:
        """The uids of the released pods that can go: as many as are surplus, in their order."""
        return frozenset(item.pod.uid for item in self.order_of_going[: self.surplus])

    @cached_property
    def order_of_going(self) -> Sequence[ReleasedPod]:
        """The released pods in the order in which they go.

        Not available ones first, then by deadline, time of release and uid. It depends on the
        objects alone, so that any two invocations agree; and a pod that is released later comes
        later, so that they also agree when one of them has not seen the latest release.
        """

        def rank(item: ReleasedPod) -> tuple[bool, datetime, datetime, str]:
            return (
                self.counts.is_available(item.pod),
                item.deadline.at,
                item.release.since,
                item.pod.uid,
            )

        return sorted(self.counts.released, key=rank)

    @cached_property
    def pending_replacements(self) -> int:
        """Releases whose replacement pod the ReplicaSet controller has not made yet.

        Zero while it cannot make any: a quota or a deletion must not hold up the others. Nor
        must a forged label: only releases that Evenkeel may have made count, and not for ever.
        """
        missing = self.counts.replicas_to_keep - len(self.counts.owned)
        return min(len(self._being_replaced), max(0, missing))

    @cached_property
    def _being_replaced(self) -> Sequence[Release]:
        """The releases whose pods the ReplicaSet may still be about to replace.

        Evenkeel releases from doomed nodes, and where the template hash holds the pods together.
        """
        counts, replica_set = self.counts, self.counts.owner.replica_set
        if replica_set is None or replica_set.leaving or replica_set.cannot_create is not None:
            return ()
        own = replica_set.template_hash
        return [
            item.release
            for item in counts.released
            if item.pod.metadata.labels[names.RELEASED_FROM] == own
            and counts.nodes.is_doomed(item.pod)
            and counts.now - item.release.since < LONGEST_TO_MAKE
        ]

    @property
    def due(self) -> datetime | None:
        """When it may count otherwise by time alone.

        A pod becomes available, a replacement takes too long to be made, or a pod to start.
        """
        counts, deployment = self.counts, self.counts.owner.deployment
        pending = self._being_replaced if self.pending_replacements else ()
        made = (pod.metadata.creation_timestamp for pod in counts.on_their_way)
        next_sibling = None
        if self.siblings is not None and deployment is not None:
            min_ready = deployment.spec.min_ready_seconds
            next_sibling = next_available_at(self.siblings, min_ready, counts.now)
        return earliest(
            counts.next_available_at,
            next_sibling,
            *(each.since + LONGEST_TO_MAKE for each in pending),
            *(at + ON_ITS_WAY for at in made if at is not None),
        )
