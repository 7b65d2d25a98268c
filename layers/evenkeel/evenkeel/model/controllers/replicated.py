"""Controllers that keep so many pods as their spec says, selected by labels."""

from typing import override

from evenkeel.model.controllers.controller import Controller, ControllerSpec
from evenkeel.model.meta import LabelSelector


class ReplicatedSpec(ControllerSpec, frozen=True, kw_only=True):
    """The part of the spec that all of them have."""

    replicas: int = 1
    selector: LabelSelector = LabelSelector()
    min_ready_seconds: int = 0


class Replicated(Controller, frozen=True, kw_only=True):
    """A ReplicaSet, a StatefulSet, and kinds like them."""

    spec: ReplicatedSpec = ReplicatedSpec()

    @property
    @override
    def replicas(self) -> int:
        return self.spec.replicas

    @property
    @override
    def min_ready_seconds(self) -> int:
        return self.spec.min_ready_seconds

    @property
    @override
    def selector(self) -> LabelSelector:
        return self.spec.selector
