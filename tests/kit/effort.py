"""What a piece of work costs, the same on every machine: steps of Python code, and memory.

A step is a call, a branch or a jump in the code of ``evenkeel`` or ``evenkeel_cli``: each turn of a
loop is one at least. What C code does in one call, such as ``sorted``, is no step; it shows in the
memory, or in the calls that it makes.
"""

import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Final

import evenkeel
import evenkeel_cli

TOOL: Final = 4
"""One of sys.monitoring's numbers that is free: coverage has 1, hypothesis 3."""

_PACKAGES: Final = (evenkeel, evenkeel_cli)
_MEASURED: Final = tuple(str(Path(each.__file__ or "").parent) for each in _PACKAGES)


@dataclass
class Effort:
    """So many steps, and so many bytes more than before at the worst moment."""

    steps: int = 0
    memory: int = 0


@contextmanager
def measured() -> Iterator[Effort]:
    """Measure what is done inside, by all threads; it is known afterwards."""
    effort = Effort()
    monitoring = sys.monitoring
    events = monitoring.events

    def step(code: CodeType, *_: object) -> object:
        if not code.co_filename.startswith(_MEASURED):
            return monitoring.DISABLE
        effort.steps += 1
        return None

    counted = (events.PY_START, events.PY_RESUME, events.JUMP, events.BRANCH)
    monitoring.use_tool_id(TOOL, "effort")
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for event in counted:
            monitoring.register_callback(TOOL, event, step)
        monitoring.restart_events()
        monitoring.set_events(TOOL, sum(counted))
        yield effort
    finally:
        monitoring.set_events(TOOL, 0)
        effort.memory = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()
        monitoring.free_tool_id(TOOL)
