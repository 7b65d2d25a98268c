"""Kubernetes Events of a handler that several threads call."""

from threading import local

from evenkeel.adapters.telemetry.cluster_events import ClusterEvents
from evenkeel.model.decision import Decision
from evenkeel.model.metrics import Metric
from evenkeel.ports import Clock, Cluster, Recorder


class EventsByThread:
    """A Recorder: each thread's Events are held back until that thread's own flush."""

    def __init__(self, cluster: Cluster, clock: Clock, log: Recorder, *, observes: bool) -> None:
        """As ClusterEvents, which this hands on to."""
        self._cluster = cluster
        self._clock = clock
        self._log = log
        self._observes = observes
        self._threads = local()

    def decided(self, decision: Decision) -> None:
        """Remember a decision."""
        self._mine().decided(decision)

    def counted(self, metric: Metric, value: float = 1) -> None:
        """Nothing: a count is no Event."""

    def noted(self, message: str, **details: object) -> None:
        """Nothing: a note is no Event."""

    def flush(self) -> None:
        """Create the Events of this thread."""
        self._mine().flush()

    def _mine(self) -> ClusterEvents:
        found = getattr(self._threads, "events", None)
        if isinstance(found, ClusterEvents):
            return found
        made = ClusterEvents(self._cluster, self._clock, self._log, observes=self._observes)
        self._threads.events = made
        return made
