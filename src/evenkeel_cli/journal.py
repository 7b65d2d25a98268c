"""Keeping the decisions of a run: for the lines that a person reads, and for the report."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from evenkeel.adapters.telemetry import decision_log
from evenkeel.adapters.telemetry.decision_log import DecisionRecord
from evenkeel.model.decision import Decision, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.metrics import COUNT, Metric
from evenkeel.model.pod_count import PodCount
from evenkeel.ports import Clock
from evenkeel_cli import lines
from evenkeel_cli.output import Listing, Output


class DecisionList(Listing, frozen=True, kw_only=True):
    """Decisions as the decision log has them: what ``evenkeel cancel`` prints."""

    items: Sequence[DecisionRecord]


type Listener = Callable[["Entry"], None]


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision, and when it was made."""

    at: datetime
    decision: Decision


@dataclass(slots=True)
class Journal:
    """Implements the port Recorder: keeps decisions, counts and notes, in their order.

    A decision that is made again and again about the same object (to wait for something, or
    to evict a pod that its budget still keeps) is kept once. ``listener`` is called with every
    entry that is kept.
    """

    clock: Clock
    listener: Listener | None = None
    entries: list[Entry] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    pod_counts: list[PodCount] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    outcomes: list[str] = field(default_factory=list)
    on_note: Callable[[str], None] | None = None
    _last: dict[Reference, tuple[Verb, str]] = field(default_factory=dict)

    def decided(self, decision: Decision) -> None:
        """Keep one decision."""
        said = (decision.verb, decision.reason)
        if self._last.get(decision.subject) == said:
            return
        self._last[decision.subject] = said
        entry = Entry(self.clock.now(), decision)
        self.entries.append(entry)
        if self.listener is not None:
            self.listener(entry)

    def counted_pods(self, count: PodCount) -> None:
        """Keep how many pods of a workload are available."""
        self.pod_counts.append(count)

    def counted(self, metric: Metric, value: float = 1) -> None:
        """Sum up counts; other units are of no use to a person here."""
        if metric.unit == COUNT:
            self.counts[metric] += round(value)

    def noted(self, message: str, **details: object) -> None:
        """Keep a note; how an invocation ended goes into ``outcomes``."""
        outcome = details.get("outcome")
        if isinstance(outcome, str):
            self.outcomes.append(outcome)
            return
        self.notes.append(message)
        if self.on_note is not None:
            self.on_note(message)

    def flush(self) -> None:
        """Nothing is held back."""

    def about(self, uid: str) -> Sequence[Entry]:
        """The entries about one object."""
        return [entry for entry in self.entries if entry.decision.subject.uid == uid]

    def records(self, cluster: str, mode: str) -> Sequence[DecisionRecord]:
        """The decisions as the decision log has them."""
        return [decision_log.record(e.decision, e.at, cluster, mode) for e in self.entries]


def telling(output: Output, clock: Clock) -> Journal:
    """A journal that prints each decision as it is made, by the time that has passed since now."""
    began = clock.now()

    def tell(entry: Entry) -> None:
        output.tell(lines.of_decision(entry.decision, entry.at - began))

    return Journal(clock, tell)
