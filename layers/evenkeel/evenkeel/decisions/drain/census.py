"""All that is known of one workload when something is decided about its pods."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property

import msgspec

from evenkeel.decisions.drain.budgets import kept_in_rollout
from evenkeel.decisions.drain.count import Count
from evenkeel.decisions.drain.deadlines import A_FEW_SECONDS, released_deadline
from evenkeel.decisions.drain.movers import MovingPod, ReleasedPod
from evenkeel.decisions.drain.nodes import Nodes
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.refusal import kept_past_deadline
from evenkeel.model import names
from evenkeel.model.annotations import GRACE_PERIOD
from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.ordinal import ordinal_of
from evenkeel.model.pod import Pod, available_since, next_available_at
from evenkeel.model.pool import Pool
from evenkeel.model.quota_note import QuotaNote
from evenkeel.model.release import Release
from evenkeel.model.times import earliest, span
from evenkeel.model.way import Way

ON_ITS_WAY = timedelta(minutes=5)
"""A pod younger than this that is not available yet is taken to be about to be."""

KNOWN_AFTER = timedelta(seconds=2)
"""So long pods have to be refused, or wait at their gates, for that to be believed."""

LONGEST_TO_MAKE = timedelta(seconds=60)
"""A ReplicaSet controller at its default rate makes the pods of a whole window in 20 s."""


class Census(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What deciders go by: how many pods there are, which of them move, and what was promised.

    Five sections: its pods and how many there are; the released ones; those that move; those whose
    nodes die; and whether a quota has them go in turns.

    - ``owner`` has no controller once that is known to be gone.
    - ``pods``: the active pods of the controller; terminating and finished ones never count.
    - ``nodes``: what is known of the nodes that they are on.
    - ``most_seen``: the most of them that were seen at a time, where the controller's kind does not
      say how many it asks for.
    - ``moving``: pods that have to move and are not released yet, each with its way.
    - ``budgets`` select its pods.
    - ``going``: its pods that are being deleted and not gone, where a quota refuses others.
    - ``siblings``: the pods that the other ReplicaSets of its Deployment own; None: no rollout
      goes on, or they were not read.
    - ``stops_in``: the longest that one of its pods was seen to take to stop; None: none was seen.
    - ``told_first``: when the first of its pods that are not gone was told to go; None: none was.
    - ``seats``: those of its pods, each by its pod's uid; one of them is of no use any more at
      ``seats_change_at``. So many ``new_seats`` may be made.
    - ``settle``: how long a replacement has to have been Ready before its pod goes.
    - ``minimum_available``: the highest count so far of pods to keep available.
    """

    now: datetime
    owner: Owner
    pods: Sequence[Pod] = ()
    nodes: Nodes = Nodes()
    most_seen: int = 0
    moving: Sequence[MovingPod] = ()
    budgets: Sequence[PodDisruptionBudget] = ()
    going: Sequence[Pod] = ()
    siblings: Sequence[Pod] | None = None
    seats: Mapping[str, Pod] = {}
    seats_change_at: datetime | None = None
    new_seats: int = 0
    settle: timedelta = timedelta()
    minimum_available: int = 0
    stops_in: timedelta | None = None
    told_first: datetime | None = None

    # Its pods, and how many there are.

    @cached_property
    def count(self) -> Count:
        """Its pods as numbers."""
        controller, replica_set = self.owner.controller, self.owner.replica_set
        asked = controller.replicas if controller is not None else None
        asked = max(len(self.pods), self.most_seen) if asked is None else asked
        is_gone = self.owner.hands_over and (replica_set is None or replica_set.leaving)
        to_keep = 0 if is_gone else asked
        available, owned = len(self._available), len(self.owned) - len(self.unavailable_owned)
        released = sum(self.is_available(item.pod) for item in self.released)
        excess = max(0, len(self.owned) - asked)
        promises = (item.release.wanted for item in self.released)
        promised = max((self.minimum_available, *promises))
        wanted = min(to_keep, promised) if self.released else to_keep
        spare = self._spare_in_rollout(min(owned, to_keep) + released)
        surplus = owned - excess + released - wanted
        return Count(
            spec_replicas=asked,
            replicas_to_keep=to_keep,
            available=available,
            excess=excess,
            missing=max(0, asked - available + excess),
            promised=promised,
            next_promise=min(to_keep, max(promised, owned + released + len(self.on_their_way))),
            wanted=wanted,
            spare_in_rollout=spare,
            surplus=surplus if spare is None else min(surplus, spare),
        )

    def _spare_in_rollout(self, there: int) -> int | None:
        """How many released pods the Deployment can spare in a rollout; None if none goes on.

        ``there``: so many are available here. Its controller does not count released ones. It takes
        a released pod's replacement for an old pod that ails, and takes the ReplicaSet's size back
        by it: the ReplicaSet then has one pod too many, which the Deployment still needs.
        """
        deployment, siblings = self.owner.deployment, self.siblings
        if deployment is None or siblings is None:
            return None
        available = self._available_of(siblings, deployment.spec.min_ready_seconds)
        return there + sum(1 for _ in available) - kept_in_rollout(deployment)

    @cached_property
    def owned(self) -> Sequence[Pod]:
        """The pods that have a controller."""
        return [pod for pod in self.pods if pod.controller is not None]

    def is_available(self, pod: Pod) -> bool:
        """Whether one of these pods counts as available to its controller."""
        return pod.uid in self._available

    @cached_property
    def _available(self) -> frozenset[str]:
        return frozenset(self._available_of(self.pods, self.owner.min_ready_seconds))

    def _available_of(self, pods: Iterable[Pod], min_ready_seconds: int) -> Iterator[str]:
        """The uids of those that are available, and did not go with their node."""
        for pod in pods:
            if pod.available(self.now, min_ready_seconds) and not self.nodes.is_lost(pod):
                yield pod.uid

    @cached_property
    def unavailable_owned(self) -> Sequence[Pod]:
        """Owned pods that are not available."""
        return [pod for pod in self.owned if not self.is_available(pod)]

    @cached_property
    def on_their_way(self) -> Sequence[Pod]:
        """Owned pods that are young enough to be about to be available."""
        return [pod for pod in self.unavailable_owned if self._is_on_its_way(pod)]

    def _is_on_its_way(self, pod: Pod, longest: timedelta = ON_ITS_WAY) -> bool:
        created = pod.metadata.creation_timestamp
        young = created is not None and self.now - created < longest
        return young and not self.nodes.is_lost(pod)

    @property
    def available_since(self) -> Sequence[datetime]:
        """When each available pod became so, in order."""
        there = (pod for pod in self.pods if self.is_available(pod))
        return available_since(there, self.owner.min_ready_seconds)

    @property
    def last_available_at(self) -> datetime | None:
        """When the last of the available owned pods became available; None if none is."""
        since = (pod.ready_since for pod in self.owned if self.is_available(pod))
        last = max((time for time in since if time is not None), default=None)
        return None if last is None else last + span(self.owner.min_ready_seconds)

    @cached_property
    def next_available_at(self) -> datetime | None:
        """When the next ready pod becomes available by time alone (minReadySeconds)."""
        return next_available_at(self.pods, self.owner.min_ready_seconds, self.now)

    @property
    def count_changes_at(self) -> datetime | None:
        """When it may count otherwise by time alone.

        A pod becomes available, a replacement takes too long to be made, or a pod to start.
        """
        deployment = self.owner.deployment
        pending = self._being_replaced if self.pending_replacements else ()
        made = (pod.metadata.creation_timestamp for pod in self.on_their_way)
        next_sibling = None
        if self.siblings is not None and deployment is not None:
            min_ready = deployment.spec.min_ready_seconds
            next_sibling = next_available_at(self.siblings, min_ready, self.now)
        return earliest(
            self.next_available_at,
            next_sibling,
            *(each.since + LONGEST_TO_MAKE for each in pending),
            *(at + ON_ITS_WAY for at in made if at is not None),
        )

    @property
    def lacks_place(self) -> str:
        """Why none of the owned pods that are missing has a node; empty if one has.

        The scheduler may not have looked for a node for all of them yet.
        """
        return next((pod.status.lacks_node for pod in self._without_node), "")

    def lacks_place_beside(self, pod: Pod) -> str:
        """Why none of them has a node while a pod is there that one replaces; empty if not so.

        They wait at their scheduling gates for more than a moment; or the pod's rules, which are
        theirs, keep them out of a whole zone that it is in, where no new node helps.
        """
        waiting = (
            each
            for each in self._without_node
            if not each.status.gated or self.now >= self._gate_known_at(each)
        )
        wide = (each for each in waiting if each.status.gated or pod.spec.is_kept_apart)
        return next((each.status.lacks_node for each in wide), "")

    @property
    def gates_known_at(self) -> datetime | None:
        """When the next pod has waited at its scheduling gates for more than a moment."""
        gated = (pod for pod in self._without_node if pod.status.gated)
        return earliest(*(at for pod in gated if self.now < (at := self._gate_known_at(pod))))

    def _gate_known_at(self, pod: Pod) -> datetime:
        return (pod.metadata.creation_timestamp or self.now) + KNOWN_AFTER

    @cached_property
    def _without_node(self) -> Sequence[Pod]:
        """The missing owned pods of which it is known why they have no node; none if one has."""
        missing = self.unavailable_owned
        if any(pod.spec.node_name for pod in missing):
            return []
        return [pod for pod in missing if pod.status.lacks_node]

    def takes_seat(self, pod: Pod) -> bool:
        """Whether a pod without a node is about to get one: the room that its seat has kept."""
        made = pod.metadata.creation_timestamp
        is_new = bool(self.seats) and made is not None and self.now - made < A_FEW_SECONDS
        return is_new or names.SEAT in pod.metadata.annotations

    @cached_property
    def off_doomed(self) -> Sequence[Pod]:
        """Owned pods that already have a place off doomed nodes."""
        nodes = self.nodes
        return [
            pod
            for pod in self.owned
            if pod.spec.node_name and not nodes.is_doomed(pod) and not nodes.is_lost(pod)
        ]

    @cached_property
    def ready_off_doomed(self) -> int:
        """Owned pods that are ready off doomed nodes: these serve on once the nodes are gone."""
        return sum(pod.ready for pod in self.off_doomed)

    @cached_property
    def coming(self) -> Sequence[Pod]:
        """Owned pods that have a place off doomed nodes, and are about to be available there.

        They do not fail to start, and are younger than their owner waits for one.
        """
        return [
            pod
            for pod in self.off_doomed
            if not self.is_available(pod)
            and not pod.status.start_failure
            and self._is_on_its_way(pod, max(ON_ITS_WAY, self.owner.patience(pod)))
        ]

    @property
    def crashing(self) -> Sequence[Pod]:
        """Owned pods off doomed nodes of which a container crashes again and again."""
        return [pod for pod in self.off_doomed if pod.status.crashes]

    @property
    def crashed_beside(self) -> Sequence[Pod]:
        """Those of them that were made before one of its pods was told to go.

        What they crash for may be over with that one, such as a lock that it holds. The API server
        gives pods their times in whole seconds.
        """
        if self.told_first is None:
            return []
        since = self.told_first.replace(microsecond=0)
        made = ((pod, pod.metadata.creation_timestamp) for pod in self.crashing)
        return [pod for pod, at in made if at is not None and at < since]

    @cached_property
    def starting_off_doomed(self) -> int:
        """How many of those that come are not ready yet."""
        return sum(not pod.ready for pod in self.coming)

    # The released ones.

    @cached_property
    def released(self) -> Sequence[ReleasedPod]:
        """The pods released from a ReplicaSet, but for ``unreadable`` ones."""
        found = []
        for pod, release in self._bearing:
            if release is not None:
                notice = self.nodes.dooms.get(pod.spec.node_name)
                waits = release.is_asked and self._is_one_placed
                longer = self.owner.patience(pod) if waits else timedelta()
                deadline = released_deadline(release, notice, longer)
                found.append(ReleasedPod(pod, release, deadline))
        return found

    @cached_property
    def _is_one_placed(self) -> bool:
        """Whether a pod that does not fail has its node since an eviction was asked for first.

        Then all such releases last longer, and the order in which their pods go stays the same.
        """
        asked = (each.since for _, each in self._bearing if each is not None and each.is_asked)
        first = min(asked).replace(microsecond=0)
        placed = (pod for pod in self.off_doomed if not pod.status.start_failure)
        made = (pod.metadata.creation_timestamp for pod in placed)
        return any(time is not None and time >= first for time in made)

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
    def order_of_going(self) -> Sequence[ReleasedPod]:
        """The released pods in the order in which they go.

        Not available ones first, then by deadline, time of release and uid. It depends on the
        objects alone, so that any two invocations agree; and a pod that is released later comes
        later, so that they also agree when one of them has not seen the latest release.
        """

        def rank(item: ReleasedPod) -> tuple[bool, datetime, datetime, str]:
            is_available = self.is_available(item.pod)
            return is_available, item.deadline.at, item.release.since, item.pod.uid

        return sorted(self.released, key=rank)

    @cached_property
    def replaced(self) -> frozenset[str]:
        """The uids of the released pods that can be spared: as many as are surplus, in order."""
        return frozenset(uid for uid, lacks in self.lacks.items() if lacks <= 0)

    @cached_property
    def lacks(self) -> Mapping[str, int]:
        """For each released pod, by uid: how many more pods have to be available for it to go.

        None, if it can: then it is no more than zero.
        """
        surplus = self.count.surplus
        return {item.pod.uid: place - surplus for place, item in enumerate(self.order_of_going, 1)}

    def settles_at(self, item: ReleasedPod) -> datetime | None:
        """Until when a replaced pod stays for the one in its place to be known; None: it may go.

        No longer than its time allows.
        """
        late = len(self._settling) + self.lacks[item.pod.uid]
        end = (item.evict_by if item.deadline.forced else item.deadline.at) - A_FEW_SECONDS
        if late <= 0 or self.now >= end:
            return None
        return min(end, self._settling[late - 1])

    @cached_property
    def _settling(self) -> Sequence[datetime]:
        """When those of the available owned pods that were Ready too lately will have settled.

        By their kubelets' clocks, as far as these are about right.
        """
        since = (pod.ready_since for pod in self.owned if self.is_available(pod))
        sound = (at for at in since if at is not None and at <= self.now + A_FEW_SECONDS)
        ends = (at + self.settle for at in sound)
        return sorted(at for at in ends if self.settle and self.now < at)

    @cached_property
    def pending_replacements(self) -> int:
        """Releases whose replacement pod the ReplicaSet controller has not made yet.

        Zero while it cannot make any: a quota or a deletion must not hold up the others. Nor
        must a forged label: only releases that Evenkeel may have made count, and not for ever.
        """
        missing = self.count.replicas_to_keep - len(self.owned)
        return min(len(self._being_replaced), max(0, missing))

    @cached_property
    def _being_replaced(self) -> Sequence[Release]:
        """The releases whose pods the ReplicaSet may still be about to replace.

        Evenkeel releases from doomed nodes, and where the template hash holds the pods together.
        """
        replica_set = self.owner.replica_set
        if replica_set is None or replica_set.leaving or replica_set.cannot_create is not None:
            return ()
        own = replica_set.template_hash
        return [
            item.release
            for item in self.released
            if item.pod.metadata.labels[names.RELEASED_FROM] == own
            and self.nodes.is_doomed(item.pod)
            and self.now - item.release.since < LONGEST_TO_MAKE
        ]

    def is_placed(self, item: ReleasedPod) -> bool:
        """Whether a released pod's replacement has a node where it has to be, Ready or not."""
        return self._are_enough(self._owned_in, item)

    def is_reached(self, item: ReleasedPod) -> bool:
        """Whether a released pod's replacement is available where it has to be."""
        return self._are_enough(self._available_in, item)

    def is_missed(self, item: ReleasedPod) -> bool:
        """Whether a released pod's replacement has a node, and not where it has to be.

        All replicas have a node whose pool is known, and none came to those on the target.
        """
        owned = len(self.owned)
        if item.target is None or owned < self.count.replicas_to_keep:
            return False
        return self._owned_in.total() >= owned and not self.is_placed(item)

    def _are_enough(self, pods: Mapping[Pool | None, int], item: ReleasedPod) -> bool:
        """Whether a released pod's replacement is among these where it has to be, if anywhere."""
        if item.target is None:
            return True
        there = sum(number for pool, number in pods.items() if item.release.takes(pool))
        return there >= self._needed_there[item.pod.uid]

    @cached_property
    def _owned_in(self) -> Counter[Pool | None]:
        """How many owned pods are in a pool, or on on-demand nodes, as far as that is known."""
        return self._in_pools(self.owned)

    @cached_property
    def _available_in(self) -> Counter[Pool | None]:
        """As ``_owned_in``, of those that are available."""
        return self._in_pools(filter(self.is_available, self.owned))

    def _in_pools(self, pods: Iterable[Pod]) -> Counter[Pool | None]:
        nodes, pools = (pod.spec.node_name for pod in pods), self.nodes.pools
        return Counter(pools[node] for node in nodes if node in pools)

    @cached_property
    def _needed_there(self) -> Mapping[str, int]:
        """For each released pod with a target, by uid: how many owned pods must run there.

        Of several pods with one target the second needs one more there than the first, and so on.
        """
        moves = defaultdict[object, list[ReleasedPod]](list)
        in_order = sorted(self.released, key=lambda each: (each.release.since, each.pod.uid))
        for each in in_order:
            moves[each.target, each.release.avoid].append(each)
        found: dict[str, int] = {}
        for going in moves.values():
            there = min(each.release.there for each in going)
            found |= {each.pod.uid: there + place for place, each in enumerate(going, 1)}
        return found

    # Those that move.

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
        return (*self.released, *self.moving)

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

    # Those whose nodes die: who goes next, by when, and who stands last.

    @cached_property
    def minimum(self) -> int:
        """How many pods have to serve: as many as a budget demands, else a majority.

        One at least, unless none is to be kept.
        """
        size = self.count.replicas_to_keep
        demanded = (each.status.desired_healthy for each in self.budgets)
        return min(size, max(1, max(demanded, default=size // 2 + 1)))

    @cached_property
    def line(self) -> Sequence[ReleasedPod | MovingPod]:
        """The pods on dying nodes that go whether another runs or not, first to go first.

        Those whose replacement is available are not among them. Released pods go before owned ones,
        because pods that start replace released ones.
        """
        released = (item for item in self.dying_released if item.pod.uid not in self.replaced)
        dying = (
            mover
            for mover in self.moving
            if mover.deadline.forced
            and mover.route.way is not Way.STAY
            and mover.pod.uid not in self.kept
        )
        line: list[ReleasedPod | MovingPod] = [*released, *dying]
        return sorted(line, key=self.turn_of)

    def turn_of(self, each: ReleasedPod | MovingPod) -> tuple[bool, datetime, bool, int]:
        """By what pods that go one after the other are in order, the first to go first.

        Those whose nodes die go before those under a hint, then those with the earliest last
        moment; then those in whose zone another node is, because that may take the next pod; then
        high ordinals.
        """
        is_alone, ordinal = self.nodes.is_alone(each.pod), ordinal_of(each.pod) or 0
        return not each.deadline.forced, each.evict_by, is_alone, -ordinal

    @cached_property
    def dying_released(self) -> Sequence[ReleasedPod]:
        """The released pods on nodes that die and are not lost, but for those that stay."""
        return [
            item
            for item in self.order_of_going
            if item.deadline.forced
            and item.pod.uid not in self.kept
            and not self.nodes.is_lost(item.pod)
        ]

    @cached_property
    def _last(self) -> Mapping[str, datetime]:
        """The pods that stand last, because fewer than the minimum serve without them: until when.

        A pod stands on if another one replaces it, and it is known that it can spare some of its
        grace period: its workload's pods were seen to stop, or it is handed over and its
        replacement starts already.
        """
        found = dict[str, datetime]()
        for each in reversed(self.line):
            if len(found) >= self._needed:
                break
            starts = each.is_handed_over and len(found) < self.starting_off_doomed
            is_known = self.stops_in is not None or starts
            if is_known and each.pod.ready and each.is_replaced and not self._asks_for_all(each):
                found[each.pod.uid] = each.deadline.latest(each.pod, self.stops_in)
        return found

    @property
    def _needed(self) -> int:
        """So many of those in line are needed for the minimum to serve."""
        return self.minimum - self.ready_off_doomed

    def _asks_for_all(self, each: ReleasedPod | MovingPod) -> bool:
        return self.owner.says(GRACE_PERIOD, each.pod) is not None

    @cached_property
    def _ahead(self) -> str:
        """The uid of the pod that goes a little ahead, to show how long the others take to stop.

        Empty where that is known, or one is gone already, or no pod can be spared, or none would
        stand longer for it.
        """
        first = next(iter(self.line), None)
        if first is None or self.stops_in is not None or self.count.missing:
            return ""
        if not first.is_handed_over or self._asks_for_all(first):
            return ""
        return first.pod.uid if 0 < self._needed < len(self.line) else ""

    def evict_by(self, each: ReleasedPod | MovingPod) -> datetime:
        """When the eviction of a pod on a dying node is sent at the latest."""
        if each.pod.uid == self._ahead:
            return each.evict_by - A_FEW_SECONDS
        return self._last.get(each.pod.uid, each.evict_by)

    def stays_until(self, each: ReleasedPod | MovingPod) -> datetime:
        """How long a pod stays at most."""
        return self.evict_by(each) if each.deadline.forced else each.deadline.at

    # Whether they go in turns, because a quota refuses a second pod (see ``quota_turns``).

    @property
    def last_quota_note(self) -> QuotaNote | None:
        """The ReplicaSet's last note of that."""
        replica_set = self.owner.replica_set
        return replica_set.quota_note if replica_set is not None else None

    @cached_property
    def quota_note(self) -> QuotaNote | None:
        """The ReplicaSet's note, while it says that pods go in turns."""
        note = self.last_quota_note
        return None if note is None or note.until is None or note.is_over(self.now) else note

    @cached_property
    def in_turns(self) -> QuotaNote | None:
        """The same; None in a rollout, and where the quota has room: pods are handed over."""
        in_rollout = self.owner.deployment_in_rollout is not None
        return None if in_rollout or self.quota_has_room else self.quota_note

    @cached_property
    def quota_has_room(self) -> bool:
        """Whether more pods are there than when turns began: the quota has let one more be made.

        A terminating pod still counts in the quota. One past its grace period is not counted here,
        because the quota may have dropped it already: it does so where a dead node holds the pod.
        A finished pod is not among those that are going, and no quota counts it.
        """
        note = self.quota_note
        leaving = (pod.ends_at is None or self.now < pod.ends_at for pod in self.going)
        return note is not None and self.staying + sum(leaving) > note.pods

    @property
    def staying(self) -> int:
        """How many pods are there and stay for now: owned ones, and released ones."""
        return len(self.owned) + len(self.released)
