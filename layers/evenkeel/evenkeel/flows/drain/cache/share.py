"""Which pods are one reconciler's own, and how much of all that is to be done."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from evenkeel.model.division import UNDIVIDED, Division
from evenkeel.model.node_bound import is_of_node
from evenkeel.model.pod import Pod


class Share:
    """The part that the reconciler of a number has by a division."""

    def __init__(self, division: Division = UNDIVIDED, number: int = 0) -> None:
        """``number``: see ``Division``."""
        self.number = number
        self._listed: dict[str, tuple[int, int]] = {}  # by node: its own pods, and all
        self._own = self._every = 0  # on all these nodes together
        self._others_on = set[str]()
        self.divide(division)

    def divide(self, division: Division) -> None:
        """From now on it is a part by this division."""
        self.division = division
        self.is_divided = division.of > 1

    def has(self, pod: Pod) -> bool:
        """Whether a pod is the reconciler's own."""
        return self.division.number_of(pod) == self.number

    def listed(self, node_name: str, pods: Iterable[Pod]) -> None:
        """These are the pods of a doomed node."""
        if self.is_divided:
            there = [pod for pod in pods if is_to_go(pod)]
            own, every = sum(map(self.has, there)), len(there)
            own_before, every_before = self._listed.get(node_name, (0, 0))
            self._own += own - own_before
            self._every += every - every_before
            self._listed[node_name] = own, every
            if own < every:
                self._others_on.add(node_name)
            else:
                self._others_on.discard(node_name)

    @property
    def others_on(self) -> AbstractSet[str]:
        """The nodes on which other reconcilers' pods were, when they were listed last."""
        return self._others_on

    @property
    def part(self) -> float:
        """Its part of all pods of doomed nodes, as far as they were listed: above 0, at most 1."""
        return max(self._own, 1) / self._every if self._every else 1 / self.division.of


def is_to_go(pod: Pod) -> bool:
    """Whether a pod of a doomed node is work for somebody: not one that stays with its node."""
    return pod.active and not is_of_node(pod)
