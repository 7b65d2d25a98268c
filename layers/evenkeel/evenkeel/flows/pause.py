"""The pause: while its ConfigMap exists, nothing in the cluster is touched."""

import itertools
from datetime import datetime, timedelta
from typing import NamedTuple

from evenkeel.errors import NotFoundError
from evenkeel.flows.reads import ask_for_one
from evenkeel.model import names
from evenkeel.model.cluster_objects import ConfigMap
from evenkeel.model.request import Get
from evenkeel.ports import Cluster, Reply

QUESTION = Get(ConfigMap, names.PAUSED, names.SYSTEM_NAMESPACE)
"""Whether Evenkeel is paused: NotFoundError means that it is not."""

STALE_AFTER = timedelta(seconds=1)
"""No write but a forced eviction is sent on an older answer."""

STALE_AFTER_FORCED = timedelta(seconds=10)
"""A forced eviction is sent on an answer up to this old: the pod's node dies anyway."""

ASK_AGAIN_AFTER = timedelta(milliseconds=400)
"""Time between two questions: a fresh answer comes before the last one is stale."""

MOST_UNDER_WAY = 4
"""While so many questions have no reply, no other is sent."""


def is_paused(cluster: Cluster) -> bool:
    """Ask once. Raises ClusterError if there is no answer: then nothing may be written."""
    return ask_for_one(cluster, QUESTION) is not None


class Asked(NamedTuple):
    """A question under way: its number, in the order of sending, and when it was sent."""

    number: int
    at: datetime


class PauseGate:
    """Whether Evenkeel is paused, and as of when that is known. It sends nothing itself.

    An answer is as old as its question: what happened after that is unknown. The next question is
    sent before the last one is answered: else no write could be sent in between.
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
        """Take the reply to a question.

        An error other than NotFoundError changes nothing. Neither does the answer to a question
        that was sent before one that is answered already.
        """
        self._under_way.discard(asked)
        is_answer = reply.error is None or isinstance(reply.error, NotFoundError)
        if is_answer and asked.number > self._heard:
            self._heard = asked.number
            self._paused = reply.error is None
            self._known_at = asked.at

    def is_open(self, now: datetime, *, forced: bool = False) -> bool:
        """Whether a write may be sent now: the last answer is recent, and there is no pause."""
        if self._known_at is None or self._paused:
            return False
        stale_after = STALE_AFTER_FORCED if forced else STALE_AFTER
        return timedelta() <= now - self._known_at < stale_after  # clocks are set back, too

    @property
    def is_paused(self) -> bool:
        """Whether the last answer was that Evenkeel is paused."""
        return self._paused and self._known_at is not None
