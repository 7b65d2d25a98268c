"""A walk: a part of a trace, and what it costs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from tests.trace.calls import PLANNING, Call, Sent, Step


@dataclass(frozen=True)
class Walk:
    """A part of the trace, and what it is about."""

    about: str
    steps: Sequence[Step]

    @cached_property
    def calls(self) -> Sequence[Call]:
        """The calls of the layer's functions."""
        return [step for step in self.steps if isinstance(step, Call)]

    @property
    def modules(self) -> Sequence[str]:
        """The modules, in the order in which they are visited first."""
        return list(dict.fromkeys(self._visits))

    @property
    def switches(self) -> int:
        """How often a call is followed by one in another module."""
        return len(self._visits) - 1

    @property
    def returns(self) -> int:
        """How many visits are to a module that was left before."""
        return len(self._visits) - len(self.modules)

    @property
    def plans(self) -> int:
        """How often a workload is planned."""
        return sum((call.module, call.function) == PLANNING for call in self.calls)

    @property
    def reads(self) -> int:
        """How many requests only read."""
        return sum(isinstance(step, Sent) and step.is_read for step in self.steps)

    @cached_property
    def _visits(self) -> Sequence[str]:
        """A module for each time that it is come to, until it is left."""
        return [module for module, _ in groupby(call.module for call in self.calls)]
