"""Argo Rollouts' Rollouts."""

from typing import ClassVar, override

import msgspec

from evenkeel.model import names
from evenkeel.model.deployment import (
    Deployment,
    DeploymentSpec,
    DeploymentStatus,
    DeploymentStrategy,
    IntOrString,
    RollingUpdate,
)
from evenkeel.model.meta import ApiStruct, Resource


class BlueGreen(ApiStruct, frozen=True, kw_only=True):
    """All pods of a new template are made beside those of the last one."""


class TrafficRouting(ApiStruct, frozen=True, kw_only=True):
    """The mesh or the ingress that shares traffic out; Argo writes template hashes into it."""


class Canary(ApiStruct, frozen=True, kw_only=True):
    """Bounds of a Rollout that goes in steps, and what shares its traffic out.

    Bounds are numbers or percentages, as text with or without the sign.
    """

    max_surge: IntOrString = "25"
    max_unavailable: IntOrString = "25"
    stable_service: str = ""
    canary_service: str = ""
    traffic_routing: TrafficRouting | None = None


class RolloutStrategy(DeploymentStrategy, frozen=True, kw_only=True):
    """How a Rollout replaces its pods: in steps, or all at once beside the old ones."""

    canary: Canary | None = None
    blue_green: BlueGreen | None = None

    @property
    @override
    def bounds(self) -> RollingUpdate:
        if self.blue_green is not None:
            return RollingUpdate(max_surge="100%", max_unavailable=0)
        own = self.canary or Canary()
        return RollingUpdate(
            max_surge=_as_argo(own.max_surge), max_unavailable=_as_argo(own.max_unavailable)
        )


def _as_argo(bound: IntOrString) -> IntOrString:
    """A bound as Argo reads it, to which every text is a percentage; 0 if it is no number.

    https://github.com/argoproj/argo-rollouts/blob/v1.8.3/utils/replicaset/replicaset.go
    """
    if isinstance(bound, int):
        return max(0, bound)
    number = bound.removesuffix("%")
    return f"{number}%" if number.isascii() and number.isdecimal() else 0


class RolloutSpec(DeploymentSpec, frozen=True, kw_only=True):
    """The part of a Rollout's spec that Evenkeel reads. Its template may be a Deployment's."""

    strategy: RolloutStrategy = RolloutStrategy()


class RolloutStatus(DeploymentStatus, frozen=True, kw_only=True):
    """Nothing of a Rollout's status: its ``observedGeneration`` is text, and nobody asks for it."""

    observed_generation: int = msgspec.field(default=0, name="")


class Rollout(Deployment, frozen=True, kw_only=True):
    """A Rollout: a Deployment that goes in steps.

    https://argo-rollouts.readthedocs.io/en/stable/features/specification/
    """

    resource: ClassVar = Resource(
        kind="Rollout", group="argoproj.io", version="v1alpha1", short="ro"
    )
    hash_label: ClassVar = names.ROLLOUT_HASH
    size_note: ClassVar = names.ROLLOUT_REPLICAS
    must_be_read: ClassVar = True

    spec: RolloutSpec = RolloutSpec()
    status: RolloutStatus = RolloutStatus()

    @property
    @override
    def is_reached_by_hash(self) -> bool:
        """Argo writes the hashes into Services, DestinationRules and the like."""
        strategy = self.spec.strategy
        if strategy.blue_green is not None:
            return True
        canary = strategy.canary or Canary()
        return bool(
            canary.stable_service or canary.canary_service or canary.traffic_routing is not None
        )
