"""Workloads about which every write is refused or undone: they rest ever longer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from evenkeel.decisions.restore.snapshot import NotTaken
from evenkeel.errors import (
    AlreadyExistsError,
    ClusterError,
    ConflictError,
    NotFoundError,
    ThrottledError,
    UnauthenticatedError,
)
from evenkeel.model.decision import Decision
from evenkeel.model.release import FORGOTTEN_AFTER, rest_after

TRIES: Final = 2
"""A write is not taken that is refused in the same way in so many runs in a row."""

_SAYS_NOTHING: Final = (
    AlreadyExistsError,
    ConflictError,
    NotFoundError,
    ThrottledError,
    UnauthenticatedError,
)
"""Others were faster, or the API server is busy: neither says anything of the write."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    """So many writes in a row were refused in one way; none is made before ``until``."""

    kind: type[ClusterError]
    times: int
    words: str
    until: datetime


class RefusedWorkloads:
    """What is known of refusals from run to run. A new process tries again, and learns it anew."""

    def __init__(self) -> None:
        """Nothing was refused yet."""
        self._known: dict[str, _Refusal] = {}

    def resting(self, now: datetime) -> Mapping[str, NotTaken]:
        """The workloads about which nothing is written now, by key."""
        known = self._known.items()
        self._known = {key: each for key, each in known if now < each.until + FORGOTTEN_AFTER}
        return {
            key: NotTaken(words=each.words, until=each.until)
            for key, each in self._known.items()
            if now < each.until
        }

    def heard(
        self,
        done: Iterable[str],
        refused: Mapping[str, tuple[Decision, ClusterError]],
        now: datetime,
    ) -> int:
        """What came of a run's steps, by their workloads; how many begin to rest.

        A workload rests as after so many failed moves.
        """
        for key in done:
            self._known.pop(key, None)
        beginning = 0
        for key, (decision, error) in refused.items():
            if isinstance(error, _SAYS_NOTHING):
                continue
            last = self._known.get(key)
            times = last.times + 1 if last is not None and last.kind is type(error) else 1
            beyond = times - TRIES
            until = now + rest_after(beyond + 1) if beyond >= 0 else now
            words = f"{decision.verb} is not taken: {error}"
            self._known[key] = _Refusal(type(error), times, words, until)
            beginning += beyond == 0
        return beginning
