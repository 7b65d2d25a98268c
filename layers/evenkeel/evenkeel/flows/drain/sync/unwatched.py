"""Pods that no watch selects, such as bare ones: they are read again while their node dies.

A pod that has ended meanwhile would be evicted at its last moment, and its logs would be lost.
"""

from collections.abc import Container, Iterable
from datetime import datetime, timedelta

from evenkeel.decisions.drain.deadlines import node_deadline
from evenkeel.decisions.drain.route import not_ours
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.sync import first_reads
from evenkeel.flows.drain.sync.reads import Reads
from evenkeel.model.pod import Pod
from evenkeel.model.request import Listing
from evenkeel.ports import Reply, Session

READ_AGAIN_AFTER = timedelta(seconds=10)
"""How old what is known of them may get. What ends later than this is evicted all the same."""


class Unwatched:
    """Lists the nodes again that die with such pods on them, a few at a time, oldest first."""

    def __init__(self, session: Session, view: View) -> None:
        """What is in the view was just read."""
        self._view = view
        self._read_at: dict[str, datetime] = {}
        self._reads = Reads[str](session, self._see)  # of nodes

    def read_again(self, now: datetime) -> None:
        """Ask what is on nodes of which that is not known any more."""
        old = [
            name
            for name in self._nodes()
            if now - self._read_at.setdefault(name, now) >= READ_AGAIN_AFTER
        ]
        old.sort(key=lambda name: (self._read_at[name], name))
        for name in self._reads.some(old, 8):
            self._read_at[name] = now
            self._reads.send(name, first_reads.candidates_on(name))

    def _see(self, name: str, reply: Reply) -> None:
        """Take what is on a node.

        After an error the node is listed again in time, and what is known of its pods counts until
        then. A pod that was not known is left out, because its owner was not read.
        """
        listing = reply.result
        if not isinstance(listing, Listing):
            return
        known = self._view.pods
        pods = [item for item in listing.items if isinstance(item, Pod) and item.uid in known]
        known.relist(pods, listing.revision, lambda pod: pod.spec.node_name == name)

    def _nodes(self) -> Iterable[str]:
        view = self._view
        dying = {name for name, notice in view.dooms.items() if node_deadline(notice).forced}
        return {
            pod.spec.node_name for pod in view.pods.active if self._concerns(pod, dying)
        } - view.unread

    def _concerns(self, pod: Pod, dying: Container[str]) -> bool:
        if pod.spec.node_name not in dying or self._view.streams.of(pod) is not None:
            return False
        return not_ours(pod, self._view.owner_of(pod)) is None
