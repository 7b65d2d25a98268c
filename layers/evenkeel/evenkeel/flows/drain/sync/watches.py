"""The watches of one invocation keep the view up to date; lists do where they lag or are refused.

Pods are selected by labels that stay on them as long as they live, in few watches of many labels.
What finds no room is read instead, and so is what nobody may watch.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from evenkeel.errors import ClusterError
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.streams import Stream
from evenkeel.flows.drain.cache.view import View
from evenkeel.model import names
from evenkeel.model.metrics import Metric
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.pod_label import PodLabel
from evenkeel.model.request import Change, List, Listing, Relisted, Request, Selection
from evenkeel.ports import Recorder, Reply, Session

LOOK_AFTER = timedelta(seconds=1)
"""How often to look for what has to be watched or read by now."""

MOST = 15
"""So many watches of pods at most, beside that of the released ones."""


@dataclass(eq=False)
class Watches:
    """Watches the marks and the pods of the controllers in the view, and tells it what happens.

    All its parts are the invocation's; the view is gathered.
    """

    _session: Session
    _view: View
    _recorder: Recorder
    _streams: dict[Selection[Any], Stream] = field(default_factory=dict)
    _parts: Sequence[frozenset[PodLabel]] = ()
    _labels: dict[Selection[Any], frozenset[PodLabel]] = field(default_factory=dict)
    _released: Selection[Pod] | None = None
    _released_elsewhere: frozenset[PodLabel] = frozenset()
    _left_out: set[PodLabel] = field(default_factory=set)
    _look_at: datetime | None = None
    _controllers: int = 0  # as many were known when watches were last arranged

    @property
    def are_blind(self) -> bool:
        """Whether one has not shown yet what there is."""
        return any(not each.has_begun and not each.is_refused for each in self._streams.values())

    def begin(self, now: datetime) -> None:
        """Watch the marks, the workloads concerned, and the other released pods."""
        self._watch(selections.MARKED_NODES, now)
        if self._view.seats.most:
            self._watch(selections.SEATS, now)
        self.follow(now)

    def keep(self, now: datetime) -> None:
        """Watch what is new, and list what watches do not show."""
        number = len(self._view.owners.controllers)
        if number == self._controllers and self._look_at is not None and now < self._look_at:
            return
        self._controllers = number
        self.follow(now)
        if self._look_at is None or now >= self._look_at:
            self._look_at = now + LOOK_AFTER
            self._list_again(now)

    def _watch(self, selection: Selection[Any], now: datetime) -> None:
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
                self._watch(self._released, now)

    def _arrange(self, parts: Sequence[frozenset[PodLabel]], now: datetime) -> None:
        """Watch these parts, and no others: what no watch selects has to be read."""
        labels = {each: part for part in parts for each in selections.showing(part)}
        for selection in self._labels.keys() - labels.keys():
            self._session.unwatch(selection)
            del self._streams[selection]
        showing = defaultdict[PodLabel, list[Stream]](list)
        for selection, part in labels.items():
            self._watch(selection, now)
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
        """Take note of what a watch shows, and of how far it has come."""
        stream = self._streams.get(arrival.selection)
        if stream is not None:
            shows = stream.shows
            stream.saw(arrival)
            if not shows:
                self._view.streams.look()
        match arrival:
            case Relisted():
                self._relisted(arrival)
            case Change(object=item, deleted=True):
                self._view.delete(item)
            case Change(object=item):
                self._view.update(item)

    def refused(self, request: Request, error: ClusterError) -> None:
        """A watch is refused: its selection is listed every ten seconds."""
        self._recorder.counted(Metric.WATCHES_REFUSED)
        self._recorder.noted(f"{request} is not watched: {error}", error=type(error).__name__)
        if isinstance(request, List) and request.selection in self._streams:
            self._streams[request.selection].is_refused = True
            self._view.streams.look()

    def _list_again(self, now: datetime) -> None:
        """List the selections whose watches lag behind an own write, or are refused."""
        for selection, stream in self._streams.items():
            if stream.has_to_be_listed(now):
                self._session.submit(List(selection), partial(self._listed, selection, now))

    def _listed(self, selection: Selection[Any], asked_at: datetime, reply: Reply) -> None:
        if selection in self._streams and isinstance(reply.result, Listing):
            self._streams[selection].listed(reply.result, asked_at)
            self._view.streams.look()
            self._relisted(Relisted(selection, reply.result))

    def _relisted(self, arrival: Relisted[Any]) -> None:
        selection, items = arrival.selection, arrival.listing.items
        if selection.kind is Node or selection == selections.SEATS:
            self._view.replace(selection, items)
        elif selection.kind is Pod:
            selects = partial(self.selects, selection)
            revision = arrival.listing.revision
            pods = self._view.pods  # all those of its workloads are known now
            pods.replace(items, revision, selects, whole=selection, urgent=True)
        else:
            for item in items:
                self._view.update(item, urgent=True)
