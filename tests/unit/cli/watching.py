"""Somebody who follows what a command shows, for a while of simulated time."""

import io
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from rich.console import Console

from evenkeel_cli.console import PlainConsole
from evenkeel_cli.following import Seen, follow
from evenkeel_cli.output import Output
from tests.kit.scene import Scene

type Look = Callable[[], Seen]


class Watched:
    """The clock of a person who looks on for a while, and then has seen enough."""

    def __init__(self, scene: Scene, pauses: int) -> None:
        self._scene = scene
        self._left = pauses
        self.pauses: list[timedelta] = []

    def now(self) -> datetime:
        return self._scene.clock.now()

    def boot(self) -> timedelta:
        return self._scene.clock.boot()

    def sleep(self, duration: timedelta) -> None:
        self.pauses.append(duration)
        if not self._left:
            raise KeyboardInterrupt
        self._left -= 1
        self._scene.clock.advance(duration)


def watch(
    scene: Scene, pauses: int, look: Look, form: str = "table", console: Console | None = None
) -> Watched:
    """Follow for so many pauses."""
    clock = Watched(scene, pauses)
    output = Output(form, console or PlainConsole(file=io.StringIO()))
    with pytest.raises(KeyboardInterrupt):
        follow(output, clock, look)
    return clock
