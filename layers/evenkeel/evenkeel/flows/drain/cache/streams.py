"""How old what the watches show is.

A watch is as fresh as the moment at which the latest of Evenkeel's own writes was sent that it has
shown: what happened before that, it has shown, too. In a storm that costs nothing, for there are
writes all the time. Versions of one resource can be compared (KEP-5504).
"""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from evenkeel.flows import selections
from evenkeel.model.pod import Pod
from evenkeel.model.pod_label import PodLabel
from evenkeel.model.request import Change, Listing, Relisted

FRESH_FOR = timedelta(seconds=1)
"""What a watch showed, or a list, justifies taking pods away for so long since it was asked for."""

LAGS_AFTER = timedelta(seconds=2)
"""So long after an own write was accepted a watch that has not shown it lags behind."""

SILENT_AFTER = timedelta(seconds=30)
"""A watch that shows nothing for so long may be forgotten by what is between: a list tells."""

LIST_AGAIN_AFTER = timedelta(seconds=10)
"""How often a selection is listed whose watch lags, or is refused."""

TRUNCATED = timedelta(seconds=2)
"""So much before it was sent an own eviction may seem to have been made.

The API server keeps the time of a deletion in whole seconds, by a clock of its own.
"""


def is_recent(at: datetime | None, now: datetime) -> bool:
    """Whether what was read at a time is at most a second old. ``at`` None: it never was read."""
    return at is not None and timedelta() <= now - at <= FRESH_FOR


class Stream:
    """How far one watch has come."""

    def __init__(self, now: datetime, *, is_listed_only: bool = False) -> None:
        """The watch begins now: its first list is at least as new as this.

        ``is_listed_only``: there is no watch, and the selection is listed as that of a refused one.
        """
        self.is_refused = is_listed_only
        self._asked_at = now
        self._list_at = now
        self._silent_at = now + SILENT_AFTER
        self._has_spoken = False
        self._fresh_at: datetime | None = None
        self._shown = -1
        self._unseen: list[tuple[int, datetime, datetime]] = []  # a heap, by revision
        self._evicted: dict[str, datetime] = {}

    @property
    def has_begun(self) -> bool:
        """Whether its first list has arrived."""
        return self._fresh_at is not None

    @property
    def shows(self) -> bool:
        """Whether its first list has arrived, and the API server still serves the watch."""
        return self.has_begun and not self.is_refused

    def is_fresh(self, now: datetime) -> bool:
        """Whether it has shown all changes up to a second ago."""
        return is_recent(self._fresh_at, now)

    def saw(self, arrival: Relisted[Any] | Change[Any]) -> None:
        """Take note of what it shows."""
        self.is_refused = False
        self._has_spoken = True
        if isinstance(arrival, Relisted):
            self.listed(arrival.listing, None if self.has_begun else self._asked_at)
            return
        self._has_come_to(arrival.object.revision)
        if isinstance(arrival.object, Pod) and (arrival.deleted or arrival.object.leaving):
            self._left(arrival.object)

    def listed(self, listing: Listing[Any], asked_at: datetime | None) -> None:
        """Take a list, made by the watch or beside it. ``asked_at`` None: the time is not known."""
        if asked_at is not None:
            self._is_as_of(asked_at)
        self._has_come_to(listing.revision)

    def wrote(self, revision: int, sent_at: datetime, now: datetime) -> None:
        """A write was accepted that made this revision of an object that it shows."""
        if revision <= self._shown:
            self._is_as_of(sent_at)
        else:
            heapq.heappush(self._unseen, (revision, sent_at, now))

    def evicted(self, uid: str, sent_at: datetime) -> None:
        """An eviction or a delete of a pod that it shows is sent."""
        self._evicted[uid] = sent_at

    def withdrawn(self, uid: str) -> None:
        """That eviction was refused, or its outcome is not known."""
        self._evicted.pop(uid, None)

    def has_to_be_listed(self, now: datetime) -> bool:
        """Whether its selection has to be listed now, for it lags, is refused or is silent."""
        accepted = (at for _, _, at in self._unseen)
        lags = now - min(accepted, default=now) > LAGS_AFTER
        if self._has_spoken:
            self._has_spoken, self._silent_at = False, now + SILENT_AFTER
        is_silent = now >= self._silent_at
        if not (lags or self.is_refused or is_silent) or now < self._list_at:
            return False
        self._list_at, self._silent_at = now + LIST_AGAIN_AFTER, now + SILENT_AFTER
        return True

    def _has_come_to(self, revision: int) -> None:
        self._shown = max(self._shown, revision)
        while self._unseen and self._unseen[0][0] <= self._shown:
            self._is_as_of(heapq.heappop(self._unseen)[1])

    def _is_as_of(self, at: datetime) -> None:
        if self._fresh_at is None or self._fresh_at < at:
            self._fresh_at = at

    def _left(self, pod: Pod) -> None:
        """A pod leaves: by an own eviction, unless another client had evicted it before."""
        sent_at = self._evicted.pop(pod.uid, None)
        if sent_at is None:
            return
        told_at = pod.told_at
        if told_at is None or told_at >= sent_at - TRUNCATED:
            self._is_as_of(sent_at)


class Streams:
    """The watches of pods, by the labels of the pods that they show.

    Each label is shown by one or two: first by that of the pods, released or not, and if it is a
    template hash also by that of the ReplicaSets.
    """

    def __init__(self) -> None:
        self._showing: Mapping[PodLabel, Sequence[Stream]] = {}
        self.shown: frozenset[PodLabel] = frozenset()
        """The labels of which all pods were seen, and new ones will be."""

    @property
    def labels(self) -> Iterable[PodLabel]:
        """The labels that are watched."""
        return self._showing.keys()

    def arrange(self, showing: Mapping[PodLabel, Sequence[Stream]]) -> None:
        """These watches show pods with these labels, and no others."""
        self._showing = showing
        self.look()

    def look(self) -> None:
        """Note which labels are shown by now: that is asked for all the time."""
        self.shown = frozenset(
            label for label, streams in self._showing.items() if all(each.shows for each in streams)
        )

    def of(self, pod: Pod | None) -> Stream | None:
        """The watch by which a pod's workload is seen; None without one."""
        if pod is None:
            return None
        labels = selections.labels_on(pod)
        return next((self._showing[each][0] for each in labels if each in self._showing), None)

    def select(self, labels: frozenset[PodLabel]) -> bool:
        """Whether all pods with these labels are watched, or will be at once."""
        return bool(labels) and labels <= self._showing.keys()

    def show(self, labels: frozenset[PodLabel]) -> bool:
        """Whether all pods with these labels were seen, and new ones will be."""
        return bool(labels) and labels <= self.shown

    def are_fresh(self, labels: frozenset[PodLabel], now: datetime) -> bool:
        """Whether all pods with these labels are known as of a second ago."""
        return self.show(labels) and all(self._showing[label][0].is_fresh(now) for label in labels)
