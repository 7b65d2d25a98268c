"""Settings of the eviction gate."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Self

from evenkeel.settings import shared
from evenkeel.settings.shared import Mode
from evenkeel.settings.values import one_of, seconds

GATE: Final = "EVENKEEL_GATE"
PATIENCE: Final = "EVENKEEL_GATE_PATIENCE_SECONDS"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings:
    """Settings of the eviction gate.

    ``everywhere``: all managed namespaces are gated, without the label ``evenkeel.dev/gate=true``.
    An eviction waits ``patience`` for a replacement at most, and in a crowd as long for its turn
    before that. ``window`` pods may be released and without a replacement at a time.
    """

    mode: Mode
    everywhere: bool = False
    patience: timedelta = timedelta(minutes=5)
    window: int = 100

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Read them. Raises SettingsError."""
        return cls(
            mode=shared.mode(environ),
            everywhere=one_of(environ, GATE, "labelled", "managed") == "managed",
            patience=seconds(
                environ,
                PATIENCE,
                timedelta(minutes=5),
                timedelta(seconds=30),
                timedelta(minutes=15),
            ),
            window=shared.window(environ),
        )
