"""StatefulSets. Each pod has a name of its own, so none is made while it is there."""

from functools import lru_cache
from typing import ClassVar, Final, override

from evenkeel.model import names
from evenkeel.model.controllers.replicated import Replicated, ReplicatedSpec
from evenkeel.model.floor import MAJORITY_OF_ALL
from evenkeel.model.meta import ApiStruct, Resource
from evenkeel.model.pod_label import LONGEST_LABEL, PodLabel
from evenkeel.model.way import Way

MOST_ORDINALS: Final = 1_000
"""A StatefulSet with more replicas is not watched: it would take the room of all others."""


class Ordinals(ApiStruct, frozen=True, kw_only=True):
    """How a StatefulSet numbers its pods."""

    start: int = 0


class OrdinalUpdate(ApiStruct, frozen=True, kw_only=True):
    """Bounds of a StatefulSet's rolling update: ordinals below ``partition`` are left."""

    partition: int = 0


class StatefulSetStrategy(ApiStruct, frozen=True, kw_only=True):
    """How a StatefulSet replaces its pods: RollingUpdate, or OnDelete."""

    type: str = "RollingUpdate"
    rolling_update: OrdinalUpdate | None = None


class StatefulSetSpec(ReplicatedSpec, frozen=True, kw_only=True):
    """The part of a StatefulSet's spec that Evenkeel reads."""

    ordinals: Ordinals = Ordinals()
    pod_management_policy: str = "OrderedReady"
    update_strategy: StatefulSetStrategy = StatefulSetStrategy()


class StatefulSetStatus(ApiStruct, frozen=True, kw_only=True):
    """The part of a StatefulSet's status that Evenkeel reads."""

    observed_generation: int = 0
    current_revision: str = ""
    update_revision: str = ""


class StatefulSet(Replicated, frozen=True, kw_only=True):
    """A StatefulSet."""

    resource: ClassVar = Resource(kind="StatefulSet", group="apps", short="sts")

    way: ClassVar = Way.BY_ORDINAL
    default_floor: ClassVar = MAJORITY_OF_ALL

    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()

    @property
    @override
    def pod_labels(self) -> frozenset[PodLabel]:
        """The names of all pods that it asks for; none where one may be too long for a label."""
        return _of_ordinals(self.name, self.first_ordinal, self.replicas)

    @property
    @override
    def makes_in_order(self) -> bool:
        return self.spec.pod_management_policy != "Parallel"

    @property
    @override
    def first_ordinal(self) -> int:
        return self.spec.ordinals.start


@lru_cache(maxsize=1_000)
def _of_ordinals(name: str, start: int, replicas: int) -> frozenset[PodLabel]:
    if replicas > MOST_ORDINALS or len(f"{name}-{start + replicas}") > LONGEST_LABEL:
        return frozenset()
    ordinals = range(start, start + replicas)
    return frozenset(PodLabel(names.POD_NAME, f"{name}-{ordinal}") for ordinal in ordinals)
