"""A Recorder that keeps everything, for callers that run a handler by hand."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from evenkeel.model.decision import Decision, Verb
from evenkeel.model.metrics import Metric
from evenkeel.model.pod_count import PodCount


class InMemoryRecorder:
    """Keeps ``decisions``, ``pod_counts`` and ``notes`` in order, and each metric's ``values``."""

    def __init__(self) -> None:
        self.decisions: list[Decision] = []
        self.pod_counts: list[PodCount] = []
        self.notes: list[tuple[str, Mapping[str, object]]] = []
        self.values: defaultdict[str, list[float]] = defaultdict(list)
        self.flushes = 0

    def decided(self, decision: Decision) -> None:
        """Keep a decision."""
        self.decisions.append(decision)

    def counted_pods(self, count: PodCount) -> None:
        """Keep a count."""
        self.pod_counts.append(count)

    def counted(self, metric: Metric, value: float = 1) -> None:
        """Keep a value."""
        self.values[metric].append(value)

    def noted(self, message: str, **details: object) -> None:
        """Keep a note."""
        self.notes.append((message, details))

    def flush(self) -> None:
        """Count the flushes."""
        self.flushes += 1

    def total(self, metric: str) -> float:
        """The sum of a metric's values; 0 if it was never counted."""
        return sum(self.values.get(metric, ()))

    def with_verb(self, *verbs: Verb) -> Sequence[Decision]:
        """The decisions that have one of these verbs."""
        return [decision for decision in self.decisions if decision.verb in verbs]
