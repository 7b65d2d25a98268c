"""Objects that are to be there as the manifests have them, or to be gone."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from evenkeel_cli.install.objects import Change, Objects, title
from evenkeel_cli.manifests import Manifest

MOST_NAMED: Final = 4


class Present:
    """All of these objects are in the cluster, as they are here."""

    def __init__(self, name: str, objects: Objects, documents: Sequence[Manifest]) -> None:
        """``name`` is the step's; the documents are in the order in which they can be made."""
        self.title = name
        self.documents = documents
        self._objects = objects

    def look(self) -> Sequence[str]:
        """What is missing, and what is not as in this checkout."""
        return told({title(each): self._objects.change(each) for each in self.documents})

    def do(self) -> None:
        """Apply them all."""
        for each in self.documents:
            self._objects.apply(each)


class Absent:
    """None of these objects is in the cluster."""

    def __init__(self, name: str, objects: Objects, documents: Sequence[Manifest]) -> None:
        """``name`` is the step's; the documents are in the order in which they are made."""
        self.title = name
        self._objects = objects
        self._documents = documents

    def look(self) -> Sequence[str]:
        """What is still there."""
        found = [title(each) for each in self._documents if self._objects.find(each) is not None]
        return [f"delete {listed(found)}"] if found else []

    def do(self) -> None:
        """Delete it, what was made last first."""
        for each in reversed(self._documents):
            self._objects.delete(each)


def told(changes: Mapping[str, Change]) -> Sequence[str]:
    """``make``, then ``change``, a line each: with all titles, or where they are many by kinds."""
    return [
        f"{change} {listed(titles)}"
        for change in (Change.MAKE, Change.CHANGE)
        if (titles := [each for each, found in changes.items() if found is change])
    ]


def listed(titles: Sequence[str]) -> str:
    """``ClusterRole a, ClusterRole b``; of many ``6 ClusterRole``."""
    if len(titles) <= MOST_NAMED:
        return ", ".join(titles)
    kinds = Counter(each.partition(" ")[0] for each in titles)
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items())
