"""Which cluster a command reads, as a person names it: a real one, a snapshot, the built-in one."""

from dataclasses import dataclass, field
from typing import Final

from evenkeel.model.capacity import CapacityLabels
from evenkeel_cli import capacity
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.targets import Target

MORE_THAN_ONE: Final = "more than one cluster is named: keep one of them"


@dataclass(frozen=True, slots=True)
class Source:
    """One of these; a real one, the kubeconfig's current context, where none is named."""

    target: Target = field(default_factory=Target)
    snapshot: str | None = None
    built_in: bool = False

    @property
    def real(self) -> Target | None:
        """The real cluster; None where it is another one."""
        return None if self.snapshot is not None or self.built_in else self.target

    def __str__(self) -> str:
        """How to call it in a message."""
        if self.built_in:
            return "the built-in cluster"
        return f"the snapshot {self.snapshot}" if self.snapshot else str(self.target)

    def check(self) -> None:
        """Raise BadInputError where more than one is named."""
        named = (self.target.is_named, self.snapshot is not None, self.built_in)
        if named.count(True) > 1:
            raise BadInputError(MORE_THAN_ONE)

    def changed(self) -> Target:
        """The real cluster, for ``--apply``. Raises BadInputError where it is another one."""
        self.check()
        if self.real is None:
            raise BadInputError("only a real cluster can be changed: leave --apply away")
        return self.real

    @property
    def cluster_name(self) -> str:
        """The name of a real cluster; empty for another one. Raises BadInputError."""
        return self.real.look().cluster_name if self.real is not None else ""

    def labels(self) -> CapacityLabels:
        """The node labels that tell the capacity type there. Raises BadInputError."""
        return capacity.labels(built_in=self.built_in)

    def namespace(self, named: str | None, *, all_namespaces: bool) -> str:
        """The namespace that was named, else a real cluster's context's; empty for all.

        Raises BadInputError where both are named, or the kubeconfig cannot be read.
        """
        chosen = chosen_namespace(named, all_namespaces=all_namespaces)
        if named is None and not all_namespaces and self.real is not None:
            return self.real.look().namespace
        return chosen


def chosen_namespace(named: str | None, *, all_namespaces: bool) -> str:
    """The namespace that was named, where all count else; empty for all. Raises BadInputError."""
    if all_namespaces and named is not None:
        raise BadInputError("-A and -n contradict each other: keep one of them")
    return named or ""
