"""A proof that the watches have shown all that had happened by a moment.

Before anything is taken away its ReplicaSet and all its pods have to be known as they are now.
Reading them afresh does that, and costs the API server some hundred kilobytes each time. In a
storm the watches show the same a moment later: once each of them has shown a change as new as
the answer to one small, consistent read, nothing that was there when that was asked is missing.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

from evenkeel.model.pod import Pod
from evenkeel.model.request import Change, List, Listing, Relisted, Selection
from evenkeel.ports import Arrival, Reply, Session

INTERVAL = timedelta(milliseconds=200)
"""One question is not asked sooner after another: what is found meanwhile goes together."""

PATIENCE = timedelta(milliseconds=500)
"""A watch that has nothing to show for so long proves nothing: then reading is quicker."""


class Freshness:
    """One question at a time, and how far each watch of pods has come.

    ``claims`` of a question are the uids of the pods of which the view held, when it was
    asked, that they can go, per controller: what came up later, the proof does not cover.
    """

    def __init__(self, session: Session) -> None:
        """The session is the invocation's."""
        self._session = session
        self._shown: dict[object, int] = {}
        self._question: List[Pod] | None = None
        self._asked_at: datetime | None = None
        self._revision: int | None = None
        self._claims: Mapping[str, frozenset[str]] = {}

    def saw(self, arrival: Arrival) -> None:
        """Take note of how far a watch of pods has come, and of the answer to the question."""
        match arrival:
            case Reply() if arrival.request is self._question:
                self._heard(arrival)
            case Change(selection=selection, object=Pod() as pod):
                self._shown[selection] = max(pod.revision, self._shown.get(selection, 0))
            case Relisted(selection=selection, listing=listing) if selection.kind is Pod:
                self._shown[selection] = int(listing.resource_version or 0)
            case _:
                pass

    @property
    def is_open(self) -> bool:
        """Whether a question is not decided yet."""
        return self._question is not None

    def ask(self, pod: Pod, claims: Mapping[str, frozenset[str]], now: datetime) -> None:
        """Ask how far the API server has come, unless a question is open or just was.

        The question is about a single pod, by name: the cheapest list there is.
        """
        if self._question is not None:
            return
        if self._asked_at is not None and now - self._asked_at < INTERVAL:
            return
        self._question = List(Selection(Pod, pod.namespace, fields=f"metadata.name={pod.name}"))
        self._asked_at, self._revision, self._claims = now, None, dict(claims)
        self._session.submit(self._question)

    def _heard(self, reply: Reply) -> None:
        if isinstance(reply.result, Listing) and reply.result.resource_version.isdecimal():
            self._revision = int(reply.result.resource_version)
        else:
            self._question = None

    def proven(self, watches: Collection[object]) -> Mapping[str, frozenset[str]]:
        """The claims of the question that these watches, all of pods, have answered by now.

        Each question's claims are answered once; empty while there is nothing proven.
        """
        if self._revision is None or not watches:
            return {}
        if any(self._shown.get(watch, 0) < self._revision for watch in watches):
            return {}
        claims, self._claims = self._claims, {}
        self._question = self._revision = None
        return claims

    def is_slow(self, now: datetime) -> bool:
        """Whether a question is open for too long; it is dropped then."""
        if self._question is None or self._asked_at is None:
            return False
        if now - self._asked_at < PATIENCE:
            return False
        self._question, self._revision, self._claims = None, None, {}
        return True
