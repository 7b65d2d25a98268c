"""Moving a gang: all its pods that are on the other capacity type at once, or none of them."""

from collections.abc import Sequence

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.floor.standing import Workload
from evenkeel.decisions.restore.move_deployment import held_back, owner_of, release_of, released
from evenkeel.decisions.restore.moving import Moving
from evenkeel.decisions.restore.step import Outcome, Step, leave
from evenkeel.model.controllers.replica_set import ReplicaSet
from evenkeel.model.decision import Verb
from evenkeel.model.deployment import Deployment
from evenkeel.model.gang import GroupName, group_of_template, is_gang
from evenkeel.model.reasons import Reason
from evenkeel.model.way import Way


def named_by(workload: Workload, around: NamespaceObjects) -> GroupName | None:
    """The group that the pods of a workload name, if it is a gang."""
    name = group_of_template(workload)
    return name if name is not None and is_gang(around.group(name)) else None


def move(moving: Moving, group: GroupName, replica_sets: Sequence[ReplicaSet]) -> Outcome:
    """Release all its pods that are not on the target, or say why none.

    - it has pods that no Deployment hands over: of a StatefulSet, or of another workload, of which
      this one is a part;
    - one of them may not be handed over, cannot be replaced, or a budget has no room;
    - they do not all find room there now, or are more than a run moves.

    No Lease tells the webhook: its floor, which is all or none, places them where they belong.
    """
    case, target, snapshot = moving.case, moving.target, moving.snapshot
    called = f"the {group.kind.resource.kind} {group.name}"
    owned = len(case.owned)
    elsewhere = snapshot.members.get(group, owned) - owned
    if not isinstance(case.workload, Deployment) or elsewhere > 0:
        message = f"its pods are of {called}, which a Deployment alone does not make: none moves"
        return leave(case, Reason.GANG, message)
    (replica_set,) = replica_sets
    owner = owner_of(moving, replica_set)
    pods = sorted(moving.candidates, key=lambda pod: pod.uid)
    first, *others = pods  # they are alike
    for pod in pods:
        stays = moving.stays(pod, owner, Way.HANDOVER)
        if stays is not None:
            return stays
    held = held_back(moving, replica_set, first)
    if held is not None:
        return held
    if len(pods) > snapshot.terms.moves:
        message = (
            f"{len(pods)} pods of {called} move at once or none, and a run moves"
            f" {snapshot.terms.moves}"
        )
        return leave(case, Reason.GANG_TOO_LARGE, message)
    request = moving.request(first)
    if not moving.rooms.take_all(request, target, len(pods)):
        short = moving.rooms.shortage(request, target)
        if short.is_refused:
            return leave(case, Reason.NO_NODE_TAKES_IT, short.of(f"a pod of {called}"))
        message = f"{target} has no room for all {len(pods)} pods of {called}: none moves"
        return leave(case, Reason.NO_ROOM_FOR_GANG, message)
    release = release_of(moving, replica_set, owner)
    message = f"with all {len(pods)} pods of {called} that are elsewhere"
    return Step(
        workload=case.workload.key,
        decision=moving.decide(
            Verb.RELEASE, first, released(moving, first, release), message, until=release.deadline
        ),
        after=[*(released(moving, pod, release) for pod in others), moving.note(first, len(pods))],
        moves=len(pods),
    )
