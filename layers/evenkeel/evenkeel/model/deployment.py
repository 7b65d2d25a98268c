"""Deployments."""

from typing import ClassVar

from evenkeel.model import names
from evenkeel.model.affinity import PodTemplate
from evenkeel.model.floor import NONE
from evenkeel.model.meta import ApiStruct, KubernetesObject, LabelSelector, Resource

type IntOrString = int | str


class RollingUpdate(ApiStruct, frozen=True, kw_only=True):
    """Bounds of a Deployment's rolling update; numbers or percentages of the replicas."""

    max_surge: IntOrString = "25%"
    max_unavailable: IntOrString = "25%"


class DeploymentStrategy(ApiStruct, frozen=True, kw_only=True):
    """How a Deployment replaces its pods: RollingUpdate or Recreate."""

    type: str = "RollingUpdate"
    rolling_update: RollingUpdate | None = None

    @property
    def bounds(self) -> RollingUpdate | None:
        """How many pods more or less a rolling update has; None if all go before others come."""
        return None if self.type == "Recreate" else self.rolling_update or RollingUpdate()


class DeploymentSpec(ApiStruct, frozen=True, kw_only=True):
    """The part of a Deployment's spec that Evenkeel reads."""

    replicas: int = 1
    selector: LabelSelector = LabelSelector()
    template: PodTemplate = PodTemplate()
    strategy: DeploymentStrategy = DeploymentStrategy()
    min_ready_seconds: int = 0
    progress_deadline_seconds: int = 600
    paused: bool = False


class DeploymentStatus(ApiStruct, frozen=True, kw_only=True):
    """The part of a Deployment's status that Evenkeel reads."""

    observed_generation: int = 0


class Deployment(KubernetesObject, frozen=True, kw_only=True):
    """A Deployment, or what makes ReplicaSets like one (see ``deployments``).

    - ``hash_label``: the label by which its ReplicaSets select their pods.
    - ``size_note``: the annotation of its ReplicaSets that says how many replicas it wants.
    - ``must_be_read``: its pods are handed over only where it could be read, because it says how
      traffic reaches them.
    """

    resource: ClassVar = Resource(kind="Deployment", group="apps", short="deploy")

    default_floor: ClassVar = NONE
    hash_label: ClassVar = names.TEMPLATE_HASH
    size_note: ClassVar = names.DESIRED_REPLICAS
    must_be_read: ClassVar = False

    spec: DeploymentSpec = DeploymentSpec()
    status: DeploymentStatus = DeploymentStatus()

    @property
    def is_reached_by_hash(self) -> bool:
        """Whether its controller has traffic sent to pods by their template hash."""
        return False

    @property
    def replicas(self) -> int:
        """How many pods it asks for."""
        return self.spec.replicas

    @property
    def at_a_time(self) -> int:
        """How many pods it has at a time, but for a rollout's."""
        return self.spec.replicas
