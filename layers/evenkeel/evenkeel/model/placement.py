"""Pods that are being made, what placement notes on them, and claims on places of a floor.

A claim is a Lease in Evenkeel's namespace, ``evenkeel-slot-<controller's uid>-<slot>`` with the
label ``evenkeel.dev/claim-of``: it keeps a place of the floor until the pod that it was taken for
is there. That pod's annotation ``evenkeel.dev/placed`` names it by its holder.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import ClassVar, override

import msgspec

from evenkeel.model import names
from evenkeel.model.affinity import NewPodSpec
from evenkeel.model.capacity import Capacity
from evenkeel.model.cluster_objects import Lease, LeaseSpec
from evenkeel.model.lifecycle import Lifecycle
from evenkeel.model.meta import ApiStruct, KubernetesObject, Metadata, OwnerReference, Reference
from evenkeel.model.notes import VERSION, Note
from evenkeel.model.times import is_sound, to_micro_time

OF_ITS_FLOOR = "the pod is one of its floor"
"""The extender's words for a spot node, which the scheduler repeats of a pod that waits."""

FRESH = timedelta(seconds=10)
"""A note that is older was not made in this admission: the pod is a copy."""


class Placed(Note, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The annotation ``evenkeel.dev/placed`` of a pod that was placed.

    ``as`` is the capacity type that its affinity asks for, ``at`` when the webhook decided that: a
    policy knows no time;
    ``preferred``: that is on-demand, and spot will do as well, for its floor is a default.
    ``claim`` is the holder of its claim, and ``slot`` the place of the floor that it takes;
    without them the pod was not counted. ``move`` is the uid of the pod in whose place restore had
    it made: then it may go to no other capacity type.
    """

    key: ClassVar = names.PLACED

    v: int
    as_: Capacity = msgspec.field(name="as")
    at: datetime | None = None
    preferred: bool = False
    claim: str = ""
    slot: int | None = None
    move: str = ""
    barred: tuple[str, ...] = ()

    @property
    @override
    def makes_sense(self) -> bool:
        """Whatever its time: what was placed counts, and asks for what it asks for."""
        return True

    @property
    def requires_on_demand(self) -> bool:
        """Whether spot will not do: it is of a floor that somebody asked for, or moved there."""
        return self.as_ is Capacity.ON_DEMAND and not self.preferred

    def is_of_this_admission(self, now: datetime) -> bool:
        """Whether it was noted moments ago: the API server asks again in the same admission."""
        at = self.at
        return self.v == VERSION and at is not None and is_sound(at) and abs(now - at) <= FRESH


class Relaxation(Note, frozen=True, kw_only=True, rename="camel"):
    """The annotation ``evenkeel.dev/floor-relaxed``: until when a workload's floor is not held."""

    key: ClassVar = names.FLOOR_RELAXED

    v: int = VERSION
    until: datetime


def is_relaxed(workload: KubernetesObject, now: datetime) -> bool:
    """Whether a workload's floor may go to spot now, because no on-demand node had room."""
    relaxation = Relaxation.of(workload)
    return relaxation is not None and now < relaxation.until


# A pod that is being made, as far as placement reads it. Go may write null for what is not there.


class NewPodMetadata(ApiStruct, frozen=True, kw_only=True):
    """The part of a new pod's metadata that placement reads. It may have no name yet."""

    name: str = ""
    generate_name: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[OwnerReference, ...] | None = None


class NewContainer(ApiStruct, frozen=True, kw_only=True):
    """The part of a new pod's container that placement reads."""

    lifecycle: Lifecycle | None = None


class NewPodsSpec(NewPodSpec, frozen=True, kw_only=True):
    """The same of a pod that is being made, and how it will stop."""

    containers: tuple[NewContainer, ...] | None = None
    termination_grace_period_seconds: int | None = None


class NewPod(ApiStruct, frozen=True, kw_only=True):
    """A pod that is being made."""

    metadata: NewPodMetadata = NewPodMetadata()
    spec: NewPodsSpec = NewPodsSpec()

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages it, if there is one."""
        owners = self.metadata.owner_references or ()
        return next((owner for owner in owners if owner.controller), None)

    def reference(self, namespace: str) -> Reference:
        """How to call it: ``web-5d8-*`` while its name is not made."""
        metadata = self.metadata
        name = metadata.name or f"{metadata.generate_name}*"
        return Reference(kind="Pod", name=name, namespace=namespace)


# Claims


class Claim(msgspec.Struct, frozen=True):
    """A claim as its Lease has it: which slot, for which review, and since when."""

    slot: int
    holder: str
    since: datetime
    lease: Lease


def claim_name(controller_uid: str, slot: int) -> str:
    """The name of the Lease that keeps a slot."""
    return f"{names.CLAIM_PREFIX}{controller_uid}-{slot}"


def claims_of(leases: Sequence[Lease], controller_uid: str) -> Sequence[Claim]:
    """The claims among these Leases. What is none, or makes no sense, is left out."""
    found = []
    prefix = claim_name(controller_uid, 0).removesuffix("0")
    for lease in leases:
        slot = lease.name.removeprefix(prefix)
        since = lease.held_since
        if slot.isdecimal() and lease.spec.holder_identity and since is not None:
            found.append(Claim(int(slot), lease.spec.holder_identity, since, lease))
    return found


def new_claim(controller: Reference, slot: int, holder: str, now: datetime) -> Lease:
    """The Lease that keeps a slot of a controller's floor, for ``holder``, since now."""
    return Lease(
        metadata=Metadata(
            name=claim_name(controller.uid, slot),
            namespace=names.SYSTEM_NAMESPACE,
            labels={names.CLAIM_OF: controller.uid},
            annotations={names.CLAIM_FOR: str(controller)},
        ),
        spec=claim_spec(holder, now),
    )


def claim_spec(holder: str, now: datetime, transitions: int = 0) -> LeaseSpec:
    """What a claim's Lease says of who holds it."""
    text = to_micro_time(now)
    return LeaseSpec(
        holder_identity=holder,
        acquire_time=text,
        renew_time=text,
        lease_transitions=transitions,
    )
