"""The pause: while its ConfigMap exists, nothing in the cluster is touched."""

import itertools
from datetime import datetime, timedelta
from typing import NamedTuple

from evenkeel.errors import NotFoundError
from evenkeel.flows.reads import ask_for_one
from evenkeel.model import names
from evenkeel.model.request import Get
from evenkeel.model.surroundings import ConfigMap
from evenkeel.ports import Cluster, Reply

QUESTION = Get(ConfigMap, names.PAUSED, names.SYSTEM_NAMESPACE)
"""Whether Evenkeel is paused: NotFoundError means that it is not."""

STALE_AFTER = timedelta(seconds=1)
"""No write is made on an older answer, but for those that cannot wait."""

STALE_AFTER_FORCED = timedelta(seconds=10)
"""A forced eviction is sent on an answer as old as this: the pod's node dies anyway."""

ASK_AGAIN_AFTER = timedelta(milliseconds=400)
"""So that there is a fresh answer before the last one is stale."""

MOST_UNDER_WAY = 4
"""An API server that has not answered so many questions is not asked any more for now."""


def is_paused(cluster: Cluster) -> bool:
    """Ask once. Raises ClusterError if there is no answer: then nothing may be written."""
    return ask_for_one(cluster, QUESTION) is not None


class Asked(NamedTuple):
    """A question under way: the how manieth, and when it was sent."""

    number: int
    at: datetime


class PauseGate:
    """What is known of the pause, and since when. It asks nothing itself.

    An answer counts from when the question was sent: what happened after that is unknown.
    An API server is asked again before it has answered: else no write could be sent in between.
    """

    def __init__(self) -> None:
        self._paused = True
        self._known_at: datetime | None = None
        self._asked_at: datetime | None = None
        self._number = itertools.count()
        self._under_way: set[Asked] = set()
        self._heard = -1

    def should_ask(self, now: datetime) -> bool:
        """Whether the question should be sent now, answered or not when it was sent last."""
        if len(self._under_way) >= MOST_UNDER_WAY:
            return False
        return self._asked_at is None or not timedelta() <= now - self._asked_at < ASK_AGAIN_AFTER

    def ask(self, now: datetime) -> Asked:
        """Note that ``QUESTION`` is sent now; its reply is to be shown to ``heard`` with this."""
        asked = Asked(next(self._number), now)
        self._under_way.add(asked)
        self._asked_at = now
        return asked

    def heard(self, asked: Asked, reply: Reply) -> None:
        """Take note of the reply to a question.

        An error other than NotFoundError leaves all as it was, and so does an answer to a
        question that was sent before another which is answered already.
        """
        self._under_way.discard(asked)
        is_answer = reply.error is None or isinstance(reply.error, NotFoundError)
        if is_answer and asked.number > self._heard:
            self._heard = asked.number
            self._paused = reply.error is None
            self._known_at = asked.at

    def is_open(self, now: datetime, *, forced: bool = False) -> bool:
        """Whether a write may be made now: known to be not paused, and known recently."""
        if self._known_at is None or self._paused:
            return False
        stale_after = STALE_AFTER_FORCED if forced else STALE_AFTER
        return timedelta() <= now - self._known_at < stale_after  # clocks are set back, too

    @property
    def is_paused(self) -> bool:
        """Whether the last answer was that Evenkeel is paused."""
        return self._paused and self._known_at is not None
