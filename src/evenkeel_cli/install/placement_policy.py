"""The admission policy, which places pods where nothing answers the API server."""

from collections.abc import Sequence
from typing import Final, override

from evenkeel.model.capacity import CapacityLabels
from evenkeel.settings import Mode
from evenkeel_cli.install.objects import Objects
from evenkeel_cli.install.presence import Absent, Present
from evenkeel_cli.manifests import Manifest
from evenkeel_cli.placement_policy import policy

TITLE: Final = "policy"
MADE, BINDING = policy()


class Policed(Present):
    """The policy is there, and bound where Evenkeel acts."""

    def __init__(
        self, objects: Objects, labels: CapacityLabels, *, mode: Mode, everywhere: bool
    ) -> None:
        """``labels`` tell which nodes are spot; ``everywhere``: all namespaces take part."""
        super().__init__(TITLE, objects, documents(labels, mode=mode, everywhere=everywhere))
        self._unbound = Absent(TITLE, objects, [] if mode is Mode.ACT else [BINDING])

    @override
    def look(self) -> Sequence[str]:
        """What is missing or not as wanted."""
        return [*super().look(), *self._unbound.look()]

    @override
    def do(self) -> None:
        """Apply it."""
        super().do()
        self._unbound.do()


def documents(labels: CapacityLabels, *, mode: Mode, everywhere: bool) -> Sequence[Manifest]:
    """The policy, and what binds it. It changes no pod while it is not bound."""
    made, binding = policy(labels, all_namespaces=everywhere)
    return [made, binding] if mode is Mode.ACT else [made]


def absent(objects: Objects) -> Absent:
    """There is no policy."""
    return Absent(TITLE, objects, policy())
