"""Settings of the eviction gate."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Final

from evenkeel.settings.shared import MODE, WINDOW, Mode
from evenkeel.settings.variable import Settings, one_of, seconds

GATE: Final = one_of(
    "EVENKEEL_GATE",
    "In which namespaces evictions wait: those with the label evenkeel.dev/gate=true, or all"
    " managed ones.",
    "labelled",
    "managed",
    yes="managed",
)

PATIENCE: Final = seconds(
    "EVENKEEL_GATE_PATIENCE_SECONDS",
    "How long an eviction waits for its pod's replacement before it passes without, and in a crowd"
    " as long for its turn before that.",
    300,
    lowest=30,
    highest=900,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings(Settings):
    """Settings of the eviction gate; ``everywhere``: all managed namespaces are gated."""

    mode: Annotated[Mode, MODE]
    everywhere: Annotated[bool, GATE] = GATE.usual
    patience: Annotated[timedelta, PATIENCE] = PATIENCE.usual
    window: Annotated[int, WINDOW] = WINDOW.usual
