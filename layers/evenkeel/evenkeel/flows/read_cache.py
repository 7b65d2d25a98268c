"""A cache of reads, each good for a second, which the reviews of one process share."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from threading import Lock
from typing import Final

from evenkeel.errors import NotFoundError
from evenkeel.model.controllers.controller import Controller
from evenkeel.model.deployment import Deployment
from evenkeel.model.deployments import reading
from evenkeel.model.meta import KubernetesObject
from evenkeel.model.request import Listing, Read
from evenkeel.ports import Clock, Cluster

KEPT_FOR: Final = timedelta(seconds=1)
"""How long an answer counts, from when it was asked for."""

MOST_BYTES: Final = 2**22
"""Bytes of the listings that are kept, as their ``size`` says: decoded they take up to 16 times as
many."""

type Answer = KubernetesObject | Listing[KubernetesObject] | None


class ReadCache:
    """Reads from the API server, at most once a second for each question. Any thread may use it."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self._cluster = cluster
        self._clock = clock
        self._lock = Lock()
        self._known: dict[Read, tuple[Answer, datetime]] = {}  # the oldest first
        self._bytes = 0

    def __len__(self) -> int:
        """How many answers are kept."""
        return len(self._known)

    def ask(
        self,
        *questions: Read,
        afresh: Collection[Read] = (),
        optional: Collection[Read] = (),
    ) -> Sequence[Answer]:
        """The answers in the order of the questions; None for an object that does not exist.

        Questions without a kept answer are asked together. ``afresh``: of these no kept answer
        counts. ``optional``: any refusal of one of these is None. Raises the ClusterError of
        every other refusal.
        """
        now = self._clock.now()
        with self._lock:
            known = {
                question: self._known[question][0]
                for question in questions
                if question not in afresh and self._is_kept(question, now)
            }
        missing = [question for question in questions if question not in known]
        replies = self._cluster.perform(missing) if missing else ()
        for question, reply in zip(missing, replies, strict=True):
            is_missing = isinstance(reply.error, NotFoundError) or question in optional
            if reply.error is not None and not is_missing:
                raise reply.error
            known[question] = reply.result
        with self._lock:
            for question in missing:
                if question not in afresh:
                    self._keep(question, known[question], now)
        return [known[question] for question in questions]

    def deployment_of(
        self, controller: KubernetesObject | None, *, afresh: bool = False
    ) -> Deployment | None:
        """The Deployment above a ReplicaSet; None where there is none. Raises ClusterError.

        ``afresh``: no kept answer counts.
        """
        owner = controller.deployment if isinstance(controller, Controller) else None
        if controller is None or owner is None:
            return None
        asked = reading(owner, controller.namespace)
        optional = (asked,) if asked.kind.must_be_read else ()  # its ReplicaSet says as much
        (found,) = self.ask(asked, afresh=(asked,) if afresh else (), optional=optional)
        return found if isinstance(found, Deployment) and found.uid == owner.uid else None

    def _keep(self, question: Read, found: Answer, now: datetime) -> None:
        """Keep an answer; drop expired ones, and the oldest while all exceed ``MOST_BYTES``."""
        self._drop(question)
        self._known[question] = found, now
        self._bytes += _size(found)
        while self._known:
            oldest = next(iter(self._known))
            if self._bytes <= MOST_BYTES and self._is_kept(oldest, now):
                break
            self._drop(oldest)

    def _drop(self, question: Read) -> None:
        if question in self._known:
            self._bytes -= _size(self._known.pop(question)[0])

    def _is_kept(self, question: Read, now: datetime) -> bool:
        kept = self._known.get(question)
        return kept is not None and now - kept[1] < KEPT_FOR


def _size(found: Answer) -> int:
    return found.size if isinstance(found, Listing) else 0
