"""Times on the command line."""

from datetime import timedelta
from typing import Any

import click

from evenkeel.model.times import go_duration


class Duration(click.ParamType[timedelta]):
    """A time as kubectl takes it: 90s, 15m, 1h30m."""

    name = "duration"

    def __init__(self, shortest: timedelta, longest: timedelta) -> None:
        """Bounds that a time is held to, themselves among them."""
        self._shortest = shortest
        self._longest = longest

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        """Read it, and hold it to the bounds."""
        time = go_duration(value.strip())
        if time is None:
            self.fail(f"{value!r} is no time such as 15m or 1h30m", param, ctx)
        if not self._shortest <= time <= self._longest:
            bounds = f"{short(self._shortest)} to {short(self._longest)}"
            self.fail(f"{value} is not from {bounds}", param, ctx)
        return time


def short(time: timedelta) -> str:
    """``12h``, ``90m``, ``0s``: in the largest unit that is whole."""
    seconds = int(time.total_seconds())
    for unit, size in (("h", 3600), ("m", 60)):
        if seconds and seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
