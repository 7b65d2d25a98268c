"""Why a pod and its replacement cannot, or must not, run at the same time.

The reasons are in the order of ``ruled_out``. Nothing is gained by a ration where all go at once,
so that comes first whatever else rules out two at once. A host port rules nothing out: the
replacement never comes to the cordoned node, so it is never the old pod that holds the port it
needs (docs/decisions/0002-host-ports.md).
"""

from collections.abc import Iterator
from datetime import datetime
from itertools import chain
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
    found = chain(
        _all_go_at_once(pod, owner, around),
        _forbidden(pod, owner),
        _cannot_be_released(pod, owner),
        _would_lose_traffic(pod, owner, around),
        _not_taken(owner, now),
    )
    return next(found, None)


def _all_go_at_once(pod: Pod, owner: Owner, around: NamespaceObjects) -> Iterator[Obstacle]:
    """No replacement starts before all pods have left.

    Two versions must not meet, and the owner accepts that all are down at once; or a node has the
    volume to itself.
    """
    deployment = owner.deployment
    if deployment is not None and deployment.spec.strategy.bounds is None:
        yield Obstacle(
            Reason.RECREATE,
            f"the {deployment.resource.kind}'s strategy is Recreate",
            "set the strategy to RollingUpdate",
        )
    wanted = pod.spec.claims
    for claim in around.claims:
        if claim.name in wanted and claim.single_node:
            yield Obstacle(
                Reason.SINGLE_NODE_VOLUME,
                f"the volume {claim.name} can be mounted by one node at a time",
                "use a ReadWriteMany volume",
            )


def _forbidden(pod: Pod, owner: Owner) -> Iterator[Obstacle]:
    """The owner says so, or forbids more pods than replicas, or has the pod moved alive."""
    deployment = owner.deployment
    if owner.says(HANDOVER, pod) == "never":
        yield Obstacle(
            Reason.HANDOVER_NEVER,
            f"the annotation {names.HANDOVER}: never forbids two at once",
            f"take the annotation {names.HANDOVER} off",
        )
    if deployment is not None and max_surge(deployment) == 0:
        why = f"the {deployment.resource.kind}'s maxSurge is 0"
        yield Obstacle(Reason.NO_SURGE, why, "set maxSurge to 1 or more")
    if pod.is_moved_alive:
        yield Obstacle(
            Reason.LIVE_MIGRATION,
            f"the label {names.LIVE_MIGRATION} has it moved alive once its eviction is asked for",
            f"take the label {names.LIVE_MIGRATION} off to have it replaced before it goes",
        )


def _cannot_be_released(pod: Pod, owner: Owner) -> Iterator[Obstacle]:
    """Its ReplicaSet does not select by template hash, or no Deployment can have it meanwhile.

    A released pod without a controller may be adopted by another one. What made a ReplicaSet says
    how traffic reaches its pods, and may not have been read.
    """
    replica_set = owner.controller
    is_selected = replica_set is None or replica_set.selector.mentions(pod.hash_label)
    if not 0 < len(pod.template_hash) <= LONGEST_HASH or not is_selected:
        yield Obstacle(
            Reason.NO_TEMPLATE_HASH,
            f"its ReplicaSet does not select by {pod.hash_label}, so it cannot be released",
            "run it under a Deployment",
        )
    above = replica_set.deployment if replica_set is not None else None
    if replica_set is not None and above is None:
        yield Obstacle(
            Reason.NO_DEPLOYMENT,
            "no Deployment made its ReplicaSet, so another controller could adopt the released pod",
            "run it under a Deployment",
        )
    if above is not None and owner.deployment is None and DEPLOYMENTS[above.full_kind].must_be_read:
        yield Obstacle(
            Reason.NO_DEPLOYMENT,
            f"the {above.kind} that made its ReplicaSet could not be read",
            "apply manifests/rbac",
        )


def _would_lose_traffic(pod: Pod, owner: Owner, around: NamespaceObjects) -> Iterator[Obstacle]:
    """Traffic reaches it by template hash.

    So has what made the ReplicaSet; or a Service or NetworkPolicy selects so, or one of other pods
    allows traffic so.
    """
    deployment, selector = owner.deployment, _selecting(pod, around)
    if deployment is not None and deployment.is_reached_by_hash:
        yield Obstacle(
            Reason.SELECTED_BY_HASH,
            f"traffic reaches it by {pod.hash_label}, and a released pod would lose it",
            "have the canary go without Services and a mesh of its own",
        )
    if selector:
        yield Obstacle(
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
    policy = around.policy_by_hash(labels)
    return "" if policy is None else str(policy.reference)


def _not_taken(owner: Owner, now: datetime) -> Iterator[Obstacle]:
    """A webhook or policy does not take releases of its owner's pods; that may be over."""
    refused = owner.releases_refused
    if refused is not None and now < refused.until:
        yield Obstacle(
            Reason.RELEASE_REFUSED,
            f"its release is not taken ({refused.words})",
            "let Evenkeel change labels, annotations and ownerReferences of pods",
            refused.until,
        )
