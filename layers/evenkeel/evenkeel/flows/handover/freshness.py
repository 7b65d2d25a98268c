"""A proof that the watches have shown all that had happened by a moment.

Before anything is taken away its ReplicaSet and all its pods have to be known as they are now.
Reading them afresh does that, and costs the API server some hundred kilobytes each time. In a
storm the watches show the same a moment later: once those of its pods have each shown a change as
new as the answer to one small, consistent read, nothing that was there when that was asked is
missing.
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from evenkeel.model.pod import Pod
from evenkeel.model.request import Change, List, Listing, Relisted, Selection
from evenkeel.ports import Arrival, Reply, Session

INTERVAL = timedelta(milliseconds=200)
"""One question is not asked sooner after another: what is found meanwhile goes together."""

ANSWERED_WITHIN = timedelta(seconds=2)
"""How long an API server may take for the question. One that is so full needs no reads besides."""

SHOWN_WITHIN = timedelta(milliseconds=500)
"""A watch that shows nothing for so long after the answer proves nothing: reading is quicker."""


class Claim(NamedTuple):
    """The pods of one controller of which the view holds that they can go, by their uids.

    ``watches`` are the selections, each watched, that show all of the controller's pods.
    """

    uids: frozenset[str]
    watches: Collection[object]


class Freshness:
    """One question at a time, and how far each watch of pods has come.

    A question is about claims, per controller: those that the view held when it was asked.
    What came up later, the proof does not cover. Each claim is proven by its own watches: one
    that shows the pods of some that are through has nothing to show any more.
    """

    def __init__(self, session: Session) -> None:
        """The session is the invocation's."""
        self._session = session
        self._shown: dict[object, int] = {}
        self._silent: set[object] = set()
        self._question: List[Pod] | None = None
        self._asked_at: datetime | None = None
        self._revision: int | None = None
        self._patient_until: datetime | None = None
        self._claims: dict[str, Claim] = {}

    def saw(self, arrival: Arrival, now: datetime) -> None:
        """Take note of how far a watch of pods has come, and of the answer to the question."""
        match arrival:
            case Reply() if arrival.request is self._question:
                self._heard(arrival, now)
            case Change(selection=selection, object=Pod() as pod):
                self._shown[selection] = max(pod.revision, self._shown.get(selection, 0))
                self._silent.discard(selection)
            case Relisted(selection=selection, listing=listing) if selection.kind is Pod:
                self._shown[selection] = listing.revision
                self._silent.discard(selection)
            case _:
                pass

    def can_be_proven(self, watches: Collection[object]) -> bool:
        """Whether a claim with these watches is worth a question: all of them showed something.

        Not if one of them proved nothing the last time, and has been silent since.
        """
        return self._silent.isdisjoint(watches)

    @property
    def is_open(self) -> bool:
        """Whether a question is not decided yet."""
        return self._question is not None

    def ask(self, pod: Pod, claims: Mapping[str, Claim], now: datetime) -> None:
        """Ask how far the API server has come, unless a question is open or just was.

        The question is about a single pod, by name: the cheapest list there is.
        """
        if self._question is not None:
            return
        if self._asked_at is not None and now - self._asked_at < INTERVAL:
            return
        self._question = List(Selection(Pod, pod.namespace, fields=f"metadata.name={pod.name}"))
        self._asked_at, self._patient_until = now, now + ANSWERED_WITHIN
        self._claims = dict(claims)
        self._session.submit(self._question)

    def _heard(self, reply: Reply, now: datetime) -> None:
        if isinstance(reply.result, Listing) and reply.result.resource_version.isdecimal():
            self._revision = int(reply.result.resource_version)
            self._patient_until = now + SHOWN_WITHIN
        else:
            self._close()

    def _close(self) -> None:
        self._question = self._revision = self._patient_until = None
        self._claims = {}

    def proven(self) -> Mapping[str, frozenset[str]]:
        """The uids of the claims that the watches have answered by now, per controller.

        Each claim is answered once; empty while there is nothing proven.
        """
        revision = self._revision
        if revision is None:
            return {}
        proven = {
            key: claim.uids
            for key, claim in self._claims.items()
            if not self._behind(claim, revision)
        }
        for key in proven:
            del self._claims[key]
        if not self._claims:
            self._close()
        return proven

    def give_up(self, now: datetime) -> Collection[str]:
        """The controllers whose claims were not proven in time: these are dropped."""
        if self._patient_until is None or now < self._patient_until:
            return ()
        given_up = tuple(self._claims)
        if self._revision is not None:
            for claim in self._claims.values():
                self._silent |= self._behind(claim, self._revision)
        self._close()
        return given_up

    def _behind(self, claim: Claim, revision: int) -> set[object]:
        """The watches of a claim that have not shown anything as new as that."""
        return {watch for watch in claim.watches if self._shown.get(watch, 0) < revision}
