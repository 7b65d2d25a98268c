"""Counting the pods of one workload: how many are there, available, and surplus."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property

import msgspec

from evenkeel.decisions.drain.budgets import kept_in_rollout
from evenkeel.decisions.drain.deadlines import Deadline, node_deadline, released_deadline
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.refusal import kept_past_deadline
from evenkeel.decisions.drain.route import Route
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.notice import NodeNotice
from evenkeel.model.pod import Pod, next_available_at
from evenkeel.model.pool import Pool
from evenkeel.model.refused import Refused
from evenkeel.model.release import Release
from evenkeel.model.times import earliest, span

ON_ITS_WAY = timedelta(minutes=5)
"""A pod younger than this that is not available yet is taken to be about to be."""


LONGEST_TO_MAKE = timedelta(seconds=60)
"""A ReplicaSet controller at its default rate makes the pods of a whole window in 20 s."""


class MovingPod(msgspec.Struct, frozen=True, dict=True):
    """A pod on a cordoned, doomed node, the way it goes and its node's notice.

    Or a pod of a gang that goes as a whole (see ``gangs``). Then ``notice`` is that of the node
    that dies, and ``lives`` says that the pod's own node does not. ``together``: when the gang
    goes.
    """

    pod: Pod
    route: Route
    notice: NodeNotice
    together: datetime | None = None
    lives: bool = False

    @cached_property
    def deadline(self) -> Deadline:
        """By when it has to go."""
        return node_deadline(self.notice)

    @cached_property
    def evict_by(self) -> datetime:
        """When its eviction has to be sent at the latest, for the grace period to fit."""
        own = self.deadline.evict_by(self.pod)
        return own if self.together is None else min(own, self.together)

    @property
    def stays_until(self) -> datetime:
        """How long it stays at most."""
        return self.evict_by if self.deadline.forced else self.deadline.at


class ReleasedPod(msgspec.Struct, frozen=True, dict=True):
    """A released pod, what its annotation says, and by when it has to go, or to be back."""

    pod: Pod
    release: Release
    deadline: Deadline

    @cached_property
    def evict_by(self) -> datetime:
        """When its eviction has to be sent at the latest, for the grace period to fit."""
        return self.deadline.evict_by(self.pod)

    @property
    def stays_until(self) -> datetime:
        """How long it stays at most."""
        return self.evict_by if self.deadline.forced else self.deadline.at


class Census(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """All that is known of one workload's pods at one time, and how many there are of each kind.

    - ``pods``: the active pods of the controller; terminating and finished ones never count.
    - ``owner`` has no controller once that is known to be gone.
    - ``moving``: its pods that have to move and are not released yet, each with its way.
    - ``going``: its pods that are being deleted and not gone, where a quota refuses others.
    - ``budgets`` select its pods.
    - ``dooms``: the open notices by node name.
    - ``lost``: nodes that are gone, though the API may still list their pods as running.
    - ``siblings``: the pods that the other ReplicaSets of its Deployment own; None: no rollout
      goes on, or they were not read.
    - ``minimum_available``: the highest count so far of pods to keep available. A census in the
      middle of many releases may miss a pod.
    - ``most_seen``: the most of its pods that were seen at a time, where its kind does not say how
      many it asks for.
    - ``pools``: in which pool a node is, None for an on-demand node, ``kept_empty``: whether it is
      drained by anybody, as far as that was read.
    """

    now: datetime
    owner: Owner
    pods: Sequence[Pod] = ()
    moving: Sequence[MovingPod] = ()
    going: Sequence[Pod] = ()
    budgets: Sequence[PodDisruptionBudget] = ()
    dooms: Mapping[str, NodeNotice] = {}
    lost: frozenset[str] = frozenset()
    siblings: Sequence[Pod] | None = None
    minimum_available: int = 0
    most_seen: int = 0
    pools: Mapping[str, Pool | None] = {}
    kept_empty: Mapping[str, bool] = {}

    @cached_property
    def replica_set(self) -> Controller | None:
        """The ReplicaSet whose pods these are; None without one, and once it is gone."""
        return self.owner.controller if self.owner.hands_over else None

    @cached_property
    def why_no_replacement(self) -> str:
        """Why the ReplicaSet cannot make replacements; empty if it can, as far as is known."""
        failure = self.replica_set.cannot_create if self.replica_set is not None else None
        return f"no replacement can be made ({failure.message})" if failure is not None else ""

    @cached_property
    def refused(self) -> Refused | None:
        """What its ReplicaSet notes of a quota that refuses it pods."""
        return self.replica_set.refused if self.replica_set is not None else None

    @cached_property
    def noted_turns(self) -> Refused | None:
        """The note that says that its pods go in turns now (see ``turns``)."""
        note = self.refused
        return None if note is None or note.until is None or note.is_over(self.now) else note

    @cached_property
    def in_turns(self) -> Refused | None:
        """That note, unless a rollout goes on or the quota has room: then pods are handed over."""
        in_rollout = self.owner.deployment_in_rollout is not None
        return None if in_rollout or self.has_room else self.noted_turns

    @cached_property
    def has_room(self) -> bool:
        """Whether more pods are there than when turns began: the quota has let one more be made.

        A terminating pod still counts in the quota. One past its grace period is not counted here,
        because the quota may have dropped it already: it does so where a dead node holds the pod.
        A finished pod is not among those that are going, and no quota counts it.
        """
        note = self.noted_turns
        leaving = (pod.ends_at is None or self.now < pod.ends_at for pod in self.going)
        return note is not None and self.staying + sum(leaving) > note.pods

    @property
    def staying(self) -> int:
        """How many pods are there and stay for now: owned ones, and released ones."""
        return len(self.owned) + len(self.released)

    @cached_property
    def size(self) -> int:
        """How many pods the controller asks for; as many as there were where it does not say."""
        controller = self.owner.controller
        asked = controller.replicas if controller is not None else None
        return max(len(self.pods), self.most_seen) if asked is None else asked

    @cached_property
    def replicas(self) -> int:
        """As ``size``, but 0 of a ReplicaSet that is gone or going."""
        replica_set = self.replica_set
        if self.owner.hands_over and (replica_set is None or replica_set.leaving):
            return 0
        return self.size

    @property
    def min_ready_seconds(self) -> int:
        """For how long a pod has to be Ready to count as available."""
        controller = self.owner.controller
        return controller.min_ready_seconds if controller is not None else 0

    @cached_property
    def owned(self) -> Sequence[Pod]:
        """The pods that have a controller."""
        return [pod for pod in self.pods if pod.controller is not None]

    @cached_property
    def released(self) -> Sequence[ReleasedPod]:
        """The pods released from a ReplicaSet, but for ``unreadable`` ones."""
        found = []
        for pod, release in self._bearing:
            if release is not None:
                deadline = released_deadline(release, self.dooms.get(pod.spec.node_name))
                found.append(ReleasedPod(pod, release, deadline))
        return found

    @property
    def unreadable(self) -> Sequence[Pod]:
        """Released pods whose annotation cannot be read, or cannot be true; or in part alone."""
        return [pod for pod, release in self._bearing if release is None]

    @cached_property
    def _bearing(self) -> Sequence[tuple[Pod, Release | None]]:
        """The pods that bear a release, each with what is believed of it."""
        if not self.owner.hands_over:
            return []
        bearing = [pod for pod in self.pods if pod.released or pod.is_released_in_part]
        return [
            (pod, None if pod.is_released_in_part else pod.believed_release(self.now))
            for pod in bearing
        ]

    @cached_property
    def kept(self) -> frozenset[str]:
        """The uids of the pods whose eviction is not tried any more, because an owner keeps them.

        See ``refusal.kept_past_deadline``.
        """
        going: Sequence[ReleasedPod | MovingPod] = (*self.released, *self.moving)
        return frozenset(
            each.pod.uid
            for each in going
            if kept_past_deadline(each.pod, self.owner, each.deadline, self.now)
        )

    def is_available(self, pod: Pod) -> bool:
        """Whether one of these pods counts as available to its controller."""
        return pod.uid in self._available

    @cached_property
    def _available(self) -> frozenset[str]:
        return frozenset(self._available_of(self.pods, self.min_ready_seconds))

    def _available_of(self, pods: Iterable[Pod], min_ready_seconds: int) -> Iterator[str]:
        """The uids of those that are available, and did not go with their node."""
        for pod in pods:
            if pod.available(self.now, min_ready_seconds) and not self.is_lost(pod):
                yield pod.uid

    @property
    def available(self) -> int:
        """How many of all pods are available."""
        return len(self._available)

    @property
    def missing(self) -> int:
        """How many replicas are not available now, or will not be: see ``excess``."""
        return max(0, self.size - self.available + self.excess)

    @property
    def excess(self) -> int:
        """How many owned pods the controller has too many: it takes as many away.

        Any of them. It prefers those that are not Ready, but it chooses long before it deletes
        where its client is slow: one that it chose may be available by now.
        """
        return max(0, len(self.owned) - self.size)

    def share(self, number: int) -> float:
        """So many pods as a share of its replicas; 1 where none are asked for, as none is missing.

        More than 1 where there are more pods than are asked for.
        """
        return max(0, number) / self.replicas if self.replicas else 1.0

    @cached_property
    def available_owned(self) -> int:
        """Available pods that the ReplicaSet owns."""
        return len(self.owned) - len(self._unavailable)

    @cached_property
    def _unavailable(self) -> Sequence[Pod]:
        return [pod for pod in self.owned if not self.is_available(pod)]

    @cached_property
    def available_released(self) -> int:
        """Available pods that were released from it."""
        return sum(self.is_available(item.pod) for item in self.released)

    def is_lost(self, pod: Pod) -> bool:
        """Whether the pod went with its node, although its status does not say so yet."""
        return pod.spec.node_name in self.lost

    def is_doomed(self, pod: Pod) -> bool:
        """Whether the pod runs on a node that is drained."""
        return pod.spec.node_name in self.dooms

    @cached_property
    def is_handing_over(self) -> bool:
        """Whether pods leave doomed nodes, released or in turns: an invocation stays for these.

        One on another node can wait for the next invocation: its node lives. Its release, or the
        note of its ReplicaSet, may also be forged by a tenant, and it may take hours to stop. That
        must not keep an invocation at work.
        """
        return any(map(self.is_doomed, (*(item.pod for item in self.released), *self.going)))

    @cached_property
    def off_doomed(self) -> Sequence[Pod]:
        """Owned pods that already have a place off doomed nodes."""
        return [
            pod
            for pod in self.owned
            if pod.spec.node_name and not self.is_doomed(pod) and not self.is_lost(pod)
        ]

    @cached_property
    def ready_off_doomed(self) -> int:
        """Owned pods that are ready off doomed nodes: these serve on once the nodes are gone."""
        return sum(pod.ready for pod in self.off_doomed)

    @cached_property
    def starting_off_doomed(self) -> int:
        """Owned pods that have a place off doomed nodes, and are about to be ready there."""
        return sum(not pod.ready and self._is_on_its_way(pod) for pod in self.off_doomed)

    @cached_property
    def pending_replacements(self) -> int:
        """Releases whose replacement pod the ReplicaSet controller has not made yet.

        Zero while it cannot make any: a quota or a deletion must not hold up the others. Nor
        must a forged label: only releases that Evenkeel may have made count, and not for ever.
        """
        return min(len(self._being_replaced), max(0, self.replicas - len(self.owned)))

    @cached_property
    def _being_replaced(self) -> Sequence[Release]:
        """The releases whose pods the ReplicaSet may still be about to replace.

        Evenkeel releases from doomed nodes, and where the template hash holds the pods together.
        """
        replica_set = self.replica_set
        if replica_set is None or replica_set.leaving or replica_set.cannot_create is not None:
            return ()
        own = replica_set.template_hash
        return [
            item.release
            for item in self.released
            if item.pod.metadata.labels[names.RELEASED_FROM] == own
            and self.is_doomed(item.pod)
            and self.now - item.release.since < LONGEST_TO_MAKE
        ]

    @cached_property
    def promised(self) -> int:
        """How many pods its releases have to keep available, or had to: the most of all."""
        return max([self.minimum_available, *(each.release.wanted for each in self.released)])

    @cached_property
    def worth_keeping(self) -> int:
        """How many pods a release has to keep available, were it made now.

        The pods that are available, owned and released, and those that are young and starting, or
        what is promised if that is more; never more than the replicas asked for.
        """
        there = self.available_owned + self.available_released + self.coming
        return min(self.replicas, max(self.promised, there))

    @cached_property
    def coming(self) -> int:
        """Owned pods that are about to be available."""
        return len(self._on_their_way)

    @cached_property
    def _on_their_way(self) -> Sequence[Pod]:
        return [pod for pod in self._unavailable if self._is_on_its_way(pod)]

    def _is_on_its_way(self, pod: Pod) -> bool:
        created = pod.metadata.creation_timestamp
        young = created is not None and self.now - created < ON_ITS_WAY
        return young and not self.is_lost(pod)

    @property
    def due(self) -> datetime | None:
        """When it may count otherwise by time alone.

        A pod becomes available, a replacement takes too long to be made, or a pod to start.
        """
        pending = self._being_replaced if self.pending_replacements else ()
        made = (pod.metadata.creation_timestamp for pod in self._on_their_way)
        return earliest(
            self.next_available_at,
            *(each.since + LONGEST_TO_MAKE for each in pending),
            *(at + ON_ITS_WAY for at in made if at is not None),
        )

    @property
    def next_available_at(self) -> datetime | None:
        """When the next ready pod becomes available by time alone (minReadySeconds)."""
        found = next_available_at(self.pods, self.min_ready_seconds, self.now)
        deployment = self.owner.deployment
        if self.siblings is None or deployment is None:
            return found
        min_ready = deployment.spec.min_ready_seconds
        return earliest(found, next_available_at(self.siblings, min_ready, self.now))

    @property
    def last_available_at(self) -> datetime | None:
        """When the last of the available owned pods became available; None if none is."""
        since = (pod.ready_since for pod in self.owned if self.is_available(pod))
        last = max((time for time in since if time is not None), default=None)
        return None if last is None else last + span(self.min_ready_seconds)

    @cached_property
    def wanted(self) -> int:
        """How many available pods there have to be from now on.

        The lower of the replicas asked for now and the pods that the releases promised to keep.
        """
        return min(self.replicas, self.promised) if self.released else self.replicas

    def target_of(self, item: ReleasedPod) -> Capacity | None:
        """The capacity type that a released pod's replacement has to be on, if any.

        None also once its node dies: then a replacement on either type will do.
        """
        return None if item.deadline.forced else item.release.target

    def is_on_target(self, item: ReleasedPod) -> bool:
        """Whether a released pod's replacement is available where it has to be."""
        return self._are_enough(self._available_in, item)

    def is_off_target(self, item: ReleasedPod) -> bool:
        """Whether a released pod's replacement has a node, and not where it has to be.

        All replicas have a node whose pool is known, and none came to those on the target.
        """
        if self.target_of(item) is None or len(self.owned) < self.replicas:
            return False
        return self._owned_in.total() >= len(self.owned) and not self.is_placed(item)

    def is_placed(self, item: ReleasedPod) -> bool:
        """Whether a released pod's replacement has a node where it has to be, Ready or not."""
        return self._are_enough(self._owned_in, item)

    def _are_enough(self, pods: Mapping[Pool | None, int], item: ReleasedPod) -> bool:
        """Whether a released pod's replacement is among these where it has to be, if anywhere."""
        if self.target_of(item) is None:
            return True
        there = sum(number for pool, number in pods.items() if item.release.takes(pool))
        return there >= self._needed_there[item.pod.uid]

    @cached_property
    def _owned_in(self) -> Counter[Pool | None]:
        """How many owned pods are in a pool, or on on-demand nodes, as far as that is known."""
        return self._count(self.owned)

    @cached_property
    def _available_in(self) -> Counter[Pool | None]:
        """As ``_owned_in``, of those that are available."""
        return self._count(filter(self.is_available, self.owned))

    def _count(self, pods: Iterable[Pod]) -> Counter[Pool | None]:
        nodes = (pod.spec.node_name for pod in pods)
        return Counter(self.pools[node] for node in nodes if node in self.pools)

    @cached_property
    def _needed_there(self) -> Mapping[str, int]:
        """For each released pod with a target, by uid: how many owned pods must run there.

        Until then it is not evicted. The second such pod needs one more than the first, and so on.
        """
        moves = defaultdict[object, list[ReleasedPod]](list)
        for each in sorted(self.released, key=lambda each: (each.release.since, each.pod.uid)):
            moves[self.target_of(each), each.release.avoid].append(each)
        found: dict[str, int] = {}
        for going in moves.values():
            there = min(each.release.there for each in going)
            found |= {each.pod.uid: there + place for place, each in enumerate(going, 1)}
        return found

    @property
    def surplus(self) -> int:
        """How many released pods can go without the workload falling below ``wanted``.

        Nor, in a rollout, below what the Deployment keeps available.
        """
        own = self.available_owned - self.excess + self.available_released - self.wanted
        spare = self.spare_in_rollout
        return max(0, own if spare is None else min(own, spare))

    @cached_property
    def spare_in_rollout(self) -> int | None:
        """How many released pods the Deployment can spare in a rollout; None if none goes on.

        Below zero where pods are missing.

        Its controller does not count them. It takes a released pod's replacement for an old
        pod that ails, and takes the ReplicaSet's size back by it: the ReplicaSet then has one
        pod too many, which the Deployment still needs.
        """
        deployment = self.owner.deployment
        if deployment is None or self.siblings is None:
            return None
        siblings = self._available_of(self.siblings, deployment.spec.min_ready_seconds)
        owned = min(self.available_owned, self.replicas)
        there = owned + self.available_released + sum(1 for _ in siblings)
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
                self.is_available(item.pod),
                item.deadline.at,
                item.release.since,
                item.pod.uid,
            )

        return sorted(self.released, key=rank)
