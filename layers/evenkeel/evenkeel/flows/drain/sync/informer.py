"""Keeping the view up to date: watches, and lists where they lag or are refused."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any

from evenkeel.errors import ClusterError
from evenkeel.flows import selections
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.sync.watches import Watches
from evenkeel.model.metrics import Metric
from evenkeel.model.node import Node
from evenkeel.model.pod import Pod
from evenkeel.model.request import Change, List, Relisted, Request
from evenkeel.ports import Recorder, Session

LOOK_AFTER = timedelta(seconds=1)
"""How often to look for what has to be watched or read by now."""


class Informer:
    """Watches the objects concerned, and tells the view what happens to them."""

    def __init__(
        self,
        session: Session,
        view: View,
        recorder: Recorder,
    ) -> None:
        """All of them are the invocation's; the view is gathered."""
        self._view = view
        self._recorder = recorder
        self._watches = Watches(session, view, self._relisted)
        self._look_at: datetime | None = None
        self._controllers = 0  # as many were known when watches were last arranged

    def follow(self, now: datetime) -> None:
        """Watch the marks, the workloads concerned, and the other released pods."""
        self._watches.watch(selections.MARKED_NODES, now)
        self._watches.follow(now)

    def refused(self, request: Request, error: ClusterError) -> None:
        """A watch is refused: its selection is listed every ten seconds."""
        self._recorder.counted(Metric.WATCHES_REFUSED)
        self._recorder.noted(f"{request} is not watched: {error}", error=type(error).__name__)
        if isinstance(request, List):
            self._watches.refused(request.selection)

    def keep(self, now: datetime) -> None:
        """Watch what is new, and list what watches do not show."""
        if len(self._view.owners.controllers) != self._controllers:
            self._controllers = len(self._view.owners.controllers)
            self._watches.follow(now)
        if self._look_at is None or now >= self._look_at:
            self._look_at = now + LOOK_AFTER
            self._watches.follow(now)
            self._watches.list_again(now)

    @property
    def is_blind(self) -> bool:
        """Whether a watch has not shown yet what there is."""
        return self._watches.are_blind

    def on_event(self, arrival: Relisted[Any] | Change[Any]) -> None:
        """Take note of what a watch shows."""
        self._watches.saw(arrival)
        match arrival:
            case Relisted():
                self._relisted(arrival)
            case Change(object=item, deleted=True):
                self._view.delete(item)
            case Change(object=item):
                self._view.update(item)

    def _relisted(self, arrival: Relisted[Any]) -> None:
        selection, items = arrival.selection, arrival.listing.items
        if selection.kind is Node:
            self._view.replace(selection, items)
        elif selection.kind is Pod:
            selects = partial(self._watches.selects, selection)
            revision = arrival.listing.revision
            pods = self._view.pods  # all those of its workloads are known now
            pods.replace(items, revision, selects, whole=selection, urgent=True)
        else:
            for item in items:
                self._view.update(item, urgent=True)
