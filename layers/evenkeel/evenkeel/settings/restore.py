"""Settings of the function that brings workloads back to their floors."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Self

from evenkeel.model.capacity import WELL_KNOWN, CapacityLabels
from evenkeel.settings import shared
from evenkeel.settings.shared import Mode
from evenkeel.settings.values import seconds, whole

RESTORE_MOVES: Final = "EVENKEEL_RESTORE_MOVES"
RESTORE_PATIENCE: Final = "EVENKEEL_RESTORE_PATIENCE_SECONDS"
RELAX_AFTER: Final = "EVENKEEL_RELAX_FLOOR_AFTER_SECONDS"
RELAXED_FOR: Final = "EVENKEEL_RELAXED_FLOOR_SECONDS"

LONGEST_RESTORE: Final = timedelta(seconds=90)
"""The restore function is stopped after 120 s: 30 s stay for what is under way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreSettings:
    """Settings of the function that brings workloads back to their floors.

    ``everywhere``: namespaces take part without the label ``evenkeel.dev/managed=true``, too.
    ``capacity_labels`` tell which nodes are spot. One run moves ``moves`` pods at most. A moved pod
    goes back when its replacement is not available where it has to be after ``patience``. A pod of
    a floor that waits for an on-demand node for ``relax_after`` may go to spot; that holds for
    ``relaxed_for``, and is said again while needed.
    """

    mode: Mode
    cluster_name: str
    everywhere: bool = False
    capacity_labels: CapacityLabels = WELL_KNOWN
    moves: int = 50
    patience: timedelta = timedelta(minutes=5)
    relax_after: timedelta = timedelta(minutes=5)
    relaxed_for: timedelta = timedelta(minutes=30)
    wake_up_queue_url: str = ""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Read them. Raises SettingsError."""
        minute = timedelta(minutes=1)
        return cls(
            mode=shared.mode(environ),
            cluster_name=shared.cluster_name(environ),
            everywhere=shared.everywhere(environ),
            capacity_labels=shared.capacity_labels(environ),
            moves=whole(environ, RESTORE_MOVES, default=50, lowest=1, highest=1_000),
            patience=seconds(environ, RESTORE_PATIENCE, 5 * minute, minute / 2, 14 * minute),
            relax_after=seconds(environ, RELAX_AFTER, 5 * minute, minute / 2, 1_440 * minute),
            relaxed_for=seconds(environ, RELAXED_FOR, 30 * minute, 2 * minute, 1_440 * minute),
            wake_up_queue_url=shared.queue_url(environ, shared.WAKE_UP_QUEUE_URL),
        )
