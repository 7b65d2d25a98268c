"""Settings: one frozen class per function, read once from the environment.

A function that lacks one fails at its cold start with the variable's name and what it should
look like. Nothing else reads the environment. A new setting is a ``Variable`` where its function's
class is, or in ``shared`` if several have it, and the annotation of a field in that class.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Final

from evenkeel.settings.connection import ConnectionSettings
from evenkeel.settings.gate import GateSettings
from evenkeel.settings.handover import HANDOVER_TIMEOUT, HandoverSettings
from evenkeel.settings.interruption import InterruptionSettings
from evenkeel.settings.placement import WEBHOOK_REQUEST, PlacementSettings
from evenkeel.settings.restore import LONGEST_RESTORE, RestoreSettings
from evenkeel.settings.shared import Mode
from evenkeel.settings.variable import variables

__all__ = [
    "HANDOVER_TIMEOUT",
    "LONGEST_RESTORE",
    "WEBHOOK_REQUEST",
    "ConnectionSettings",
    "GateSettings",
    "HandoverSettings",
    "InterruptionSettings",
    "Mode",
    "PlacementSettings",
    "RestoreSettings",
    "environment",
    "unknown",
]


CLASSES: Final = (
    ConnectionSettings,
    GateSettings,
    HandoverSettings,
    InterruptionSettings,
    PlacementSettings,
    RestoreSettings,
)


def unknown(environ: Mapping[str, str]) -> Sequence[str]:
    """The variables that are named as Evenkeel's are, and that no function reads any more."""
    known = {each for settings in CLASSES for each in variables(settings).values()}
    return sorted(name for name in environ if name.startswith("EVENKEEL_") and name not in known)


def environment() -> Mapping[str, str]:
    """The process's environment, for the ``from_environment`` methods."""
    return os.environ  # noqa: TID251 - here, and nowhere else
