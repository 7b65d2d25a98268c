"""Moving a gang: all its pods that are on the other capacity type at once, or none of them."""

from collections.abc import Sequence

from evenkeel.decisions.drain.route import Way, route
from evenkeel.decisions.drain.surroundings import Owner, Surroundings
from evenkeel.decisions.floor.standing import Workload
from evenkeel.decisions.restore import cooldown
from evenkeel.decisions.restore.move_deployment import (
    held_back,
    reason_of,
    release_from,
    released,
    why,
)
from evenkeel.decisions.restore.room import Rooms, Wish
from evenkeel.decisions.restore.snapshot import Case, Snapshot
from evenkeel.decisions.restore.step import Outcome, Step, about, leave
from evenkeel.model.capacity import Capacity
from evenkeel.model.decision import Verb
from evenkeel.model.gang import GroupName, group_of_template, is_gang
from evenkeel.model.reasons import Reason
from evenkeel.model.workload import Deployment, ReplicaSet


def named_by(workload: Workload, surroundings: Surroundings) -> GroupName | None:
    """The group that the pods of a workload name, if it is a gang."""
    name = group_of_template(workload)
    return name if name is not None and is_gang(surroundings.group(name)) else None


def move(
    case: Case,
    group: GroupName,
    replica_sets: Sequence[ReplicaSet],
    target: Capacity,
    snapshot: Snapshot,
    rooms: Rooms,
) -> Outcome:
    """Release all its pods that are not on ``target``, or say why none.

    - it has pods that no Deployment hands over: of a StatefulSet, or of another workload, of which
      this one is a part;
    - one of them may not be handed over, cannot be replaced, or a budget has no room;
    - they do not all find room there now, or are more than a run moves.

    No Lease tells the webhook: its floor, which is all or none, places them where they belong.
    """
    called = f"the {group.kind.resource.kind} {group.name}"
    owned = len(case.owned)
    others = snapshot.members.get(group, owned) - owned
    if not isinstance(case.workload, Deployment) or others > 0:
        message = f"its pods are of {called}, which a Deployment alone does not make: none moves"
        return leave(case, Reason.GANG, message)
    (replica_set,) = replica_sets
    owner = Owner(kind="ReplicaSet", controller=replica_set, deployment=case.workload)
    pods = sorted(
        (pod for pod in case.owned if snapshot.fleet.capacity(pod) is target.other),
        key=lambda pod: pod.uid,
    )
    for pod in pods:
        way = route(pod, owner, case.surroundings, hint=True, now=snapshot.now)
        if way.way is not Way.HANDOVER:
            return leave(case, way.reason, way.message, until=way.until)
    held = held_back(case, replica_set, pods[0])
    if held is not None:
        return held
    if len(pods) > snapshot.terms.moves:
        message = (
            f"{len(pods)} pods of {called} move at once or none, and a run moves"
            f" {snapshot.terms.moves}"
        )
        return leave(case, Reason.GANG_TOO_LARGE, message)
    wish = Wish(requests=pods[0].requests, rules=replica_set.spec.template.spec)
    if not rooms.take_all(wish, target, len(pods)):
        message = f"{target} has no room for all {len(pods)} pods of {called}: none moves"
        return leave(case, Reason.NO_ROOM_FOR_GANG, message)
    release = release_from(case, owner, replica_set, target, snapshot)
    releases = [released(pod, release) for pod in pods]
    decision = about(
        case,
        Verb.RELEASE,
        reason_of(target),
        f"{why(case, target)}; with all {len(pods)} pods of {called} that are elsewhere",
        pod=pods[0],
        write=releases[0],
        until=release.deadline,
    )
    note = cooldown.note(case, pods[0].name, target, snapshot.now, len(pods))
    return Step(
        workload=case.workload.key,
        decision=decision,
        after=[*releases[1:], note],
        moves=len(pods),
    )
