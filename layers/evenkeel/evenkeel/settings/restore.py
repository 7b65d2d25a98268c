"""Settings of the function that brings workloads back to their floors."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Final, Self

from evenkeel.model.capacity import CapacityLabels
from evenkeel.settings.shared import (
    CAPACITY_LABELS,
    CLUSTER_NAME,
    MODE,
    NAMESPACES,
    WAKE_UP_QUEUE_URL,
    Mode,
)
from evenkeel.settings.variable import read, seconds, whole

LONGEST_RESTORE: Final = timedelta(seconds=90)
"""The restore function is stopped after 120 s: 30 s stay for what is under way."""

RESTORE_MOVES: Final = whole(
    "EVENKEEL_RESTORE_MOVES",
    "How many pods one run moves at most, of each workload one.",
    50,
    lowest=1,
    highest=1_000,
)

RESTORE_PATIENCE: Final = seconds(
    "EVENKEEL_RESTORE_PATIENCE_SECONDS",
    "How long a moved pod's replacement may take to be available where it has to be.",
    300,
    lowest=30,
    highest=840,
)

RELAX_AFTER: Final = seconds(
    "EVENKEEL_RELAX_FLOOR_AFTER_SECONDS",
    "How long a pod of a floor waits for an on-demand node before it may go to spot.",
    300,
    lowest=30,
    highest=86_400,
)

RELAXED_FOR: Final = seconds(
    "EVENKEEL_RELAXED_FLOOR_SECONDS",
    "How long a floor stays relaxed; extended while no on-demand node has room.",
    1_800,
    lowest=120,
    highest=86_400,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreSettings:
    """Settings of the function that brings workloads back to their floors.

    ``everywhere``: namespaces take part without the label.
    """

    mode: Annotated[Mode, MODE]
    cluster_name: Annotated[str, CLUSTER_NAME]
    everywhere: Annotated[bool, NAMESPACES] = NAMESPACES.usual
    capacity_labels: Annotated[CapacityLabels, CAPACITY_LABELS] = CAPACITY_LABELS.usual
    moves: Annotated[int, RESTORE_MOVES] = RESTORE_MOVES.usual
    patience: Annotated[timedelta, RESTORE_PATIENCE] = RESTORE_PATIENCE.usual
    relax_after: Annotated[timedelta, RELAX_AFTER] = RELAX_AFTER.usual
    relaxed_for: Annotated[timedelta, RELAXED_FOR] = RELAXED_FOR.usual
    wake_up_queue_url: Annotated[str, WAKE_UP_QUEUE_URL] = ""

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Read them. Raises SettingsError."""
        return read(cls, environ)
