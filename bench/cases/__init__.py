"""The cases, one module each.

A case's docstring is its title and the paragraph that stands over its table; its ``NOTES`` stand
below it. It has ``SIZES`` and ``measure``. A new case is a module here, and its name in ``CASES``.
"""

import importlib
from collections.abc import Sequence
from typing import Final, Protocol, cast

from bench.figure import Figure
from bench.lab.lab import Lab

CASES: Final = (
    "storm",
    "drainers",
    "traffic",
    "webhook",
    "gate",
    "growth",
    "plan",
    "lists",
    "strangers",
    "options",
    "cold_start",
    "simulate",
    "worlds",
    "cost",
)
"""In the order of the page; the cost is reckoned from the others, so it is the last one."""


class Case(Protocol):
    """What a module of this package has."""

    NOTES: str
    SIZES: Sequence[str]
    __doc__: str

    def measure(self, lab: Lab, size: str) -> Sequence[Figure]:
        """One round in one size. Raises ValueError for a size that the case does not have."""


def load(name: str) -> Case:
    """A case by its name. Raises ValueError with the names of all for any other."""
    if name not in CASES:
        raise ValueError(f"no case {name!r}: name one of {', '.join(CASES)}")
    return cast("Case", importlib.import_module(f"bench.cases.{name}"))


def checked(case: Case, size: str) -> str:
    """A size that the case has."""
    if size not in case.SIZES:
        raise ValueError(f"no size {size!r}: name some of {', '.join(case.SIZES)}")
    return size
