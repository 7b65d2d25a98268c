"""What owns pods: Deployments, ReplicaSets, StatefulSets and Jobs."""

from datetime import datetime
from functools import cached_property
from typing import ClassVar, Final

from evenkeel.model import names
from evenkeel.model.affinity import NewPodSpec
from evenkeel.model.annotations import GANG
from evenkeel.model.meta import (
    ApiStruct,
    Condition,
    KubernetesObject,
    LabelSelector,
    OwnerReference,
    Resource,
)
from evenkeel.model.notes import read_note
from evenkeel.model.refused import Refused

type IntOrString = int | str

EXCEEDED: Final = "exceeded quota"
"""What the API server says when a quota refuses a pod."""

MOST_DIGITS: Final = 10
"""Of a number of replicas. What is longer is none."""


class TemplateMetadata(ApiStruct, frozen=True, kw_only=True):
    """Metadata of a pod template; it has no name."""

    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class PodTemplate(ApiStruct, frozen=True, kw_only=True):
    """The pods that a workload makes, and where they may go by their owner's own rules."""

    metadata: TemplateMetadata = TemplateMetadata()
    spec: NewPodSpec = NewPodSpec()


class RollingUpdate(ApiStruct, frozen=True, kw_only=True):
    """Bounds of a Deployment's rolling update; numbers or percentages of the replicas."""

    max_surge: IntOrString = "25%"
    max_unavailable: IntOrString = "25%"


class DeploymentStrategy(ApiStruct, frozen=True, kw_only=True):
    """How a Deployment replaces its pods: RollingUpdate or Recreate."""

    type: str = "RollingUpdate"
    rolling_update: RollingUpdate | None = None


class DeploymentSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of a Deployment's spec that Evenkeel reads."""

    replicas: int = 1
    selector: LabelSelector = LabelSelector()
    template: PodTemplate = PodTemplate()
    strategy: DeploymentStrategy = DeploymentStrategy()
    min_ready_seconds: int = 0
    paused: bool = False


class DeploymentStatus(ApiStruct, frozen=True, kw_only=True):
    """The part of a Deployment's status that Evenkeel reads."""

    observed_generation: int = 0


class Deployment(KubernetesObject, frozen=True, kw_only=True):
    """A Deployment."""

    resource: ClassVar = Resource(
        group="apps", version="v1", plural="deployments", kind="Deployment"
    )

    spec: DeploymentSpec = DeploymentSpec()
    status: DeploymentStatus = DeploymentStatus()


class ReplicaSetSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of a ReplicaSet's spec that Evenkeel reads."""

    replicas: int = 1
    selector: LabelSelector = LabelSelector()
    template: PodTemplate = PodTemplate()
    min_ready_seconds: int = 0


class ReplicaSetStatus(ApiStruct, frozen=True, kw_only=True):
    """The part of a ReplicaSet's status that Evenkeel reads."""

    replicas: int = 0
    conditions: tuple[Condition, ...] = ()


class ReplicaSet(KubernetesObject, frozen=True, kw_only=True):
    """A ReplicaSet."""

    resource: ClassVar = Resource(
        group="apps", version="v1", plural="replicasets", kind="ReplicaSet"
    )

    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()

    @property
    def deployment(self) -> OwnerReference | None:
        """The Deployment that made it; None without one."""
        owner = self.controller
        return owner if owner is not None and owner.full_kind == "Deployment" else None

    @property
    def is_in_rollout(self) -> bool:
        """Whether its Deployment wants more replicas than it has: others have the rest.

        The Deployment's controller notes how many whenever it sizes the ReplicaSet.
        """
        wanted = self.metadata.annotations.get(names.DESIRED_REPLICAS, "")
        is_number = len(wanted) <= MOST_DIGITS and wanted.isdecimal()
        return is_number and self.spec.replicas < int(wanted)

    @property
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
    def refused_by_quota(self) -> Condition | None:
        """That condition while a quota refuses pods; it has the text and time of the first try."""
        failure = self.cannot_create
        return failure if failure is not None and EXCEEDED in failure.message else None

    @cached_property
    def refused(self) -> Refused | None:
        """What was noted while a quota refused pods; None if that makes no sense."""
        note = read_note(self.metadata.annotations.get(names.REFUSED), Refused)
        return note if note is not None and note.makes_sense else None

    @property
    def is_refused(self) -> bool:
        """Whether a quota refuses it pods, or did so when it was noted."""
        return self.refused_by_quota is not None or self.refused is not None

    def awaits_gone(self, now: datetime) -> bool:
        """Whether it matters that a pod is gone: a quota refuses others, or did so lately."""
        note = self.refused
        return self.refused_by_quota is not None or (note is not None and not note.is_over(now))


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


class StatefulSetSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of a StatefulSet's spec that Evenkeel reads."""

    replicas: int = 1
    selector: LabelSelector = LabelSelector()
    template: PodTemplate = PodTemplate()
    min_ready_seconds: int = 0
    ordinals: Ordinals = Ordinals()
    update_strategy: StatefulSetStrategy = StatefulSetStrategy()


class StatefulSetStatus(ApiStruct, frozen=True, kw_only=True):
    """The part of a StatefulSet's status that Evenkeel reads."""

    observed_generation: int = 0
    current_revision: str = ""
    update_revision: str = ""


class StatefulSet(KubernetesObject, frozen=True, kw_only=True):
    """A StatefulSet."""

    resource: ClassVar = Resource(
        group="apps", version="v1", plural="statefulsets", kind="StatefulSet"
    )

    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()


class PodFailurePolicy(ApiStruct, frozen=True, kw_only=True):
    """What a Job makes of a failed pod; its rules may tell a disruption from a fault."""


class JobSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of a Job's spec that Evenkeel reads."""

    template: PodTemplate = PodTemplate()
    parallelism: int = 1
    completions: int | None = None
    pod_failure_policy: PodFailurePolicy | None = None


class JobStatus(ApiStruct, frozen=True, kw_only=True):
    """The part of a Job's status that Evenkeel reads."""

    succeeded: int = 0
    conditions: tuple[Condition, ...] = ()


class Job(KubernetesObject, frozen=True, kw_only=True):
    """A Job."""

    resource: ClassVar = Resource(group="batch", version="v1", plural="jobs", kind="Job")

    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()

    @property
    def is_gang(self) -> bool:
        """Whether its owner says that its pods are of use together only."""
        return GANG.of(self.metadata.annotations) == names.TRUE


type Workload = Deployment | ReplicaSet | StatefulSet | Job
"""Anything that owns pods and that a person would name."""


type Controller = ReplicaSet | StatefulSet | Job
"""What makes pods, and is counted: the controllers that pods name as their owners."""
