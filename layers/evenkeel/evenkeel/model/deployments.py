"""The owners of ReplicaSets: Deployments, and kinds like them. A new kind is a line here."""

from collections.abc import Mapping
from typing import Final

from evenkeel.model.deployment import Deployment
from evenkeel.model.meta import OwnerReference
from evenkeel.model.request import Get
from evenkeel.model.rollout import Rollout

DEPLOYMENTS: Final[Mapping[str, type[Deployment]]] = {
    kind.resource.full_kind: kind for kind in (Deployment, Rollout)
}
"""By the full name of the kind, see ``OwnerReference.full_kind``."""

BY_HASH: Final = {kind.hash_label: kind for kind in DEPLOYMENTS.values()}
"""By the label that the pods bear."""


def reading(owner: OwnerReference, namespace: str) -> Get[Deployment]:
    """How to read the owner of a ReplicaSet."""
    return Get(DEPLOYMENTS[owner.full_kind], owner.name, namespace)
