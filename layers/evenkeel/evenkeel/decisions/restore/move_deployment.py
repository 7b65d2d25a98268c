"""Moving one pod of a Deployment: which pod, and the writes that tell webhook and reconciler."""

from typing import Final

import msgspec

from evenkeel.decisions.drain import budgets, writes
from evenkeel.decisions.drain.counts import Counts
from evenkeel.decisions.drain.owner import Owner
from evenkeel.decisions.drain.releases import Releases
from evenkeel.decisions.restore import cooldown
from evenkeel.decisions.restore.moving import Moving
from evenkeel.decisions.restore.step import Outcome, Step, leave
from evenkeel.model import names
from evenkeel.model.capacity import Capacity
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.deployment import Deployment
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.release import Release, ReleaseReason
from evenkeel.model.request import Patch
from evenkeel.model.way import Way

A_POD: Final = "one of its pods"


def move(moving: Moving, replica_set: ReplicaSet) -> Outcome:
    """Release one pod, so that its replacement comes to the target; or say why not.

    - no pod may be handed over (its owner forbids it, or two at once are impossible);
    - its ReplicaSet cannot make pods, or a budget has no room;
    - to spot only if as many as the floor are Ready on on-demand nodes without it, and a spot node
      has room, or may be asked for;
    - to another pool only if a node there has room.

    To on-demand also where no node has room: one may be made, and a move whose replacement finds no
    place is rolled back. Where on-demand nodes are there, and none would take it, one is asked for
    once, and no more while that failure counts; on spot none is.
    """
    case, target = moving.case, moving.target
    owner = owner_of(moving, replica_set)
    pod = _choose(moving, owner)
    if isinstance(pod, Decision):
        return pod
    held = held_back(moving, replica_set, pod) or moving.floor_needs(pod)
    if held is not None:
        return held
    request = moving.request(pod)
    short = None if moving.rooms.take(request, target) else moving.rooms.shortage(request, target)
    without_room = short is not None and target is Capacity.SPOT
    if without_room and moving.avoid:
        message = f"{moving.avoid[0]} has too many of its pods, and no other pool has room for one"
        return leave(case, Reason.POOL_TOO_FULL, message)
    if short is not None and short.is_refused and not _may_be_asked_for(moving):
        return leave(case, Reason.NO_NODE_TAKES_IT, short.of(A_POD))
    if short is not None and without_room and not moving.may_wait:
        return leave(case, Reason.NO_ROOM_ON_SPOT, short.of(A_POD))
    release = release_of(moving, replica_set, owner, without_room=without_room)
    waits = f"; {short.of('its replacement')}, which waits for one" if short is not None else ""
    decision = moving.decide(
        Verb.RELEASE,
        pod,
        released(moving, pod, release),
        f"{release.wanted} are to stay available{waits}",
        until=release.deadline,
    )
    return Step(
        workload=case.workload.key,
        decision=decision,
        before=[
            moving.announce(replica_set.reference, pod, release.deadline, without_room=without_room)
        ],
        after=[moving.note(pod, 0 if without_room or moving.avoid else 1)],
        moves=1,
        without_room=without_room,
    )


def _may_be_asked_for(moving: Moving) -> bool:
    """Whether a node may be made though none that is there would take the pod: for a floor, once.

    Nodes of the floor may be made by an autoscaler beside those of a pool that is for others.
    """
    failed = cooldown.failures(moving.case, moving.target, moving.snapshot.now)
    return moving.target is Capacity.ON_DEMAND and not failed


def _choose(moving: Moving, owner: Owner) -> Pod | Decision:
    """The pod to move, or the decision why there is none.

    Of those on the other capacity type first one that does not ask to be there, then the youngest.
    """
    here = moving.target.other
    why = leave(moving.case, Reason.NOBODY_TO_MOVE, f"none of its pods is on {here}")
    for pod in sorted(moving.candidates, key=lambda pod: _rank(pod, here)):
        stays = moving.stays(pod, owner, Way.HANDOVER)
        if stays is None:
            return pod
        why = stays
    return why


def _rank(pod: Pod, here: Capacity) -> tuple[bool, float, str]:
    asks_for_it = pod.metadata.labels.get(names.CAPACITY) == here
    created = pod.metadata.creation_timestamp
    return asks_for_it, -created.timestamp() if created is not None else 0.0, pod.uid


def owner_of(moving: Moving, replica_set: ReplicaSet) -> Owner:
    """The owners of the pods of a Deployment."""
    workload = moving.case.workload
    deployment = workload if isinstance(workload, Deployment) else None
    return Owner(kind="ReplicaSet", controller=replica_set, deployment=deployment)


def held_back(moving: Moving, replica_set: ReplicaSet, pod: Pod) -> Decision | None:
    """Why a pod cannot be replaced, or must not go now."""
    failure = replica_set.cannot_create
    if failure is not None:
        return leave(moving.case, Reason.CANNOT_BE_REPLACED, failure.message)
    return moving.held_by(budgets.hold_now(moving.case.namespace_objects.budgets_of(pod)))


def release_of(
    moving: Moving, replica_set: ReplicaSet, owner: Owner, *, without_room: bool = False
) -> Release:
    """The release annotation for pods that restore moves."""
    snapshot, owned = moving.snapshot, moving.case.owned
    now, pools = snapshot.now, snapshot.fleet.pools
    releases = Releases(counts=Counts(now=now, owner=owner, pods=owned))
    release = Release(
        reason=ReleaseReason.RESTORE,
        deadline=now + snapshot.terms.patience,
        since=now,
        wanted=releases.wanted_by_a_new_release,
        controller=replica_set.name,
        controller_uid=replica_set.uid,
        target=moving.target,
        avoid=moving.avoid,
        without_room=without_room,
    )
    nodes = (each.spec.node_name for each in owned)
    there = sum(release.takes(pools[node]) for node in nodes if node in pools)
    return msgspec.structs.replace(release, there=there)


def released(moving: Moving, pod: Pod, release: Release) -> Patch:
    """Release a pod of a Deployment, which keeps what it said to Karpenter."""
    kept = pod.metadata.annotations.get(names.DO_NOT_DISRUPT)
    value = msgspec.structs.replace(release, do_not_disrupt=kept)
    return writes.release_patch(pod, value, moving.case.workload.as_controller)
