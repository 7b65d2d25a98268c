"""Reading the objects of namespaces that bear on how pods can go."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.model.balancers import LEADING
from evenkeel.model.cluster_objects import (
    NetworkPolicy,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    Service,
)
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import List, Selection


def questions(namespace: str, *, fresh: bool = False) -> Sequence[List[Any]]:
    """What to ask for such objects of a namespace, or of all where it is empty.

    It leaves groups of pods out, whose kinds only pods and templates name.
    """
    kinds = (PodDisruptionBudget, Service, NetworkPolicy, PersistentVolumeClaim)
    return [List(Selection(kind, namespace), fresh=fresh) for kind in kinds]


def leading(namespace: str) -> Sequence[List[Any]]:
    """What to ask for what leads to Services. A cluster may have none, or not let it be read."""
    return [List(Selection(kind, namespace), fresh=False) for kind in LEADING]


def by_namespace(
    items: Iterable[KubernetesObject], unread: Iterable[str] = ()
) -> Mapping[str, NamespaceObjects]:
    """These objects by namespace; ``unread``: the namespaces that have more than is read."""
    found = defaultdict[str, list[KubernetesObject]](list)
    for item in items:
        found[item.namespace].append(item)
    read = {namespace: NamespaceObjects.of(mine) for namespace, mine in found.items()}
    return read | dict.fromkeys(unread, NamespaceObjects(unread="there is too much in it"))
