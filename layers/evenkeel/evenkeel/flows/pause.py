"""The pause: while its ConfigMap exists, nothing in the cluster is touched."""

from datetime import datetime, timedelta

from evenkeel.errors import NotFoundError
from evenkeel.flows.asking import ask_for_one
from evenkeel.model import names
from evenkeel.model.request import Get
from evenkeel.model.surroundings import ConfigMap
from evenkeel.ports import Cluster, Reply

QUESTION = Get(ConfigMap, names.PAUSED, names.SYSTEM_NAMESPACE)
"""Whether Evenkeel is paused: NotFoundError means that it is not."""

STALE_AFTER = timedelta(seconds=1)
"""No write is made on an older answer."""

ASK_AGAIN_AFTER = timedelta(milliseconds=500)
"""So that there is a fresh answer before the last one is stale."""


def is_paused(cluster: Cluster) -> bool:
    """Ask once. Raises ClusterError if there is no answer: then nothing may be written."""
    return ask_for_one(cluster, QUESTION) is not None


class PauseGate:
    """What is known of the pause, and since when. It asks nothing itself.

    An answer counts from when the question was sent: what happened after that is unknown.
    An API server that is slower than ASK_AGAIN_AFTER cannot be known that well. Its answer
    counts from so long before it came; else nothing could be written at all while pods die.
    """

    def __init__(self) -> None:
        """Nothing is known yet, so the gate is shut."""
        self._paused = True
        self._known_at: datetime | None = None
        self._asked_at: datetime | None = None
        self._is_asking = False

    def should_ask(self, now: datetime) -> bool:
        """Whether the question should be sent now, answered or not when it was sent last.

        At most one is under way.
        """
        if self._is_asking:
            return False
        return self._asked_at is None or not timedelta() <= now - self._asked_at < ASK_AGAIN_AFTER

    def asked(self, now: datetime) -> None:
        """The question is under way."""
        self._asked_at, self._is_asking = now, True

    def heard(self, reply: Reply, now: datetime) -> None:
        """The answer arrived. An error other than NotFoundError leaves all as it was."""
        self._is_asking = False
        if reply.error is None or isinstance(reply.error, NotFoundError):
            self._paused = reply.error is None
            self._known_at = max(self._asked_at or now, now - ASK_AGAIN_AFTER)

    def is_open(self, now: datetime) -> bool:
        """Whether a write may be made now: known to be not paused, and known recently."""
        if self._known_at is None or self._paused:
            return False
        return timedelta() <= now - self._known_at < STALE_AFTER  # clocks are set back, too

    @property
    def is_paused(self) -> bool:
        """Whether the last answer was that Evenkeel is paused."""
        return self._paused and self._known_at is not None
