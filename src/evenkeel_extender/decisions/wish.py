"""Which capacity type a pending pod is to have: by what placement decides of new pods."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from evenkeel.decisions.placement.rules import preferred_by
from evenkeel.decisions.placement.scope import (
    controller_kind,
    left_by_itself,
    left_by_namespace,
)
from evenkeel.decisions.placement.verdict import Chosen, Counted, verdict_of, verdict_of_any
from evenkeel.model import names
from evenkeel.model.capacity import Capacity, CapacityLabels
from evenkeel.model.cluster_objects import Namespace
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.deployment import Deployment
from evenkeel.model.gang import named
from evenkeel.model.placement import is_relaxed
from evenkeel.model.template import is_by_template
from evenkeel_extender.messages import PendingPod


class Wish(msgspec.Struct, frozen=True):
    """The capacity type that a pod is to have; ``must``: no node of the other one will do.

    ``capacity`` None: either.
    """

    capacity: Capacity | None = None
    must: bool = False
    message: str = ""


EITHER = Wish()


def needs_no_owner(
    pod: PendingPod, namespace: Namespace, labels: CapacityLabels, *, everywhere: bool
) -> Wish | None:
    """What a pod wishes as far as it and its namespace say; None if its owners decide.

    What the webhook has given a place says so by its label, and its affinity asks for it.
    """
    placed = (pod.metadata.labels or {}).get(names.CAPACITY)
    if placed in tuple(Capacity):
        return Wish(Capacity(placed))
    if left_by_itself(pod, namespace.name, labels) is not None:
        return EITHER
    if left_by_namespace(namespace, everywhere=everywhere) is not None:
        return EITHER
    return _of_any(pod, namespace) if controller_kind(pod) is None else None


def beside_own(wish: Wish, pod: PendingPod, labels: CapacityLabels) -> Wish:
    """A pod's wish, unless it prefers the other capacity type itself: either will do then."""
    is_against = preferred_by(pod.spec, labels) not in (None, wish.capacity)
    return EITHER if is_against and not wish.must else wish


def _of_any(pod: PendingPod, namespace: Namespace) -> Wish:
    """What a pod wishes of which no workload's size is known."""
    in_gang = named(namespace.name, pod.metadata.labels, pod.spec.scheduling_group) is not None
    verdict = verdict_of_any(pod, namespace, in_gang=in_gang).verdict
    if not isinstance(verdict, Chosen):
        return EITHER
    return Wish(verdict.capacity, must=verdict.is_required, message=verdict.message)


def by_floor(
    pod: PendingPod,
    controller: Controller,
    deployment: Deployment | None,
    namespace_annotations: Mapping[str, str],
    now: datetime,
) -> Wish | Counted:
    """What a pod wishes by the floor of its workload, or how many of it have to be counted."""
    workload = deployment if deployment is not None else controller
    if is_by_template(workload):
        return EITHER
    relaxed = is_relaxed(workload, now)
    # No watch shows groups of pods, which most clusters do not have: any may be a gang.
    in_gang = named(workload.namespace, pod.metadata.labels, pod.spec.scheduling_group) is not None
    share = verdict_of(
        pod, controller, deployment, namespace_annotations, is_relaxed=relaxed, in_gang=in_gang
    )
    verdict = share.verdict
    if not isinstance(verdict, Chosen):
        return verdict if isinstance(verdict, Counted) else EITHER
    return Wish(verdict.capacity, must=verdict.is_required, message=verdict.message)


def by_count(counted: Counted, taken: int) -> Wish:
    """What a pod wishes of whose siblings so many are on on-demand, or will be."""
    told = f"the floor is {counted.floor} of {counted.size}, and {taken} hold it"
    if taken < counted.floor:
        return Wish(Capacity.ON_DEMAND, must=True, message=told)
    return Wish(Capacity.SPOT, message=told)
