"""What the layer calls, in order, while a story is told."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Final

import evenkeel
from evenkeel.model.request import Get, List, Request
from evenkeel.ports import Arrival
from evenkeel_sandbox.simulator.session import SimulatedSession

LAYER: Final = Path(evenkeel.__file__).parent
LEFT_OUT: Final = ("model/", "errors", "ports", "settings/", "adapters/telemetry/")
"""What every module uses, and says nothing about the way of a value."""

PLANNING: Final = ("flows/drain/workload/planning", "Planner.plan")

TOOL: Final = sys.monitoring.PROFILER_ID
EVENTS: Final = sys.monitoring.events


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function of the layer: its module, as a path below the layer, and its name."""

    module: str
    function: str


@dataclass(frozen=True, slots=True)
class Arrived:
    """A turn begins: the session's mailbox has handed these over, perhaps none."""

    arrivals: Sequence[Arrival]


@dataclass(frozen=True, slots=True)
class Sent:
    """A request goes to the API server."""

    request: Request

    @property
    def is_read(self) -> bool:
        """Whether it only reads."""
        return isinstance(self.request, Get | List)


@dataclass(frozen=True, slots=True)
class Said:
    """The story's own word about where it is."""

    word: str


type Step = Call | Arrived | Sent | Said


@dataclass
class Trace:
    """All steps in the order in which they came."""

    steps: list[Step] = field(default_factory=list)
    _modules: dict[CodeType, str] = field(default_factory=dict)

    def say(self, word: str) -> None:
        """Note where the story is."""
        self.steps.append(Said(word))

    @contextmanager
    def on(self) -> Iterator[None]:
        """Note all steps meanwhile."""
        monitoring = sys.monitoring
        monitoring.use_tool_id(TOOL, "trace")
        monitoring.register_callback(TOOL, EVENTS.PY_START, self._started)
        monitoring.register_callback(TOOL, EVENTS.PY_RETURN, self._returned)
        monitoring.set_events(TOOL, EVENTS.PY_START | EVENTS.PY_RETURN)
        try:
            yield
        finally:
            monitoring.set_events(TOOL, EVENTS.NO_EVENTS)
            for event in (EVENTS.PY_START, EVENTS.PY_RETURN):
                monitoring.register_callback(TOOL, event, None)
            monitoring.free_tool_id(TOOL)

    def _started(self, code: CodeType, _offset: int) -> object:
        if code is _code(SimulatedSession.send):
            self.steps.append(Sent(sys._getframe(1).f_locals["request"]))
            return None
        module = self._module(code)
        if not module:
            return sys.monitoring.DISABLE
        self.steps.append(Call(module, code.co_qualname))
        return None

    def _returned(self, code: CodeType, _offset: int, value: object) -> object:
        if code is not _code(SimulatedSession.next):
            return sys.monitoring.DISABLE
        assert isinstance(value, list)
        self.steps.append(Arrived(tuple(value)))
        return None

    def _module(self, code: CodeType) -> str:
        """The module of a function of the layer; empty for others, and for those left out."""
        if code not in self._modules:
            file = Path(code.co_filename)
            is_ours = file.is_relative_to(LAYER)
            module = file.relative_to(LAYER).with_suffix("").as_posix() if is_ours else ""
            self._modules[code] = "" if module.startswith(LEFT_OUT) else module
        return self._modules[code]


def _code(function: Callable[..., object]) -> CodeType:
    code: CodeType = function.__code__
    return code
