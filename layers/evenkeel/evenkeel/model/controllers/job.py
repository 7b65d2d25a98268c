"""Jobs. A pod may finish by itself."""

from functools import cached_property
from typing import ClassVar, override

from evenkeel.model import names
from evenkeel.model.annotations import GANG
from evenkeel.model.controllers.controller import Controller, ControllerSpec
from evenkeel.model.meta import ApiStruct, Condition, LabelSelector, Resource
from evenkeel.model.pod_label import PodLabel
from evenkeel.model.way import Way


class PodFailurePolicy(ApiStruct, frozen=True, kw_only=True):
    """What a Job makes of a failed pod; its rules may tell a disruption from a fault."""


class JobSpec(ControllerSpec, frozen=True, kw_only=True):
    """The part of a Job's spec that Evenkeel reads."""

    parallelism: int = 1
    completions: int | None = None
    pod_failure_policy: PodFailurePolicy | None = None


class JobStatus(ApiStruct, frozen=True, kw_only=True):
    """The part of a Job's status that Evenkeel reads."""

    succeeded: int = 0
    conditions: tuple[Condition, ...] = ()


class Job(Controller, frozen=True, kw_only=True):
    """A Job."""

    resource: ClassVar = Resource(kind="Job", group="batch")

    way: ClassVar = Way.AT_LAST_MOMENT

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    @override
    def at_a_time(self) -> int:
        return self.spec.parallelism

    @property
    @override
    def selector(self) -> LabelSelector:
        return LabelSelector(match_labels={names.JOB_UID: self.uid})

    @cached_property
    @override
    def pod_labels(self) -> frozenset[PodLabel]:
        return frozenset([PodLabel(names.JOB_UID, self.uid)])

    @property
    @override
    def needed(self) -> int:
        """How many it runs at a time, or the last of them."""
        spec = self.spec
        if spec.completions is None:
            return spec.parallelism
        return min(spec.parallelism, max(0, spec.completions - self.status.succeeded))

    @property
    @override
    def heeds_disruption(self) -> bool:
        return self.spec.pod_failure_policy is not None

    @property
    @override
    def is_gang(self) -> bool:
        return GANG.of(self.metadata.annotations) == names.TRUE
