"""What owns pods, and a person would name."""

from typing import Final

from evenkeel.model.controllers.controller import Controller
from evenkeel.model.controllers.kinds import KINDS
from evenkeel.model.deployment import Deployment
from evenkeel.model.deployments import DEPLOYMENTS
from evenkeel.model.meta import KubernetesObject

type Workload = Deployment | Controller

WORKLOADS: Final[tuple[type[KubernetesObject], ...]] = (*DEPLOYMENTS.values(), *KINDS.values())
"""The kinds of workloads."""
