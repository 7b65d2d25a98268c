"""The admission policy, which places pods where nothing answers the API server."""

from collections.abc import Sequence

from evenkeel.model.capacity import CapacityLabels
from evenkeel.settings import Mode
from evenkeel_cli.install import rights
from evenkeel_cli.install.absence import Absent
from evenkeel_cli.install.objects import Objects, title
from evenkeel_cli.manifests import Manifest
from evenkeel_cli.placement_policy import policy

MADE, BINDING = policy()


class Policed:
    """The policy is there, and bound where Evenkeel acts."""

    title = "policy"

    def __init__(
        self, objects: Objects, labels: CapacityLabels, *, mode: Mode, everywhere: bool
    ) -> None:
        """``labels`` tell which nodes are spot; ``everywhere``: all namespaces take part."""
        self._objects = objects
        self.documents = documents(labels, mode=mode, everywhere=everywhere)
        self._unbound = Absent(self.title, objects, [] if mode is Mode.ACT else [BINDING])

    def look(self) -> Sequence[str]:
        """What is missing or not as wanted."""
        changes = {title(each): self._objects.change(each) for each in self.documents}
        return [*rights.told(changes), *self._unbound.look()]

    def do(self) -> None:
        """Apply it."""
        for each in self.documents:
            self._objects.apply(each)
        self._unbound.do()


def documents(labels: CapacityLabels, *, mode: Mode, everywhere: bool) -> Sequence[Manifest]:
    """The policy, and what binds it. It changes no pod while it is not bound."""
    made, binding = policy(labels, all_namespaces=everywhere)
    return [made, binding] if mode is Mode.ACT else [made]


def absent(objects: Objects) -> Absent:
    """There is no policy."""
    return Absent(Policed.title, objects, policy())
