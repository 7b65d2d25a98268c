"""What a decision about a pod has to know of the objects around it."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Self

import msgspec

from evenkeel.model.cluster_objects import (
    NetworkPolicy,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    Service,
)
from evenkeel.model.gang import GroupName, PodGroup
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.pod import Pod


class NamespaceObjects(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The objects of one namespace that bear on how its pods can go.

    ``unread`` says why some of them could not be read; it is empty where all were.
    """

    budgets: Sequence[PodDisruptionBudget] = ()
    services: Sequence[Service] = ()
    policies: Sequence[NetworkPolicy] = ()
    claims: Sequence[PersistentVolumeClaim] = ()
    groups: Sequence[PodGroup] = ()
    unread: str = ""

    @classmethod
    def of(cls, items: Sequence[KubernetesObject]) -> Self:
        """Those among a namespace's objects that are of these kinds."""
        return cls(
            budgets=[item for item in items if isinstance(item, PodDisruptionBudget)],
            services=[item for item in items if isinstance(item, Service)],
            policies=[item for item in items if isinstance(item, NetworkPolicy)],
            claims=[item for item in items if isinstance(item, PersistentVolumeClaim)],
            groups=[item for item in items if isinstance(item, PodGroup)],
        )

    def group(self, name: GroupName) -> PodGroup | None:
        """A group of pods, as far as it could be read."""
        return self._groups.get((name.kind, name.name))

    @cached_property
    def _groups(self) -> Mapping[tuple[type[PodGroup], str], PodGroup]:
        return {(type(each), each.name): each for each in self.groups}

    def budgets_of(self, pod: Pod) -> Sequence[PodDisruptionBudget]:
        """The budgets that select this pod; a budget without a selector selects none."""
        return [
            budget
            for budget in self.budgets
            if budget.spec.selector is not None
            and budget.spec.selector.matches(pod.metadata.labels)
        ]
