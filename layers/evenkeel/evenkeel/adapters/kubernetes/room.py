"""The bound on what is kept of a list: nobody's objects take more than their namespace's room.

It counts bytes as Evenkeel reads them, because what it skips takes no memory. Decoded they take up
to 16 times as many. A namespace whose objects have more counts as unread as a whole: half of its
budgets would say that the other pods have none.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from evenkeel.adapters.kubernetes.wire import described
from evenkeel.errors import UnreadableObjectError
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import Selection

MOST_OF_ONE: Final = 3 * 2**20
"""Bytes of one namespace's objects in a list: some 3,000 budgets, or the old ReplicaSets of 400
Deployments."""


class Room:
    """Counts what is kept of one list, or what a watch shows after one."""

    def __init__(self) -> None:
        self._sizes = Counter[str]()
        self.size = 0
        """Bytes of all that was kept."""
        self.full = set[str]()
        """The namespaces that count as unread; of a kind without namespaces the objects."""

    def takes(self, item: KubernetesObject) -> bool:
        """Count an object; whether there is room for it."""
        whose, size = self.of(item), len(msgspec.json.encode(item))
        self.size += size
        self._sizes[whose] += max(0, size - item.usual_size)
        if self._sizes[whose] > MOST_OF_ONE:
            self.full.add(whose)
        return whose not in self.full

    @staticmethod
    def of(item: KubernetesObject) -> str:
        """Whose room an object takes: its namespace's, or without one its own."""
        return item.namespace or item.name


def too_much(where: Selection[Any], unread: Iterable[str]) -> list[UnreadableObjectError]:
    """Why each of these namespaces counts as unread in a list."""
    return [
        UnreadableObjectError(
            f"list {described(where)}: what {whose} has of them is more than the {MOST_OF_ONE}"
            " bytes that are kept of one"
        )
        for whose in sorted(unread)
    ]
