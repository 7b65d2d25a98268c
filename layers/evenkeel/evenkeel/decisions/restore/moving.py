"""The moves of a workload: which pods go, why none may, and the writes.

A Deployment's pod is released, and so are all pods of a gang at once; an ordinal is evicted, and
the webhook places its next pod.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from operator import itemgetter
from typing import Final

import msgspec

from evenkeel.decisions.drain import budgets, writes
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.returning import MOVE
from evenkeel.decisions.drain.route import route_of
from evenkeel.decisions.placement.clauses import narrowed, not_in, only_spot
from evenkeel.decisions.placement.own_rules import rules_of
from evenkeel.decisions.placement.rules import allowed_by
from evenkeel.decisions.restore.own_wishes import OwnWishes, told
from evenkeel.decisions.restore.snapshot import Candidate, Snapshot
from evenkeel.decisions.restore.step import RestoreStep, StepOrDecision
from evenkeel.decisions.room.rooms import Rooms
from evenkeel.decisions.room.rules import NodeRequest
from evenkeel.model import names
from evenkeel.model.affinity import NewPodSpec, NodeSelector, NodeSelectorTerm
from evenkeel.model.capacity import Capacity
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.controllers.stateful_set import StatefulSet
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.deployment import Deployment
from evenkeel.model.gang import GroupName
from evenkeel.model.meta import Reference
from evenkeel.model.move import Domains, Restored, new_move
from evenkeel.model.ordinal import index_of
from evenkeel.model.pod import Pod
from evenkeel.model.pool import Pool
from evenkeel.model.reasons import Reason
from evenkeel.model.release import Release, ReleaseReason
from evenkeel.model.request import Create, Operation, Patch, Write, patch_as_read
from evenkeel.model.way import Way

PLACED_WITHIN: Final = timedelta(minutes=2)
"""An evicted ordinal is made again within this time, its grace period included."""


class Moving(msgspec.Struct, frozen=True, dict=True):
    """A workload of which pods have to go to ``target``, and the room that the plan left so far.

    ``avoid``: the full pools, the fullest first, where a pod of that one goes to another pool.
    """

    candidate: Candidate
    target: Capacity
    snapshot: Snapshot
    rooms: Rooms
    avoid: tuple[Pool, ...] = ()

    @cached_property
    def replica_set(self) -> ReplicaSet:
        """The one that has the pods of a Deployment, which is in no rollout."""
        (found,) = self.candidate.live_sets
        return found

    @cached_property
    def owner(self) -> Owner:
        """The owners of its pods."""
        workload = self.candidate.workload
        if isinstance(workload, StatefulSet):
            return Owner(kind="StatefulSet", controller=workload)
        return Owner(kind="ReplicaSet", controller=self.replica_set, deployment=workload)

    @cached_property
    def pods(self) -> Sequence[Pod]:
        """Its pods that could go, the first to go first.

        Those on the other capacity type, or in the fullest of the pools to avoid. Of a StatefulSet
        those that belong on the target, the highest ordinal first, as in a rolling update. Else
        first one that does not ask to be where it is, then the youngest.
        """
        workload, fleet, here = self.candidate.workload, self.candidate.fleet, self.target.other
        if self.avoid:
            pools, fullest = fleet.pools, self.avoid[0]
            found = [p for p in self.candidate.owned if pools.get(p.spec.node_name) == fullest]
        else:
            capacities = fleet.capacities
            found = [p for p in self.candidate.owned if capacities.get(p.spec.node_name) is here]
        if isinstance(workload, StatefulSet):
            floor, belong = self.candidate.standing.floor.floor, self.target is Capacity.ON_DEMAND
            ordinals = [(index_of(pod, workload), pod) for pod in found]
            off = [(each or 0, pod) for each, pod in ordinals if floor.includes(each) is belong]
            return [pod for _, pod in sorted(off, key=itemgetter(0), reverse=True)]

        def rank(pod: Pod) -> tuple[bool, float, str]:
            asks_for_it = pod.metadata.labels.get(names.CAPACITY) == here
            created = pod.metadata.creation_timestamp
            return asks_for_it, -created.timestamp() if created is not None else 0.0, pod.uid

        return sorted(found, key=rank)

    @property
    def is_allowed(self) -> bool:
        """Whether a pod that could go may go to the target; without any by its template's rules."""
        candidate = self.candidate
        if not self.pods:
            own = candidate.workload.spec.template.spec
            return self.target in allowed_by(own, candidate.fleet.labels)
        return any(self.target in candidate.asks(pod)[1] for pod in self.pods)

    @cached_property
    def wishes(self) -> OwnWishes:
        """What its owner asks of where its pods are."""
        return OwnWishes(
            self.candidate, self.target, self.rooms, self.snapshot.now, bool(self.avoid)
        )

    def request(self, pod: Pod, barred: Domains | None = None) -> NodeRequest:
        """What a pod's replacement asks of its node, besides what placement has it ask.

        ``barred``: the domains that it may not be in, lest something gets worse.
        """
        found = self.candidate.request(pod)
        if not self.avoid and not barred:
            return found
        own = found.rules
        terms = self.terms(own, barred)
        required = NodeSelector(node_selector_terms=terms)
        rules = rules_of(own.node_selector, required, own.tolerations)
        return msgspec.structs.replace(found, rules=rules)

    def terms(self, own: NewPodSpec, barred: Domains | None = None) -> tuple[NodeSelectorTerm, ...]:
        """The terms of the affinity of what is moved, by its own rules."""
        required = own.node_affinity.required
        if not self.avoid:
            return narrowed(required, not_in(barred or {}))
        return only_spot(required, self.snapshot.fleet.labels, self.avoid, barred or {})

    def take_place(
        self, held: Callable[[Pod], Decision | None]
    ) -> tuple[Pod, Domains | None] | Decision:
        """The first pod that may go and has a place where nothing its owner asks for gets worse.

        The place is taken. With it, where the pod that is made may not be: None where there is no
        place, and then it is the first pod that may go. A decision where none may: why the last one
        stays, or why one is ``held`` back, for which no other one is asked; or that there is room,
        but only where something would get worse.
        """
        first, stays, in_vain = None, None, list[NodeRequest]()
        for pod in self.pods:
            barred = self.wishes.barred(pod)
            request = self.request(pod, barred)
            if request in in_vain:
                continue
            if (found := self.stays(pod)) is not None:
                stays = found
                continue
            if (why := held(pod) or self.floor_needs(pod)) is not None:
                return why
            if self.rooms.take(request, self.target):
                return pod, barred
            if first is None and not self.rooms.has(self.request(pod), self.target):
                return pod, None
            first = first or pod
            in_vain.append(request)
        if first is not None:
            bars = told(self.wishes.barred(first))
            message = f"its pods would be less even, or where they are liked less: not in {bars}"
            return self.candidate.leave(Reason.LESS_EVEN, f"{self.target} has room, but {message}")
        message = f"none of its pods that may go is on {self.target.other}"
        return stays or self.candidate.leave(Reason.NOBODY_TO_MOVE, message)

    def stays(self, pod: Pod) -> Decision | None:
        """Why a pod is not handed over, or an ordinal not moved, to the target; None if it is."""
        candidate, fleet, node = self.candidate, self.candidate.fleet, pod.spec.node_name
        if node in fleet.elsewhere:
            message = f"{pod.name} is on a node that no EC2 instance runs: no notice is about it"
            return candidate.leave(Reason.NOT_ON_EC2, message)
        if self.target not in candidate.asks(pod)[1]:
            return candidate.leave(Reason.OWN_RULES, f"its own rules exclude {self.target}")
        if (against := self.wishes.against(pod)) is not None:
            return against
        owner = self.owner
        found = route_of(pod, owner, candidate.namespace_objects, MOVE, self.snapshot.now)
        if found.way is (Way.BY_ORDINAL if owner.deployment is None else Way.HANDOVER):
            return None
        return candidate.leave(found.reason, found.message, until=found.until)

    def floor_needs(self, pod: Pod) -> Decision | None:
        """Why a pod stays on on-demand nodes: the floor would not be Ready there without it."""
        if self.target is Capacity.ON_DEMAND or self.avoid:
            return None
        fleet, wanted = self.candidate.fleet, self.candidate.standing.wanted
        ready = [each.spec.node_name for each in self.candidate.pods if each.active and each.ready]
        there = sum(fleet.capacities.get(node) is Capacity.ON_DEMAND for node in ready)
        if there - pod.ready >= wanted:
            return None
        where = f"Ready on on-demand nodes without {pod.name}"
        return self.candidate.wait(Reason.FLOOR_NOT_READY, f"its floor of {wanted} is not {where}")

    def held_back(self, pod: Pod) -> Decision | None:
        """Why a pod cannot be replaced, or must not go now."""
        failure = self.replica_set.cannot_create
        if failure is not None:
            return self.candidate.leave(Reason.CANNOT_BE_REPLACED, failure.message)
        budget = budgets.hold_now(self.candidate.namespace_objects.budgets_of(pod))
        if budget is not None:
            message = f"{budget.reference} leaves no room"
            return self.candidate.leave(Reason.BUDGET_HOLDS, message)
        return None

    def release(self, *, without_room: bool = False) -> Release:
        """The release annotation for pods that restore moves."""
        now, owned = self.snapshot.now, self.candidate.owned
        census = Census(now=now, owner=self.owner, pods=owned)
        release = Release(
            reason=ReleaseReason.RESTORE,
            deadline=now + self.snapshot.terms.patience,
            since=now,
            wanted=census.count.next_promise,
            controller=self.replica_set.name,
            controller_uid=self.replica_set.uid,
            target=self.target,
            avoid=self.avoid,
            without_room=without_room,
        )
        pools = self.snapshot.fleet.pools
        nodes = [each.spec.node_name for each in owned if each.spec.node_name in pools]
        there = sum(release.takes(pools[node]) for node in nodes)
        return msgspec.structs.replace(release, there=there)

    def released(self, pod: Pod, release: Release) -> Patch:
        """Release a pod of a Deployment, which keeps what it said to Karpenter."""
        kept = pod.metadata.annotations.get(names.DO_NOT_DISRUPT)
        value = msgspec.structs.replace(release, do_not_disrupt=kept)
        return writes.release_patch(pod, value, self.candidate.workload.as_controller)

    def decide(
        self, verb: Verb, pod: Pod, write: Write, message: str, until: datetime | None = None
    ) -> Decision:
        """Move a pod by this write. ``message`` follows the reason of the move."""
        standing, reason = self.candidate.standing, Reason.ABOVE_FLOOR
        counts = f"{standing.on_demand} on on-demand, its floor is {standing.wanted}"
        why = f"to {self.target}: {counts} of {standing.replicas}"
        if self.target is Capacity.ON_DEMAND:
            reason = Reason.FLOOR_MISSING
        elif self.avoid:
            reason = Reason.POOL_TOO_FULL
            goal = self.candidate.goal
            why = f"to another pool: {self.avoid[0]} is to have {goal} at most"
        said = f"{why}; {message}"
        workload = self.candidate.workload.reference
        return Decision.about(pod, verb, reason, said, workload=workload, write=write, until=until)

    def announce(
        self,
        controller: Reference,
        pod: Pod,
        until: datetime,
        barred: Domains,
        *,
        without_room: bool = False,
    ) -> Write:
        """Tell the webhook of a move; of two runs that do it at once one is refused.

        ``barred``: the domains that the new pod may not be in.
        """
        now = self.snapshot.now
        lease = new_move(
            controller,
            pod.reference,
            self.target,
            now,
            until,
            without_room=without_room,
            avoid=self.avoid,
            barred=barred,
        )
        last = self.candidate.moves.get(controller.uid)
        if last is None:
            return Create(lease)
        return patch_as_read(
            last.lease,
            Operation("add", "/metadata/annotations", lease.metadata.annotations),
            Operation("add", "/spec", msgspec.to_builtins(lease.spec)),
        )

    def note(self, pod: Pod, number: int) -> Patch:
        """Note on the workload that so many of its pods are to move, this one first.

        0: it is no failure of the workload if none does.
        """
        spot = self.candidate.standing.spot
        spot += number if self.target is Capacity.SPOT else -number
        value = Restored(
            at=self.snapshot.now,
            target=self.target,
            pod=pod.name,
            spot=spot,
            most=self.wishes.most,
        )
        return writes.annotate(self.candidate.workload, names.RESTORED, value.encode())


def move(moving: Moving) -> StepOrDecision:
    """Move a pod of a workload, or all pods of a gang; or say why none moves."""
    workload, group = moving.candidate.workload, moving.candidate.group
    if group is not None:
        return _move_gang(moving, group)
    if isinstance(workload, StatefulSet):
        return _move_ordinal(moving, workload)
    return _move_pod(moving)


def _move_pod(moving: Moving) -> StepOrDecision:
    """Release one pod, so that its replacement comes to the target; or say why not.

    - no pod may be handed over (its owner forbids it, or two at once are impossible);
    - its ReplicaSet cannot make pods, or a budget has no room;
    - to spot only if as many as the floor are Ready on on-demand nodes without it. The step says
      so where no spot node has room: one may be asked for;
    - to another pool only if a node there has room;
    - only where nothing that its owner asks for gets worse, see ``own_wishes``: the first pod of
      which that is so goes, and the one made for it may go to no other place.

    No pod goes to spot without room if pods of lower priority are on the nodes that take it: the
    scheduler would preempt them.

    To on-demand also where no node has room: one may be made, and a move whose replacement finds no
    place is rolled back. Where on-demand nodes are there, and none would take it, one is asked for
    once, and no more while that failure counts; on spot none is. Nodes of the floor may be made by
    an autoscaler beside those of a pool that is for others.
    """
    candidate, target, now = moving.candidate, moving.target, moving.snapshot.now
    found = moving.take_place(moving.held_back)
    if isinstance(found, Decision):
        return found
    pod, barred = found
    waits, lacks = "", ""
    if barred is None:
        request = moving.request(pod)
        short = moving.rooms.shortage(request, target)
        if moving.avoid:
            message = f"{moving.avoid[0]} has too many of its pods, and no other pool has room"
            return candidate.leave(Reason.POOL_TOO_FULL, f"{message} for one")
        is_to_spot = target is Capacity.SPOT
        if short.is_refused and (is_to_spot or candidate.failures(target, now)):
            return candidate.leave(Reason.NO_NODE_TAKES_IT, short.of("one of its pods"))
        full = moving.rooms.taking(request.rules, target)
        if is_to_spot and moving.snapshot.preempts(pod, full):
            message = f"{short.of('one of its pods')}, and others would have to go for it"
            return candidate.leave(Reason.NO_ROOM_ON_SPOT, message)
        waits = f"; {short.of('its replacement')}, which waits for one"
        lacks = short.of("one of its pods") if is_to_spot else ""
        # Karpenter makes no node for a pod that names nodes; a new one has none of its pods anyhow.
        bars = moving.wishes.barred(pod).items()
        barred = {key: values for key, values in bars if key != names.HOSTNAME}
    release = moving.release(without_room=bool(lacks))
    announced = moving.announce(
        moving.replica_set.reference, pod, release.deadline, barred, without_room=bool(lacks)
    )
    return RestoreStep(
        decision=moving.decide(
            Verb.RELEASE,
            pod,
            moving.released(pod, release),
            f"{release.wanted} are to stay available{waits}",
            until=release.deadline,
        ),
        before=[announced],
        after=[moving.note(pod, 0 if lacks or moving.avoid else 1)],
        moves=1,
        shortage=lacks,
    )


def _move_gang(moving: Moving, group: GroupName) -> StepOrDecision:
    """Release all its pods that are not on the target, or say why none.

    - it has pods that no Deployment hands over: of a StatefulSet, or of another workload, of which
      this one is a part;
    - one of them may not be handed over, cannot be replaced, or a budget has no room;
    - they do not all find room there now, or are more than a run moves.

    No Lease tells the webhook: its floor, which is all or none, places them where they belong.
    """
    candidate, target, most = moving.candidate, moving.target, moving.snapshot.terms.moves
    called = f"the {group.kind.resource.kind} {group.name}"
    owned = len(candidate.owned)
    elsewhere = moving.snapshot.members.get(group, owned) - owned
    if not isinstance(candidate.workload, Deployment) or elsewhere > 0:
        message = f"its pods are of {called}, which a Deployment alone does not make: none moves"
        return candidate.leave(Reason.GANG, message)
    first, *others = pods = sorted(moving.pods, key=lambda pod: pod.uid)  # they are alike
    for pod in pods:
        stays = moving.stays(pod)
        if stays is not None:
            return stays
    held = moving.held_back(first)
    if held is not None:
        return held
    if len(pods) > most:
        message = f"{len(pods)} pods of {called} move at once or none, and a run moves {most}"
        return candidate.leave(Reason.GANG_TOO_LARGE, message)
    request = moving.request(first)
    if not moving.rooms.take(request, target, len(pods)):
        short = moving.rooms.shortage(request, target)
        if short.is_refused:
            return candidate.leave(Reason.NO_NODE_TAKES_IT, short.of(f"a pod of {called}"))
        message = f"{target} has no room for all {len(pods)} pods of {called}: none moves"
        return candidate.leave(Reason.NO_ROOM_FOR_GANG, message)
    release = moving.release()
    message = f"with all {len(pods)} pods of {called} that are elsewhere"
    return RestoreStep(
        decision=moving.decide(
            Verb.RELEASE, first, moving.released(first, release), message, until=release.deadline
        ),
        after=[
            *(moving.released(pod, release) for pod in others),
            moving.note(first, len(pods)),
        ],
        moves=len(pods),
    )


def _move_ordinal(moving: Moving, stateful_set: StatefulSet) -> StepOrDecision:
    """Evict one ordinal that is not where it should be; or say why not.

    Nothing runs in its place meanwhile, so all of these have to hold:

    - it would come back with the same template: under OnDelete its owner updates by deleting;
    - all pods are Ready, and its budget allows one less now;
    - a node of the other capacity type has room, and can mount its volumes;
    - away from on-demand only while the floor is Ready there without it.

    To spot the webhook is told, because a preference may not bring it there. On-demand is required
    of an ordinal of the floor anyhow. One that finds no place on spot is deleted by the next run
    (see ``relaxed_floor``); the pod made then only prefers it.
    """
    candidate, target = moving.candidate, moving.target
    if not moving.pods:
        message = f"no ordinal that belongs on {target} is elsewhere"
        return candidate.leave(Reason.NOBODY_TO_MOVE, message)
    found = moving.take_place(lambda pod: _ordinal_held(moving, stateful_set, pod))
    if isinstance(found, Decision):
        return found
    pod, barred = found
    if barred is None:
        request = moving.request(pod)
        short = moving.rooms.shortage(request, target)
        reason = Reason.NO_ROOM_ON_SPOT if target is Capacity.SPOT else Reason.NO_ROOM_ON_DEMAND
        if short.is_refused:
            reason = Reason.NO_NODE_TAKES_IT
        return candidate.leave(reason, short.of(pod.name))
    before: list[Write] = [moving.note(pod, 1)]
    if target is Capacity.SPOT or barred:
        until = moving.snapshot.now + PLACED_WITHIN
        before.append(moving.announce(stateful_set.reference, pod, until, barred))
    message = "nothing runs in its place meanwhile"
    decision = moving.decide(Verb.EVICT, pod, writes.evict(pod), message)
    return RestoreStep(decision=decision, before=before, moves=1)


def _ordinal_held(moving: Moving, stateful_set: StatefulSet, pod: Pod) -> Decision | None:
    candidate, spec = moving.candidate, stateful_set.spec
    newest = stateful_set.status.update_revision
    is_old = pod.metadata.labels.get(names.REVISION_HASH, newest) != newest
    if spec.update_strategy.type == "OnDelete" and is_old:
        message = f"{pod.name} would come back with the new template: its owner says when"
        return candidate.leave(Reason.UPDATE_ON_DELETE, message)
    now, least = moving.snapshot.now, spec.min_ready_seconds
    available = sum(each.available(now, least) for each in candidate.owned)
    if available < spec.replicas:
        message = f"{available} of {spec.replicas} are available"
        return candidate.wait(Reason.NOT_ALL_AVAILABLE, message)
    selecting = candidate.namespace_objects.budgets_of(pod)
    used_up = (each for each in selecting if each.status.disruptions_allowed < 1)
    budget = budgets.hold_now(selecting) or next(used_up, None)
    if budget is not None:
        return candidate.leave(Reason.BUDGET_HOLDS, f"{budget.reference} leaves no room")
    return None
