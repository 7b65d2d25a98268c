"""What a container does between the end of its pod and its SIGTERM."""

import re
from datetime import timedelta
from typing import Final

from evenkeel.model.meta import ApiStruct
from evenkeel.model.times import span

SECONDS: Final = "^[0-9]{1,4}s$"
"""How the annotation ``evenkeel.dev/pre-stop-sleep`` says how long, to webhook and policy alike."""


class SleepAction(ApiStruct, frozen=True, kw_only=True):
    """A hook that sleeps (KEP-3960): stable since Kubernetes 1.34, on by default since 1.30."""

    seconds: int = 0


class Handler(ApiStruct, frozen=True, kw_only=True):
    """A hook; ``sleep`` None: it does something else."""

    sleep: SleepAction | None = None


class Lifecycle(ApiStruct, frozen=True, kw_only=True):
    """The hooks of a container, as far as Evenkeel reads them."""

    pre_stop: Handler | None = None

    @property
    def sleeps(self) -> timedelta:
        """How long the container sleeps before its SIGTERM."""
        sleep = self.pre_stop.sleep if self.pre_stop is not None else None
        return span(sleep.seconds) if sleep is not None else timedelta()


def read(text: str) -> timedelta | None:
    """How long a container is to sleep; None for a text that does not say it."""
    return timedelta(seconds=int(text[:-1])) if re.fullmatch(SECONDS, text) else None
