"""Moving one pod of a Deployment: which pod, and the writes that tell webhook and reconciler."""

from collections.abc import Sequence

import msgspec

from evenkeel.decisions.drain import budgets, writes
from evenkeel.decisions.drain.census import Census
from evenkeel.decisions.drain.route import Way, route
from evenkeel.decisions.drain.surroundings import Owner
from evenkeel.decisions.restore import memory
from evenkeel.decisions.restore.room import Rooms, Wish
from evenkeel.decisions.restore.snapshot import Case, Snapshot
from evenkeel.decisions.restore.step import Outcome, Step, about, leave
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.move import Move, new_move
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.release import Release, ReleaseReason
from evenkeel.model.request import Create, Operation, Patch, Write, as_read
from evenkeel.model.surroundings import Lease
from evenkeel.model.workload import Deployment, ReplicaSet


def move(
    case: Case, replica_set: ReplicaSet, target: Capacity, snapshot: Snapshot, rooms: Rooms
) -> Outcome:
    """Release one pod, so that its replacement comes to ``target``; or say why not.

    - no pod may be handed over (its owner forbids it, or two at once are impossible);
    - its ReplicaSet cannot make pods, or a budget has no room;
    - to spot only if as many as the floor are Ready on on-demand nodes without it, and a spot node
      has room. To on-demand also where no node has room: one may be made, and a move whose
      replacement finds no place is rolled back.
    """
    deployment = case.workload if isinstance(case.workload, Deployment) else None
    owner = Owner(kind="ReplicaSet", controller=replica_set, deployment=deployment)
    pod, refused = _who(case, owner, target, snapshot)
    if pod is None:
        return refused
    wish = Wish(requests=pod.requests, rules=replica_set.spec.template.spec)
    held = held_back(case, replica_set, pod) or floor_held_without(case, pod, target)
    if held is not None:
        return held
    if not rooms.take(wish, target) and target is Capacity.SPOT:
        return leave(case, Reason.NO_ROOM_ON_SPOT, "no spot node has room for one of its pods")
    return _step(case, owner, replica_set, pod, target, snapshot)


def _who(
    case: Case, owner: Owner, target: Capacity, snapshot: Snapshot
) -> tuple[Pod | None, Decision]:
    """The pod to move, or the decision why there is none.

    Of those on the other capacity type first one that does not ask to be there, then the youngest.
    """
    fleet = snapshot.fleet
    found = [pod for pod in case.owned if fleet.capacity(pod) is target.other]
    refused = leave(case, Reason.NOBODY_TO_MOVE, f"none of its pods is on {target.other}")
    for pod in sorted(found, key=lambda pod: _rank(pod, target.other)):
        way = route(pod, owner, case.surroundings, hint=True, now=snapshot.now)
        if way.way is Way.HANDOVER:
            return pod, refused
        refused = leave(case, way.reason, way.message, until=way.until)
    return None, refused


def _rank(pod: Pod, here: Capacity) -> tuple[bool, float, str]:
    asks_for_it = pod.metadata.labels.get(names.CAPACITY) == here
    created = pod.metadata.creation_timestamp
    return asks_for_it, -created.timestamp() if created is not None else 0.0, pod.uid


def held_back(case: Case, replica_set: ReplicaSet, pod: Pod) -> Decision | None:
    """Why a pod cannot be replaced, or must not go now."""
    failure = replica_set.cannot_create
    if failure is not None:
        return leave(case, Reason.CANNOT_BE_REPLACED, failure.message)
    budget = budgets.hold_now(case.surroundings.budgets_of(pod))
    if budget is None:
        return None
    return leave(case, Reason.BUDGET_HOLDS, f"{budget.reference} leaves no room")


def floor_held_without(case: Case, pod: Pod, target: Capacity) -> Decision | None:
    """Why a pod may not leave on-demand nodes: the floor would not be Ready there without it."""
    standing = case.standing
    if target is Capacity.ON_DEMAND or standing.survivors - pod.ready >= standing.wanted:
        return None
    message = f"its floor of {standing.wanted} is not Ready on on-demand nodes without {pod.name}"
    return leave(case, Reason.FLOOR_NOT_READY, message, verb=Verb.WAIT)


def _step(
    case: Case,
    owner: Owner,
    replica_set: ReplicaSet,
    pod: Pod,
    target: Capacity,
    snapshot: Snapshot,
) -> Step:
    now = snapshot.now
    until = now + snapshot.terms.patience
    release = release_from(case, owner, replica_set, target, snapshot)
    lease = new_move(replica_set.reference, pod.reference, target, now, until)
    return Step(
        workload=case.workload.key,
        decision=about(
            case,
            Verb.RELEASE,
            reason_of(target),
            f"{why(case, target)}; {release.wanted} are to stay available",
            pod=pod,
            write=released(pod, release),
            until=until,
        ),
        before=[tell(lease, case.moves.get(replica_set.uid))],
        after=[memory.note(case, pod.name, target, now)],
        moves=1,
    )


def release_from(
    case: Case, owner: Owner, replica_set: ReplicaSet, target: Capacity, snapshot: Snapshot
) -> Release:
    """What the reconciler has to know of any pod of a workload that moves now."""
    now = snapshot.now
    census = Census(now=now, owner=owner, pods=case.owned)
    return Release(
        reason=ReleaseReason.RESTORE,
        deadline=now + snapshot.terms.patience,
        since=now,
        wanted=census.worth_keeping,
        controller=replica_set.name,
        controller_uid=replica_set.uid,
        target=target,
        there=sum(snapshot.fleet.capacity(each) is target for each in case.owned),
    )


def released(pod: Pod, release: Release) -> Patch:
    """Release a pod, which keeps what it said to Karpenter."""
    kept = pod.metadata.annotations.get(names.DO_NOT_DISRUPT)
    return writes.release_patch(pod, msgspec.structs.replace(release, do_not_disrupt=kept))


def reason_of(target: Capacity) -> Reason:
    """The reason of a move."""
    return Reason.FLOOR_MISSING if target is Capacity.ON_DEMAND else Reason.ABOVE_FLOOR


def why(case: Case, target: Capacity) -> str:
    """The reason of a move for people."""
    standing = case.standing
    counts = f"{standing.on_demand} on on-demand, its floor is {standing.wanted}"
    return f"to {target}: {counts} of {standing.replicas}"


def tell(lease: Lease, before: Move | None) -> Write:
    """Tell the webhook of a move; of two runs that do it at once one is refused."""
    if before is None:
        return Create(lease)
    there = before.lease
    operations: Sequence[Operation] = (
        *as_read(there),
        Operation("add", "/metadata/annotations", lease.metadata.annotations),
        Operation("add", "/spec", msgspec.to_builtins(lease.spec)),
    )
    return Patch(kind=Lease, name=there.name, namespace=there.namespace, body=operations)
