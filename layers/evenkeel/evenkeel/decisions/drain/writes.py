"""The writes that move pods: release, roll back, evict, delete, cool down."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import msgspec

from evenkeel.model import names
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.kinds import RELEASING
from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import KubernetesObject, OwnerReference
from evenkeel.model.node import Taint
from evenkeel.model.notes import read_note
from evenkeel.model.pod import Pod
from evenkeel.model.release import Cooldown, Release, rest_after
from evenkeel.model.request import Delete, Evict, Operation, Patch, as_read, pointer
from evenkeel.model.times import in_words, is_sound

_LABELS = ("metadata", "labels")
_ANNOTATIONS = ("metadata", "annotations")


def release_patch(pod: Pod, release: Release, deployment: OwnerReference) -> Patch:
    """Take a pod out of its ReplicaSet in one write, while Services still select it.

    The hash label changes, so that its ReplicaSet selects the pod no longer, and one watch of both
    values shows the pod before and after. In ownerReferences the ReplicaSet's ``deployment`` takes
    its place. A Deployment is the pod's controller, so that nobody adopts the pod and deletes it as
    its surplus. Of any other kind budgets would expect as many pods again, and it is a mere owner.
    """
    owners = pod.metadata.owner_references
    index = next(i for i, o in enumerate(owners) if o.uid == release.controller_uid)
    controls = deployment.full_kind == Deployment.resource.full_kind
    above = _naming(deployment, controls=controls)
    template_hash = pod.metadata.labels[pod.hash_label]
    hash_path = pointer(*_LABELS, pod.hash_label)
    return _patch(
        pod,
        Operation("test", hash_path, template_hash),
        Operation("test", f"/metadata/ownerReferences/{index}/uid", release.controller_uid),
        Operation("replace", hash_path, names.released_hash(template_hash)),
        Operation("add", pointer(*_LABELS, names.RELEASED_FROM), template_hash),
        Operation("replace", f"/metadata/ownerReferences/{index}", above),
        *_annotations_exist(pod),
        Operation(
            "add", pointer(*_ANNOTATIONS, names.RELEASE), msgspec.json.encode(release).decode()
        ),
        Operation("add", pointer(*_ANNOTATIONS, names.DO_NOT_DISRUPT), "true"),
        *_in_progress(pod),
    )


def release_in(patch: Patch) -> Release | None:
    """The release that a patch writes into a pod's annotations; None if it releases none."""
    where = pointer(*_ANNOTATIONS, names.RELEASE)
    found = (each for each in patch.body if isinstance(each, Operation) and each.path == where)
    texts = (each.value for each in found if isinstance(each.value, str))
    return next((read_note(text, Release) for text in texts), None)


def roll_back_patch(
    pod: Pod,
    release: Release | None,
    notes: Mapping[str, str] | None = None,
    *,
    replica_set: Controller | None = None,
) -> Patch:
    """Give a released pod its hash label and its ReplicaSet back.

    ``release`` None: its annotation cannot be read. Then it gets the ``replica_set`` that is known
    to have had it; without one, that whose selector matches adopts it. What Karpenter's annotation
    was is unknown, so Evenkeel's value is taken off. ``notes``: annotations that it gets instead of
    its release.
    """
    operations: list[Operation] = []
    if (template_hash := pod.metadata.labels.get(names.RELEASED_FROM)) is not None:
        mark = pointer(*_LABELS, names.RELEASED_FROM)
        operations += [
            Operation("test", mark, template_hash),
            Operation("remove", mark),
            Operation("add", pointer(*_LABELS, pod.hash_label), template_hash),
        ]
    operations += _owned_again(pod, _replica_set_of(release, replica_set))
    if names.RELEASE in pod.metadata.annotations:
        added = (
            Operation("add", pointer(*_ANNOTATIONS, key), text)
            for key, text in (notes or {}).items()
        )
        operations += [*added, Operation("remove", pointer(*_ANNOTATIONS, names.RELEASE))]
    before = release.do_not_disrupt if release is not None else None
    disrupt = pointer(*_ANNOTATIONS, names.DO_NOT_DISRUPT)
    if before is not None:
        operations.append(Operation("add", disrupt, before))
    elif names.DO_NOT_DISRUPT in pod.metadata.annotations:
        operations.append(Operation("remove", disrupt))
    if names.EVICTION_IN_PROGRESS in pod.metadata.annotations:
        operations.append(Operation("remove", pointer(*_ANNOTATIONS, names.EVICTION_IN_PROGRESS)))
    return _patch(pod, *operations)


def _replica_set_of(
    release: Release | None, replica_set: Controller | None
) -> OwnerReference | None:
    """The ReplicaSet that a pod was released from, as its controller."""
    if release is None:
        return None if replica_set is None else replica_set.as_controller
    return OwnerReference(
        api_version=RELEASING.resource.api_version,
        kind=RELEASING.resource.kind,
        name=release.controller,
        uid=release.controller_uid,
    )


def _owned_again(pod: Pod, replica_set: OwnerReference | None) -> Sequence[Operation]:
    """Put the ReplicaSet in the place of the Deployment, or of nothing: older releases had none.

    A pod that another controller has adopted stays that one's.
    """
    owners, path = pod.metadata.owner_references, "/metadata/ownerReferences"
    if not pod.released:
        return []
    index = None if pod.keeper is None else owners.index(pod.keeper)
    tests = [] if index is None else [Operation("test", f"{path}/{index}/uid", owners[index].uid)]
    if replica_set is None:
        return [] if index is None else [*tests, Operation("remove", f"{path}/{index}")]
    reference = _naming(replica_set)
    if index is not None:
        return [*tests, Operation("replace", f"{path}/{index}", reference)]
    if owners:
        return [Operation("add", f"{path}/-", reference)]
    return [*_unchanged(pod), Operation("add", path, [reference])]


def _naming(owner: OwnerReference, *, controls: bool = True) -> dict[str, object]:
    """The entry in ownerReferences that names an owner, as on the wire.

    Without blockOwnerDeletion, for which the API server may ask for a right to the owner's
    finalizers. Controllers set it on what they make, and do without it.
    https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#ownerreferencespermissionenforcement
    """
    named = msgspec.structs.replace(owner, controller=controls)
    return msgspec.to_builtins(named)  # type: ignore[no-any-return] # a struct is a dict there


def _in_progress(pod: Pod) -> tuple[Operation, ...]:
    """Tell the descheduler that a pod goes whose owner has it told so, and no other."""
    if names.REQUEST_EVICT_ONLY not in pod.metadata.annotations:
        return ()
    return (Operation("add", pointer(*_ANNOTATIONS, names.EVICTION_IN_PROGRESS), "true"),)


def take_seat(pod: Pod, taint: Taint, seat: str) -> Patch:
    """Have a pod tolerate the taint of the node on which it has a ``seat``, and note that.

    Of all that a pod asks of its node nothing else may be added once it is there.
    """
    key = {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
    where = "/spec/tolerations"
    return _patch(
        pod,
        *(_unchanged(pod) if not pod.spec.tolerations else ()),
        *_annotations_exist(pod),
        Operation("add", pointer(*_ANNOTATIONS, names.SEAT), seat),
        Operation("add", f"{where}/-", key)
        if pod.spec.tolerations
        else Operation("add", where, [key]),
    )


def evict(pod: Pod) -> Evict:
    """Evict a pod, if it is still this one."""
    return Evict(name=pod.name, namespace=pod.namespace, uid=pod.uid)


def delete(pod: Pod) -> Delete:
    """Delete a pod, if it is still this one, with its own grace period."""
    return Delete(kind=Pod, name=pod.name, namespace=pod.namespace, uid=pod.uid)


def delete_as_seen(pod: Pod) -> Delete:
    """Delete a pod, if nothing of it has changed: a Pending pod may have got a node."""
    version = pod.metadata.resource_version
    return replace(delete(pod), resource_version=version)


def disruption_patch(pod: Pod, now: datetime) -> Patch:
    """Say that a pod fails for a disruption (condition DisruptionTarget), as evictions do.

    A plain delete does not, and a Job's podFailurePolicy would count the failure (KEP-3329).
    """
    types = [each.type for each in pod.status.conditions]
    is_there = names.DISRUPTION_TARGET in types
    index = types.index(names.DISRUPTION_TARGET) if is_there else "-"
    condition = {
        "type": names.DISRUPTION_TARGET,
        "status": "True",
        "reason": "TerminationByEvenkeel",
        "message": "its node is taken back by EC2",
        "lastTransitionTime": in_words(now),
    }
    return Patch(
        kind=Pod,
        name=pod.name,
        namespace=pod.namespace,
        subresource="status",
        body=(
            *as_read(pod),
            Operation("replace" if is_there else "add", f"/status/conditions/{index}", condition),
        ),
    )


def cooldown_of(workload: KubernetesObject, key: str = names.COOLDOWN) -> Cooldown | None:
    """The cooldown that a workload carries; None without one that makes sense.

    ``key``: the annotation, which is another one for moves to other pools.

    Anybody who may annotate workloads can have written it: a time without a zone is none.
    """
    cooldown = read_note(workload.metadata.annotations.get(key), Cooldown)
    return cooldown if cooldown is not None and is_sound(cooldown.until) else None


def cooldown_patch(workload: KubernetesObject, now: datetime, key: str = names.COOLDOWN) -> Patch:
    """Let a workload rest after a rolled back handover, twice as long as after the last.

    What failed a good while ago is forgotten.
    """
    last = cooldown_of(workload, key)
    failures = 1 + (last.counts(now) if last is not None else 0)
    cooldown = Cooldown(failures=failures, until=now + rest_after(failures))
    return annotate(workload, key, msgspec.json.encode(cooldown).decode())


def annotate(item: KubernetesObject, key: str, value: str) -> Patch:
    """Set one annotation of an object, if it is still this one."""
    return _patch(
        item, *_annotations_exist(item), Operation("add", pointer(*_ANNOTATIONS, key), value)
    )


def take_annotation(item: KubernetesObject, key: str) -> Patch:
    """Take an annotation off an object, if it still says the same."""
    path = pointer(*_ANNOTATIONS, key)
    return _patch(
        item,
        Operation("test", path, item.metadata.annotations[key]),
        Operation("remove", path),
    )


def _patch(item: KubernetesObject, *operations: Operation) -> Patch:
    return Patch(
        kind=type(item),
        name=item.name,
        namespace=item.namespace,
        body=(Operation("test", "/metadata/uid", item.uid), *operations),
    )


def _annotations_exist(item: KubernetesObject) -> tuple[Operation, ...]:
    """Make the annotations map where there is none; only if nothing changed meanwhile."""
    if item.metadata.annotations:
        return ()
    return (*_unchanged(item), Operation("add", pointer(*_ANNOTATIONS), {}))


def _unchanged(item: KubernetesObject) -> tuple[Operation, ...]:
    """Let the patch fail if anything of the object has changed since it was read."""
    return (Operation("test", "/metadata/resourceVersion", item.metadata.resource_version),)
