"""Disruption budgets and bounds, computed as Kubernetes' controllers compute them."""

from collections.abc import Sequence
from typing import Final

from evenkeel.model.cluster_objects import PodDisruptionBudget
from evenkeel.model.deployment import Deployment, IntOrString, RollingUpdate

MOST_DIGITS: Final = 9
"""A percentage of more digits counts as the least of so many: the API server allows any number."""


def scaled(value: IntOrString, total: int, *, round_up: bool) -> int:
    """A number, or a percentage of ``total``, as intstr.GetScaledValueFromIntOrPercent does.

    Raises ValueError for a string that is no percentage, such as "1": the API server stores
    none where Kubernetes' own bounds are concerned.
    """
    if isinstance(value, int):
        return value
    hundredths = _percent(value) * total
    return -(-hundredths // 100) if round_up else hundredths // 100


def max_unavailable(deployment: Deployment | None) -> int:
    """How many replicas a rolling update of this Deployment may take away, rounded down.

    Zero without a Deployment and for Recreate, which has no such bound.
    """
    bounds = deployment.spec.strategy.bounds if deployment is not None else None
    if deployment is None or bounds is None:
        return 0
    replicas = deployment.spec.replicas
    return min(replicas, scaled(bounds.max_unavailable, replicas, round_up=False))


def ration(deployment: Deployment | None, size: int) -> int:
    """How many pods of a ReplicaSet of this size may be missing at a time: its part, at least one.

    In a rollout those of one template may have traffic of their own.
    """
    if deployment is None or not deployment.spec.replicas:
        return 1
    return max(1, max_unavailable(deployment) * size // deployment.spec.replicas)


def kept_in_rollout(deployment: Deployment) -> int:
    """How many available replicas a rollout of this Deployment leaves; none under Recreate."""
    if deployment.spec.strategy.bounds is None:
        return 0
    return deployment.spec.replicas - max_unavailable(deployment)


def max_surge(deployment: Deployment) -> int:
    """How many replicas a rolling update of this Deployment may add, rounded up."""
    bounds = deployment.spec.strategy.bounds or RollingUpdate()
    return scaled(bounds.max_surge, deployment.spec.replicas, round_up=True)


def never_allows(budget: PodDisruptionBudget) -> bool:
    """Whether a budget is written so as to forbid every disruption.

    - maxUnavailable 0 or 0 %;
    - minAvailable 100 %;
    - neither bound: the disruption controller then expects no pods, and allows nothing.

    A replacement beside a released pod would open the first two all the same, for the
    released pod counts as healthy, but not as expected. Their owners did not mean that.
    """
    most, least = budget.spec.max_unavailable, budget.spec.min_available
    if most is not None:
        return (_percent(most) if isinstance(most, str) else most) == 0
    return _percent(least) >= 100 if isinstance(least, str) else least is None


def hold_now(budgets: Sequence[PodDisruptionBudget]) -> PodDisruptionBudget | None:
    """The first budget under which no pod may be released voluntarily now, if any.

    - one that never allows a disruption;
    - one that counts fewer healthy pods than it demands: the workload is in trouble already;
    - any, where several select the pod: the eviction could never be accepted.
    """
    if len(budgets) > 1:
        return budgets[0]
    for budget in budgets:
        if never_allows(budget):
            return budget
        if budget.status.current_healthy < budget.status.desired_healthy:
            return budget
    return None


def _percent(value: str) -> int:
    number = value.removesuffix("%")
    if number == value or not number.isdecimal():
        message = f"{value!r} is no percentage"
        raise ValueError(message)
    digits = number.lstrip("0")
    return int(digits or 0) if len(digits) <= MOST_DIGITS else 10**MOST_DIGITS
