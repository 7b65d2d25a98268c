"""What Evenkeel's functions did in a storm, as Lambda would count it."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from evenkeel.model.decoding import decoded


class Invocation(msgspec.Struct, frozen=True, kw_only=True):
    """One invocation. ``handled`` and ``failed`` are ids of messages; the schedule has none.

    ``seconds`` is wall clock: it waited for the processor that all of them share, too.
    """

    function: str
    seconds: float
    handled: Sequence[str] = ()
    failed: Sequence[str] = ()


class Invocations(msgspec.Struct, frozen=True, kw_only=True):
    """What one function did. ``billed_ms``: each invocation rounded up, without cold starts."""

    count: int
    billed_ms: int
    longest_ms: int
    handled: int
    failed: int


def read(path: Path) -> Sequence[Invocation]:
    """The invocations in a file, in the order in which they ended."""
    return [decoded(Invocation, line) for line in path.read_bytes().splitlines()]


def total(invocations: Sequence[Invocation]) -> Mapping[str, Invocations]:
    """What each function did."""
    names = sorted({each.function for each in invocations})
    return {name: _sum([each for each in invocations if each.function == name]) for name in names}


def _sum(some: Sequence[Invocation]) -> Invocations:
    billed = [math.ceil(each.seconds * 1000) for each in some]
    return Invocations(
        count=len(some),
        billed_ms=sum(billed),
        longest_ms=max(billed),
        handled=sum(len(each.handled) for each in some),
        failed=sum(len(each.failed) for each in some),
    )
