"""Settings of the function that brings workloads back to their floors."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Final

from evenkeel.model.move import PER_RUN
from evenkeel.settings.shared import (
    DEFAULT_FLOORS,
    NAMESPACES,
    WAKE_UP_QUEUE_URL,
    FunctionSettings,
)
from evenkeel.settings.variable import whole

LONGEST_RESTORE: Final = timedelta(seconds=90)
"""The restore function is stopped after 120 s: 30 s remain for requests under way."""

RESTORE_MOVES: Final = whole(
    "EVENKEEL_RESTORE_MOVES",
    "How many pods one run moves at most, of each workload one.",
    PER_RUN,
    lowest=1,
    highest=1_000,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreSettings(FunctionSettings):
    """Settings of the function that brings workloads back to their floors.

    ``everywhere``: namespaces take part without the label.
    ``defaults_required``: default floors are required.
    """

    everywhere: Annotated[bool, NAMESPACES] = NAMESPACES.usual
    defaults_required: Annotated[bool, DEFAULT_FLOORS] = DEFAULT_FLOORS.usual
    moves: Annotated[int, RESTORE_MOVES] = RESTORE_MOVES.usual
    wake_up_queue_url: Annotated[str, WAKE_UP_QUEUE_URL] = ""
