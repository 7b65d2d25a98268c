"""What the memory of Evenkeel's processes has in it."""

import gc
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Final

WORLD: Final = ("evenkeel_sandbox", "tests")
"""The packages of what is around Evenkeel in a test."""


def held_by(*roots: object) -> Iterator[object]:
    """All Python objects that these hold on to, but for the world's and what modules have."""
    gc.collect()
    seen = {id(vars(module)) for module in list(sys.modules.values())}
    waiting = list(roots)
    while waiting:
        each = waiting.pop()
        is_world = type(each).__module__.startswith(WORLD)
        if id(each) in seen or is_world or isinstance(each, type | ModuleType):
            continue
        seen.add(id(each))
        yield each
        waiting += gc.get_referents(each)
