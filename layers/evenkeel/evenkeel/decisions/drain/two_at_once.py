"""Why a pod and its replacement cannot, or must not, run at the same time.

Each reason is a function, and they are asked in the order of ``ruled_out``. Nothing is gained by a
ration under the first two, so they come first whatever else rules out two at once. A host port
rules nothing out: the replacement never comes to the cordoned node, so it is never the old pod that
holds the port it needs (docs/decisions/0002-host-ports.md).
"""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from evenkeel.decisions.drain.budgets import max_surge
from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.decisions.drain.owner import Owner
from evenkeel.model import names
from evenkeel.model.annotations import HANDOVER
from evenkeel.model.deployments import DEPLOYMENTS
from evenkeel.model.pod import Pod
from evenkeel.model.pod_label import LONGEST_HASH
from evenkeel.model.reasons import Reason


class Obstacle(NamedTuple):
    """What rules two at once out, and what an owner can change about it.

    ``until``: it is another from then on.
    """

    reason: Reason
    cause: str
    remedy: str
    until: datetime | None = None


def ruled_out(pod: Pod, owner: Owner, around: NamespaceObjects, now: datetime) -> Obstacle | None:
    """The first reason; None if a pod and its replacement can run at the same time.

    ``now`` ends what was refused for a while.
    """
    found = _found(pod, owner, around, now)
    return next((each for each in found if each is not None), None)


def _found(
    pod: Pod, owner: Owner, around: NamespaceObjects, now: datetime
) -> Iterator[Obstacle | None]:
    yield _recreate(owner)
    yield _single_node_volume(pod, around)
    yield _never(pod, owner)
    yield _no_surge(owner)
    yield _moved_alive(pod)
    yield _not_by_hash(pod, owner)
    yield _without_deployment(owner)
    yield _traffic_by_hash(pod, owner)
    yield _selected_by_hash(pod, around)
    yield _refused(owner, now)


def _recreate(owner: Owner) -> Obstacle | None:
    """Two versions must not meet, and the owner accepts that all are down at once."""
    deployment = owner.deployment
    if deployment is None or deployment.spec.strategy.bounds is not None:
        return None
    return Obstacle(
        Reason.RECREATE,
        f"the {deployment.resource.kind}'s strategy is Recreate",
        "set the strategy to RollingUpdate",
    )


def _single_node_volume(pod: Pod, around: NamespaceObjects) -> Obstacle | None:
    """No replacement starts before all pods have left the node that has the volume."""
    wanted = pod.spec.claims
    claims = (each.name for each in around.claims if each.name in wanted and each.single_node)
    claim = next(claims, "")
    if not claim:
        return None
    return Obstacle(
        Reason.SINGLE_NODE_VOLUME,
        f"the volume {claim} can be mounted by one node at a time",
        "use a ReadWriteMany volume",
    )


def _never(pod: Pod, owner: Owner) -> Obstacle | None:
    """The owner said so."""
    if owner.says(HANDOVER, pod) != "never":
        return None
    return Obstacle(
        Reason.HANDOVER_NEVER,
        f"the annotation {names.HANDOVER}: never forbids two at once",
        f"take the annotation {names.HANDOVER} off",
    )


def _no_surge(owner: Owner) -> Obstacle | None:
    """The owner forbids more pods than replicas."""
    deployment = owner.deployment
    if deployment is None or max_surge(deployment) != 0:
        return None
    why = f"the {deployment.resource.kind}'s maxSurge is 0"
    return Obstacle(Reason.NO_SURGE, why, "set maxSurge to 1 or more")


def _moved_alive(pod: Pod) -> Obstacle | None:
    """Somebody moves it alive, and keeps its owner for that."""
    if not pod.is_moved_alive:
        return None
    return Obstacle(
        Reason.LIVE_MIGRATION,
        f"the label {names.LIVE_MIGRATION} has it moved alive once its eviction is asked for",
        f"take the label {names.LIVE_MIGRATION} off to have it replaced before it goes",
    )


def _not_by_hash(pod: Pod, owner: Owner) -> Obstacle | None:
    """The ReplicaSet does not select by template hash: its pods cannot be released from it."""
    replica_set = owner.controller
    is_selected = replica_set is None or replica_set.selector.mentions(pod.hash_label)
    if 0 < len(pod.template_hash) <= LONGEST_HASH and is_selected:
        return None
    return Obstacle(
        Reason.NO_TEMPLATE_HASH,
        f"its ReplicaSet does not select by {pod.hash_label}, so it cannot be released",
        "run it under a Deployment",
    )


def _without_deployment(owner: Owner) -> Obstacle | None:
    """A released pod would have no controller; or what made its ReplicaSet was not read.

    Another controller may adopt the first. What made a ReplicaSet says how traffic reaches its
    pods.
    """
    replica_set = owner.controller
    if replica_set is None:
        return None
    above = replica_set.deployment
    if above is None:
        return Obstacle(
            Reason.NO_DEPLOYMENT,
            "no Deployment made its ReplicaSet, so another controller could adopt the released pod",
            "run it under a Deployment",
        )
    if owner.deployment is None and DEPLOYMENTS[above.full_kind].must_be_read:
        return Obstacle(
            Reason.NO_DEPLOYMENT,
            f"the {above.kind} that made its ReplicaSet could not be read",
            "apply manifests/rbac",
        )
    return None


def _traffic_by_hash(pod: Pod, owner: Owner) -> Obstacle | None:
    """What made the ReplicaSet has traffic sent by template hash: a released pod would lose it."""
    deployment = owner.deployment
    if deployment is None or not deployment.is_reached_by_hash:
        return None
    return Obstacle(
        Reason.SELECTED_BY_HASH,
        f"traffic reaches it by {pod.hash_label}, and a released pod would lose it",
        "have the canary go without Services and a mesh of its own",
    )


def _selected_by_hash(pod: Pod, around: NamespaceObjects) -> Obstacle | None:
    """A Service or NetworkPolicy selects by template hash, or one of other pods allows traffic so.

    A released pod would lose the traffic.
    """
    selector = _selecting(pod, around)
    if not selector:
        return None
    return Obstacle(
        Reason.SELECTED_BY_HASH,
        f"{selector} selects by {pod.hash_label} and would lose the released pod",
        f"take {pod.hash_label} out of the selector of {selector}",
    )


def _selecting(pod: Pod, around: NamespaceObjects) -> str:
    labels = pod.metadata.labels
    if pod.released:
        labels = labels | {pod.hash_label: pod.template_hash}
    for service in around.services:
        selector = service.spec.selector
        if pod.hash_label in selector and selector.items() <= labels.items():
            return str(service.reference)
    for policy in around.policies:
        if any(selector.matches(labels) for selector in policy.spec.by_hash):
            return str(policy.reference)
    return ""


def _refused(owner: Owner, now: datetime) -> Obstacle | None:
    """A webhook or policy does not take releases of its owner's pods; that may be over."""
    refused = owner.releases_refused
    if refused is None or refused.until <= now:
        return None
    return Obstacle(
        Reason.RELEASE_REFUSED,
        f"its release is not taken ({refused.words})",
        "let Evenkeel change labels, annotations and ownerReferences of pods",
        refused.until,
    )
