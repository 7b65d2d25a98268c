"""Which reasons a module of decisions gives, by its text."""

import inspect
import re
from types import ModuleType
from typing import Final

from evenkeel.decisions.drain import two_at_once
from evenkeel.model.reasons import Reason


def given_in(module: ModuleType) -> frozenset[Reason]:
    """The reasons that a module names."""
    return frozenset(
        Reason[name] for name in re.findall(r"\bReason\.([A-Z0-9_]+)\b", inspect.getsource(module))
    )


RULING_OUT: Final = given_in(two_at_once)
"""The reasons for which a pod and its replacement do not run at the same time."""
