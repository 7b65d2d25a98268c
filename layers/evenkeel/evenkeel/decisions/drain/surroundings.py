"""What a decision about a pod has to know of the objects around it."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Self, Unpack

import msgspec

from evenkeel.model.annotations import OwnersEntry
from evenkeel.model.decision import Decision, Details, Verb
from evenkeel.model.gang import GroupName, PodGroup
from evenkeel.model.meta import KubernetesObject, Reference
from evenkeel.model.pod import Pod
from evenkeel.model.reasons import Reason
from evenkeel.model.surroundings import (
    NetworkPolicy,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    Service,
)
from evenkeel.model.workload import Controller, Deployment, ReplicaSet


class Surroundings(msgspec.Struct, frozen=True, kw_only=True, dict=True):
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


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """The owners of a pod: its controller, and the Deployment above a ReplicaSet.

    ``controller`` is None for a bare pod, and for a pod whose controller Evenkeel does not
    know, is gone, or could not be read; ``kind`` is then the kind named by the pod.
    """

    kind: str = ""
    controller: Controller | None = None
    deployment: Deployment | None = None

    @property
    def workload(self) -> Reference | None:
        """What a person would name: the Deployment if there is one, else the controller."""
        top = self.deployment or self.controller
        return top.reference if top is not None else None

    def decision(
        self,
        item: KubernetesObject,
        verb: Verb,
        reason: Reason,
        message: str,
        **details: Unpack[Details],
    ) -> Decision:
        """A decision about one of its pods, or about itself, that names the workload."""
        details["workload"] = self.workload
        return Decision.about(item, verb, reason, message, **details)

    @property
    def deployment_in_rollout(self) -> Deployment | None:
        """The Deployment of a ReplicaSet that is not its only one."""
        replica_set = self.controller
        is_part = isinstance(replica_set, ReplicaSet) and replica_set.is_in_rollout
        return self.deployment if is_part else None

    def annotation(self, key: str, pod: Pod | None = None) -> str:
        """The first value set on the pod, its controller or its Deployment; empty without one."""
        places = (
            place.metadata.annotations
            for place in (pod, self.controller, self.deployment)
            if place is not None
        )
        return next((place[key] for place in places if key in place), "")

    def says[T](self, entry: OwnersEntry[T], pod: Pod | None = None) -> T | None:
        """What that value means; None without one, and where it means nothing."""
        return entry.read(self.annotation(entry.key, pod))
