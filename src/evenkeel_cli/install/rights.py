"""The rights of the functions' groups, the FlowSchema, and the policies."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from evenkeel_cli import manifests
from evenkeel_cli.install.objects import Change, Objects, title
from evenkeel_cli.install.policies import Policies
from evenkeel_cli.manifests import Manifest

MOST_NAMED: Final = 4


class Rights:
    """What manifests/ grants is in the cluster, and what holds the roles to it."""

    title = "rights"

    def __init__(self, objects: Objects, *, gate: bool, policies: Policies = Policies.NONE) -> None:
        """``gate``: those of the eviction gate, too."""
        self._objects = objects
        self._documents = wanted(gate=gate, policies=policies)

    def look(self) -> Sequence[str]:
        """What is missing, and what is not as in this checkout."""
        changes = {title(each): self._objects.change(each) for each in self._documents}
        return told(changes)

    def do(self) -> None:
        """Apply them all: the namespace stands first."""
        for each in self._documents:
            self._objects.apply(each)


def wanted(*, gate: bool, policies: Policies = Policies.NONE) -> Sequence[Manifest]:
    """The objects, in the order in which they can be made. Raises UnmetError."""
    of_gate = manifests.documents("gate") if gate else ()
    return [*manifests.documents("rbac"), *of_gate, *policies.documents]


def told(changes: dict[str, Change]) -> Sequence[str]:
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
