"""Which doomed nodes' pods are read, and which are read again and again."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from evenkeel.flows import selections
from evenkeel.flows.drain.cache.facts import SOON_AGAIN_AFTER, Facts
from evenkeel.flows.drain.cache.nodes import MarkedNodes
from evenkeel.flows.drain.queue import NODES


class Candidates:
    """The nodes' plan depends on the pods of each doomed node: what no watch shows is read."""

    def __init__(self, facts: Facts, nodes: MarkedNodes) -> None:
        """``facts`` has what is read, and how old it is."""
        self._facts = facts
        self._nodes = nodes
        self._again: AbstractSet[str] = frozenset()

    def need(self, names: Iterable[str]) -> None:
        """Read the pods of these nodes while they are doomed."""
        for name in names:
            fact = selections.candidates_on(name)
            if name in self._nodes.dooms:
                self._facts.add(NODES, fact, SOON_AGAIN_AFTER if name in self._again else None)
            else:
                self._facts.drop(NODES, fact)

    def need_again(self, names: AbstractSet[str]) -> None:
        """Read the pods of these nodes, and of no others, again and again."""
        changed = names ^ self._again
        self._again = names
        self.need(changed)

    @property
    def unread(self) -> frozenset[str]:
        """The doomed nodes whose pods were not read yet."""
        has_all = self._facts.has_all
        if not self._facts.are_missing:
            return frozenset()
        dooms = self._nodes.dooms
        return frozenset(each for each in dooms if not has_all([selections.candidates_on(each)]))
