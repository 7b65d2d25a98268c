"""Recording decisions once each, however often they are made."""

from collections.abc import Iterable

from evenkeel.model.decision import Decision
from evenkeel.ports import Recorder


class Teller:
    """Hands decisions to the recorder when they are news.

    Outlives an invocation, so that a pod that waits for two minutes is one line, not eight,
    and an eviction that a budget refuses for a while is one line, not sixty.
    """

    def __init__(self, recorder: Recorder) -> None:
        """Nothing was told yet."""
        self.recorder = recorder
        self._told: dict[tuple[str, str], tuple[str, str]] = {}

    def tell(self, decisions: Iterable[Decision]) -> None:
        """Record those of the decisions that were not the last word on their subject."""
        for decision in decisions:
            subject = decision.subject
            key = (subject.kind, subject.uid or f"{subject.namespace}/{subject.name}")
            word = (decision.verb.value, decision.reason)
            if self._told.get(key) != word:
                self._told[key] = word
                self.recorder.decided(decision)

    def forget(self) -> None:
        """All is quiet: what comes next is a new story."""
        self._told.clear()
