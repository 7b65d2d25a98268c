"""What bears on the pods of namespaces: budgets, services, policies, claims, groups."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from evenkeel.decisions.drain.namespace_objects import NamespaceObjects
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import Selection

_NOTHING: Final = NamespaceObjects()


class Surroundings:
    """What was read of each namespace, kind by kind."""

    def __init__(self) -> None:
        self._read = defaultdict[str, dict[type, tuple[Sequence[KubernetesObject], str]]](dict)
        self._of: dict[str, NamespaceObjects] = {}

    def replace(
        self, where: Selection[Any], items: Sequence[KubernetesObject], unread: str
    ) -> bool:
        """A namespace has these objects of a kind, and no others; whether that is news.

        ``unread``: why they are not known.
        """
        of_kinds = self._read[where.namespace]
        known, of_kinds[where.kind] = of_kinds.get(where.kind), (list(items), unread)
        if known == of_kinds[where.kind]:
            return False
        found = NamespaceObjects.of([each for of_kind, _ in of_kinds.values() for each in of_kind])
        why = next((why for _, why in of_kinds.values() if why), found.unread)
        self._of[where.namespace] = msgspec.structs.replace(found, unread=why)
        return True

    def of(self, namespace: str) -> NamespaceObjects:
        """What was read of a namespace."""
        return self._of.get(namespace, _NOTHING)
