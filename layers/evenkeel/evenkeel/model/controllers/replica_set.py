"""ReplicaSets. One lets go of a pod whose template hash changes, and makes another."""

from functools import cached_property
from typing import ClassVar, Final, Self, override

import msgspec

from evenkeel.model import names
from evenkeel.model.controllers.replicated import Replicated
from evenkeel.model.deployment import Deployment
from evenkeel.model.deployments import DEPLOYMENTS
from evenkeel.model.meta import (
    ApiStruct,
    Condition,
    LabelSelector,
    OwnerReference,
    Resource,
)
from evenkeel.model.pod_label import PodLabel
from evenkeel.model.quota_note import QuotaNote
from evenkeel.model.way import Way

EXCEEDED: Final = "exceeded quota"
"""What the API server says when a quota refuses a pod."""

MOST_DIGITS: Final = 10
"""Of a number of replicas. What is longer is none."""


class ReplicaSetStatus(ApiStruct, frozen=True, kw_only=True):
    """The part of a ReplicaSet's status that Evenkeel reads."""

    replicas: int = 0
    conditions: tuple[Condition, ...] = ()


class ReplicaSet(Replicated, frozen=True, kw_only=True):
    """A ReplicaSet."""

    resource: ClassVar = Resource(kind="ReplicaSet", group="apps", short="rs")

    way: ClassVar = Way.HANDOVER
    watched_by: ClassVar = frozenset(names.HASHES)

    status: ReplicaSetStatus = ReplicaSetStatus()

    @cached_property
    @override
    def pod_labels(self) -> frozenset[PodLabel]:
        value = self.template_hash
        return frozenset([PodLabel(self.hash_label, value)] if value else ())

    @cached_property
    def hash_label(self) -> str:
        """The label that tells its pods from other ReplicaSets'; empty where it selects by none."""
        selected = self.spec.selector.match_labels
        return next((key for key in names.HASHES if key in selected), "")

    @property
    @override
    def template_hash(self) -> str:
        return self.spec.selector.match_labels.get(self.hash_label, "")

    @override
    def shared_selector(self, above: Deployment) -> LabelSelector:
        """A Rollout whose template is a Deployment's says none: then its own, without the hash."""
        if above.spec.selector != LabelSelector():
            return above.spec.selector
        own = self.spec.selector
        shared = {key: each for key, each in own.match_labels.items() if key != self.hash_label}
        return msgspec.structs.replace(own, match_labels=shared)

    @property
    @override
    def deployment(self) -> OwnerReference | None:
        owner = self.controller
        return owner if owner is not None and owner.full_kind in DEPLOYMENTS else None

    @property
    @override
    def is_in_rollout(self) -> bool:
        """The Deployment's controller notes how many it wants whenever it sizes the ReplicaSet."""
        above = self.deployment
        if above is None:
            return False
        note = DEPLOYMENTS[above.full_kind].size_note
        wanted = self.metadata.annotations.get(note, "")
        is_number = len(wanted) <= MOST_DIGITS and wanted.isdecimal()
        return is_number and self.spec.replicas < int(wanted)

    @property
    @override
    def cannot_create(self) -> Condition | None:
        """The ReplicaFailure condition while the controller fails to create or delete pods."""
        return next(
            (
                c
                for c in self.status.conditions
                if c.type == "ReplicaFailure" and c.status == "True"
            ),
            None,
        )

    @property
    @override
    def refused_by_quota(self) -> Condition | None:
        """That condition while a quota refuses pods; it has the text and time of the first try."""
        failure = self.cannot_create
        return failure if failure is not None and EXCEEDED in failure.message else None

    @cached_property
    @override
    def quota_note(self) -> QuotaNote | None:
        return QuotaNote.of(self)

    @property
    @override
    def is_growing(self) -> bool:
        """When a replacement is made, its status still counts the pod that has just gone.

        If several go one after the other it does not, but then those that are being deleted are
        listed.
        """
        return self.status.replicas < self.spec.replicas

    @override
    def may_change_plans(self, before: Self) -> bool:
        """Its own counts of its pods do not matter: they follow each pod's every step."""
        is_as_able = before.cannot_create == self.cannot_create
        status = msgspec.structs.replace(self.status, conditions=before.status.conditions)
        last, this = (msgspec.structs.replace(each, status=status) for each in (before, self))
        return not (is_as_able and last.says_as_much_as(this))
