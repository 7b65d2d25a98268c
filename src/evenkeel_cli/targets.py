"""The real cluster that a command is about."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from evenkeel.adapters.kubernetes import RestCluster
from evenkeel.adapters.kubernetes.endpoint import BUDGET
from evenkeel.adapters.kubernetes.transport import SILENT
from evenkeel.errors import SettingsError
from evenkeel.ports import Journal
from evenkeel_cli.errors import BadInputError
from evenkeel_runtime.kubeconfig import contexts, facts, from_kubeconfig
from evenkeel_runtime.kubeconfig.context import ContextFacts

PATIENCE: Final = timedelta(seconds=2)
"""How long a person waits to learn that no server answers. The functions wait longer."""


@dataclass(frozen=True, slots=True)
class Target:
    """Which cluster: a kubeconfig's context; None is kubectl's default for each."""

    context: str | None = None
    kubeconfig: Path | None = None

    @property
    def is_named(self) -> bool:
        """Whether the person named a cluster at all."""
        return self.context is not None or self.kubeconfig is not None

    def __str__(self) -> str:
        """How to call it in a message."""
        return f"context {self.context}" if self.context else "the current context"

    def contexts(self) -> Sequence[str]:
        """The names of the contexts that the kubeconfig has. Raises BadInputError."""
        path = None if self.kubeconfig is None else str(self.kubeconfig)
        try:
            return contexts(path)
        except SettingsError as error:
            raise BadInputError(str(error)) from None

    def look(self) -> ContextFacts:
        """What the kubeconfig says of it; nothing is sent. Raises BadInputError."""
        path = None if self.kubeconfig is None else str(self.kubeconfig)
        try:
            return facts(self.context, path)
        except SettingsError as error:
            raise BadInputError(str(error)) from None

    def connect(self, *, budget: timedelta = BUDGET, journal: Journal = SILENT) -> RestCluster:
        """Open the cluster; nothing is sent yet. Raises BadInputError.

        ``budget`` is the time of one request with all its tries. ``journal`` gets a line
        where the API server refuses the credentials or an object cannot be read.
        """
        path = None if self.kubeconfig is None else str(self.kubeconfig)
        try:
            return from_kubeconfig(
                self.context, path, first=PATIENCE, budget=budget, journal=journal
            )
        except SettingsError as error:
            raise BadInputError(str(error)) from None
