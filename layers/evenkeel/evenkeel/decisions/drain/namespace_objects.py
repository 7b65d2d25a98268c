"""What a decision about a pod has to know of the objects around it."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final, Self

import msgspec

from evenkeel.model.balancers import LEADING, Leading
from evenkeel.model.cluster_objects import (
    NetworkPolicy,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    Service,
)
from evenkeel.model.gang import GroupName, PodGroup
from evenkeel.model.meta import KubernetesObject, LabelSelector
from evenkeel.model.pod import Pod

type Labels = frozenset[tuple[str, str]]

MOST_TERMS: Final = 5_000
"""Labels, clauses and values by which all budgets of a namespace, and its policies by template
hash, may select. All are looked at for each set of labels that its pods have, which takes a
millisecond: with more it is unread, or plans for one tenant would keep those for others waiting."""


LOAD_BALANCER: Final = "LoadBalancer"
"""The type of a Service that asks for a load balancer."""


class NamespaceObjects(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The objects of one namespace that bear on how its pods can go.

    ``unread`` says why some of them could not be read; it is empty where all were.
    """

    budgets: Sequence[PodDisruptionBudget] = ()
    services: Sequence[Service] = ()
    leading: Sequence[Leading] = ()
    policies: Sequence[NetworkPolicy] = ()
    claims: Sequence[PersistentVolumeClaim] = ()
    groups: Sequence[PodGroup] = ()
    unread: str = ""

    @classmethod
    def of(cls, items: Sequence[KubernetesObject]) -> Self:
        """Those among a namespace's objects that are of these kinds."""
        found = cls(
            budgets=[item for item in items if isinstance(item, PodDisruptionBudget)],
            services=[item for item in items if isinstance(item, Service)],
            leading=[item for item in items if isinstance(item, LEADING)],
            policies=[item for item in items if isinstance(item, NetworkPolicy)],
            claims=[item for item in items if isinstance(item, PersistentVolumeClaim)],
            groups=[item for item in items if isinstance(item, PodGroup)],
        )
        if found._terms <= MOST_TERMS:
            return found
        unread = f"its budgets and NetworkPolicies select by more than {MOST_TERMS} terms"
        return msgspec.structs.replace(found, budgets=(), policies=(), unread=unread)

    def group(self, name: GroupName) -> PodGroup | None:
        """A group of pods, as far as it could be read."""
        return self._groups.get((name.kind, name.name))

    @cached_property
    def _groups(self) -> Mapping[tuple[type[PodGroup], str], PodGroup]:
        return {(type(each), each.name): each for each in self.groups}

    def budgets_of(self, pod: Pod) -> Sequence[PodDisruptionBudget]:
        """The budgets that select this pod; a budget without a selector selects none."""
        labels = pod.metadata.labels
        key = frozenset(labels.items())
        if key not in self._budgets_of:
            self._budgets_of[key] = [
                budget
                for budget in self.budgets
                if budget.spec.selector is not None and budget.spec.selector.matches(labels)
            ]
        return self._budgets_of[key]

    def services_of(self, pod: Pod) -> Sequence[Service]:
        """The Services that select this pod; one without a selector selects none."""
        labels = pod.metadata.labels.items()
        key = frozenset(labels)
        if key not in self._services_of:
            selecting = ((each, each.spec.selector.items()) for each in self.services)
            self._services_of[key] = [
                each for each, selector in selecting if selector and selector <= labels
            ]
        return self._services_of[key]

    def is_balanced(self, service: Service) -> bool:
        """Whether a load balancer leads to a Service."""
        return service.spec.type == LOAD_BALANCER or service.name in self._led_to

    @cached_property
    def _led_to(self) -> frozenset[str]:
        """The names of the Services that something leads to."""
        return frozenset(name for each in self.leading for name in each.services)

    def policy_by_hash(self, labels: dict[str, str]) -> NetworkPolicy | None:
        """The first policy that tells pods with these labels from others by their template hash."""
        key = frozenset(labels.items())
        if key not in self._policy_of:
            found = (
                policy
                for policy, selectors in self._by_hash
                if any(selector.matches(labels) for selector in selectors)
            )
            self._policy_of[key] = next(found, None)
        return self._policy_of[key]

    @cached_property
    def _budgets_of(self) -> dict[Labels, Sequence[PodDisruptionBudget]]:
        return {}

    @cached_property
    def _services_of(self) -> dict[Labels, Sequence[Service]]:
        return {}

    @cached_property
    def _policy_of(self) -> dict[Labels, NetworkPolicy | None]:
        return {}

    @cached_property
    def _by_hash(self) -> Sequence[tuple[NetworkPolicy, Sequence[LabelSelector]]]:
        found = ((policy, [*policy.spec.by_hash]) for policy in self.policies)
        return [(policy, selectors) for policy, selectors in found if selectors]

    @property
    def _terms(self) -> int:
        of_budgets = (budget.spec.selector for budget in self.budgets)
        of_policies = (each for _, selectors in self._by_hash for each in selectors)
        return sum(each.terms for each in (*of_budgets, *of_policies) if each is not None)
