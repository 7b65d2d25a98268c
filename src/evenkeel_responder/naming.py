"""New pods that name Evenkeel as a responder: a pod can do so only when it is made."""

from collections.abc import Sequence
from typing import Final

from evenkeel.model import names
from evenkeel.model.admission import AdmissionRequest
from evenkeel.model.affinity import SchedulingGroup
from evenkeel.model.annotations import UNGATED
from evenkeel.model.controllers.kinds import way_of
from evenkeel.model.decoding import decoded
from evenkeel.model.meta import ApiStruct
from evenkeel.model.placement import NewPodMetadata
from evenkeel.model.request import Operation, pointer
from evenkeel.model.way import Way
from evenkeel_responder.eviction import NAME

PRIORITY: Final = 5_000
"""Before Kubernetes' own (100), after the controller that manages a pod (10,000)."""

MOST: Final = 10
"""Responders that a pod may name."""

PATH: Final = ("spec", "evictionResponders")


class _Named(ApiStruct, frozen=True, kw_only=True):
    name: str = ""


class _Spec(ApiStruct, frozen=True, kw_only=True):
    scheduling_group: SchedulingGroup | None = None
    eviction_responders: tuple[_Named, ...] | None = None


class _Pod(ApiStruct, frozen=True, kw_only=True):
    metadata: NewPodMetadata = NewPodMetadata()
    spec: _Spec = _Spec()


def named(request: AdmissionRequest) -> Sequence[Operation]:
    """What has a new pod name Evenkeel, after those that it names already. Raises UnreadableError.

    Nothing for one that is not handed over, whose owner leaves it out of the gate, or that is in a
    group of Kubernetes' own: the API server refuses responders of those. Nor if it names Evenkeel,
    or as many as it may.
    """
    pod = decoded(_Pod, request.object)
    owners = pod.metadata.owner_references or ()
    owner = next((each for each in owners if each.controller), None)
    if owner is None or way_of(owner.full_kind) is not Way.HANDOVER:
        return ()
    labels = pod.metadata.labels or {}
    if not any(key in labels for key in names.HASHES):
        return ()
    if pod.spec.scheduling_group is not None or UNGATED.of(pod.metadata.annotations) == "false":
        return ()
    there = pod.spec.eviction_responders
    if there is not None and (len(there) >= MOST or any(each.name == NAME for each in there)):
        return ()
    entry = {"name": NAME, "priority": PRIORITY}
    if there is None:
        return (Operation("add", pointer(*PATH), [entry]),)
    return (Operation("add", pointer(*PATH, "-"), entry),)
