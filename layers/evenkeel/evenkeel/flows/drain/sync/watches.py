"""The watches of one invocation: what they select, and what they show of workloads.

Pods are selected by labels that stay on them as long as they live, in few watches of many labels.
What finds no room is read instead, and so is what nobody may watch.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from evenkeel.flows import selections
from evenkeel.flows.drain.cache.streams import Stream
from evenkeel.flows.drain.cache.view import View
from evenkeel.model import names
from evenkeel.model.pod import Pod
from evenkeel.model.pod_label import PodLabel
from evenkeel.model.request import Change, List, Listing, Relisted, Selection
from evenkeel.ports import Reply, Session

MOST = 15
"""So many watches of pods at most, beside that of the released ones."""


class Watches:
    """Watches the given selections, and the pods of the controllers in the view."""

    def __init__(self, session: Session, view: View, then: Callable[[Relisted[Any]], None]) -> None:
        """``then`` is what is done with a selection that was listed beside its watch."""
        self._session = session
        self._view = view
        self._then = then
        self._streams: dict[Selection[Any], Stream] = {}
        self._parts: Sequence[frozenset[PodLabel]] = ()
        self._labels: dict[Selection[Any], frozenset[PodLabel]] = {}
        self._released: Selection[Pod] | None = None
        self._released_elsewhere: frozenset[PodLabel] = frozenset()
        self._left_out: set[PodLabel] = set()

    @property
    def are_blind(self) -> bool:
        """Whether one has not shown yet what there is."""
        return any(not each.has_begun and not each.is_refused for each in self._streams.values())

    def watch(self, selection: Selection[Any], now: datetime) -> None:
        """Watch a selection."""
        if selection not in self._streams:
            self._streams[selection] = Stream(now)
            self._session.watch(selection)

    def follow(self, now: datetime) -> None:
        """Watch the pods of the controllers in the view that are not watched yet.

        And once for all the released pods that those watches do not show. In a divided storm these
        are listed instead.
        Where that would be too many watches, few of many labels take the place of all that there
        are. What finds no room even then is left out from now on.
        """
        controllers = self._view.owners.controllers.values()
        wanted = {label for each in controllers for label in each.pod_labels}
        new = wanted.difference(self._view.streams.labels, self._left_out)
        parts = [*self._parts, *selections.chunks_of(new)]
        if len(parts) > MOST and not self._left_out:
            parts = list(selections.chunks_of(wanted))
        if new:
            self._left_out |= {label for part in parts[MOST:] for label in part}
            self._arrange(parts[:MOST], now)
        if self._released is None:
            self._released_elsewhere = selections.released_hashes(self._view.streams.labels)
            self._released = selections.released_beside(self._released_elsewhere)
            if self._view.share.is_divided:
                # A watch would show all that the other reconcilers release.
                self._streams[self._released] = Stream(now, is_listed_only=True)
            else:
                self.watch(self._released, now)

    def _arrange(self, parts: Sequence[frozenset[PodLabel]], now: datetime) -> None:
        """Watch these parts, and no others: what no watch selects has to be read."""
        labels = {each: part for part in parts for each in selections.showing(part)}
        for selection in self._labels.keys() - labels.keys():
            self._session.unwatch(selection)
            del self._streams[selection]
        showing = defaultdict[PodLabel, list[Stream]](list)
        for selection, part in labels.items():
            self.watch(selection, now)
            for label in part:
                showing[label].append(self._streams[selection])
        self._parts, self._labels = parts, labels
        before = frozenset(self._view.streams.labels)
        self._view.streams.arrange(showing)
        others = before.symmetric_difference(showing)
        self._view.queue.add(
            key
            for key, each in self._view.owners.controllers.items()
            if not others.isdisjoint(each.pod_labels)
        )

    def selects(self, selection: Selection[Any], pod: Pod) -> bool:
        """Whether a pod as it is known is one that a watch of pods shows."""
        if selection == self._released:
            borne = pod.metadata.labels
            own = (PodLabel(key, borne[key]) for key in names.HASHES if key in borne)
            return (
                names.RELEASED_FROM in pod.metadata.labels
                and self._released_elsewhere.isdisjoint(own)
            )
        labels = self._labels.get(selection, ())
        return any(each in labels for each in selections.labels_on(pod))

    def saw(self, arrival: Relisted[Any] | Change[Any]) -> None:
        """Take note of how far a watch has come."""
        stream = self._streams.get(arrival.selection)
        if stream is not None:
            shows = stream.shows
            stream.saw(arrival)
            if not shows:
                self._view.streams.look()

    def refused(self, selection: Selection[Any]) -> None:
        """The API server does not let a selection be watched."""
        if selection in self._streams:
            self._streams[selection].is_refused = True
            self._view.streams.look()

    def list_again(self, now: datetime) -> None:
        """List the selections whose watches lag behind an own write, or are refused."""
        for selection, stream in self._streams.items():
            if stream.has_to_be_listed(now):
                self._session.submit(List(selection), partial(self._listed, selection, now))

    def _listed(self, selection: Selection[Any], asked_at: datetime, reply: Reply) -> None:
        if selection in self._streams and isinstance(reply.result, Listing):
            self._streams[selection].listed(reply.result, asked_at)
            self._view.streams.look()
            self._then(Relisted(selection, reply.result))
