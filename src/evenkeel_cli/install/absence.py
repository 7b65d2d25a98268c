"""Objects that are to be gone."""

from collections.abc import Sequence

from evenkeel_cli.install.objects import Objects, title
from evenkeel_cli.install.rights import listed
from evenkeel_cli.manifests import Manifest


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
