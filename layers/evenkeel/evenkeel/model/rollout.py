"""Argo Rollouts' Rollouts."""

from typing import ClassVar, override

from evenkeel.model import names
from evenkeel.model.deployment import (
    Deployment,
    DeploymentSpec,
    DeploymentStrategy,
    IntOrString,
    RollingUpdate,
)
from evenkeel.model.meta import ApiStruct, Resource


class BlueGreen(ApiStruct, frozen=True, kw_only=True):
    """All pods of a new template are made beside those of the last one."""


class RolloutStrategy(DeploymentStrategy, frozen=True, kw_only=True):
    """How a Rollout replaces its pods: in steps, or all at once beside the old ones."""

    canary: RollingUpdate | None = None
    blue_green: BlueGreen | None = None

    @property
    @override
    def bounds(self) -> RollingUpdate:
        """As Argo reads them. The API server lets any number and any text be stored."""
        if self.blue_green is not None:
            return RollingUpdate(max_surge="100%", max_unavailable=0)
        usual, own = RollingUpdate(), self.canary or RollingUpdate()
        return RollingUpdate(
            max_surge=own.max_surge if _is_sound(own.max_surge) else usual.max_surge,
            max_unavailable=(
                own.max_unavailable if _is_sound(own.max_unavailable) else usual.max_unavailable
            ),
        )


def _is_sound(bound: IntOrString) -> bool:
    if isinstance(bound, int):
        return bound >= 0
    return bound.endswith("%") and bound.removesuffix("%").isdecimal()


class RolloutSpec(DeploymentSpec, frozen=True, kw_only=True):
    """The part of a Rollout's spec that Evenkeel reads. Its template may be a Deployment's."""

    strategy: RolloutStrategy = RolloutStrategy()


class Rollout(Deployment, frozen=True, kw_only=True):
    """A Rollout: a Deployment that goes in steps.

    https://argo-rollouts.readthedocs.io/en/stable/features/specification/
    """

    resource: ClassVar = Resource(
        group="argoproj.io", version="v1alpha1", plural="rollouts", kind="Rollout", short="ro"
    )
    hash_label: ClassVar = names.ROLLOUT_HASH
    size_note: ClassVar = names.ROLLOUT_REPLICAS

    spec: RolloutSpec = RolloutSpec()
