"""Workloads whose pod template places their pods: what restore wrote there, and that it did.

The annotation ``evenkeel.dev/template`` is written together with the template. A Lease,
``evenkeel-template-<uid>``, shows that there was one even after both were taken away.
"""

from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from evenkeel.model import names
from evenkeel.model.affinity import NodeRequirement, PreferredTerm, Toleration, TopologySpread
from evenkeel.model.annotations import PLACEMENT
from evenkeel.model.cluster_objects import Lease, LeaseSpec
from evenkeel.model.meta import KubernetesObject, Metadata, Reference
from evenkeel.model.notes import VERSION, Note


class Rather(StrEnum):
    """Where a template sends its pods."""

    SPOT = "spot"
    ON_DEMAND = "on-demand"
    ONLY_ON_DEMAND = "only-on-demand"


class Written(Note, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The annotation ``evenkeel.dev/template``: what was added to a template, and what for.

    ``policy`` is the floor as its owner wrote it, or ``default``. ``skew`` is what the floor asks
    for; the template has no ``spread`` while no spot node takes pods. ``required`` was added to
    each required term; the others are what the template had not already.
    """

    key: ClassVar = names.TEMPLATE

    v: int = VERSION
    at: datetime
    policy: str
    rather: Rather
    skew: int = 0
    required: tuple[NodeRequirement, ...] = ()
    preferred: tuple[PreferredTerm, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    spread: TopologySpread | None = None

    @property
    def asked(self) -> frozenset[tuple[str, tuple[str, ...]]]:
        """What pods ask by, of node labels and of taints: keys and values."""
        clauses = [*self.required]
        for each in self.preferred:
            clauses += each.preference.match_expressions or ()
        of_nodes = {(clause.key, clause.values or ()) for clause in clauses}
        return frozenset(of_nodes | {(each.key, (each.value,)) for each in self.tolerations})


def is_by_template(workload: KubernetesObject) -> bool:
    """Whether its owner wants a workload's pods to be placed by its template."""
    return PLACEMENT.of(workload.metadata.annotations) == names.BY_TEMPLATE


def new_trace(workload: Reference) -> Lease:
    """The Lease that shows that this workload's template was written."""
    return Lease(
        metadata=Metadata(
            name=f"{names.TEMPLATE_PREFIX}{workload.uid}",
            namespace=names.SYSTEM_NAMESPACE,
            labels={names.TEMPLATE_OF: workload.uid},
            annotations={names.CLAIM_FOR: str(workload)},
        ),
        spec=LeaseSpec(holder_identity=workload.uid),
    )
