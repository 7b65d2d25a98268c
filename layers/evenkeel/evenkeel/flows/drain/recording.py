"""Recording decisions once each, however often they are made."""

from collections.abc import Collection, Iterable

from evenkeel.model.decision import Decision
from evenkeel.ports import Recorder

type _Word = tuple[str, str]


class OnceRecorder:
    """Hands decisions to the recorder when they are news.

    Outlives an invocation, so that a pod that waits for two minutes is one line, not eight,
    and an eviction that a budget refuses for a while is one line, not sixty. Nor is it news
    when two decisions take turns: an eviction that is tried, refused and tried again.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._words: dict[tuple[str, str], tuple[_Word, ...]] = {}

    def record(self, decisions: Iterable[Decision]) -> None:
        """Record those of the decisions that were not among the last two about their subject."""
        for decision in decisions:
            subject = decision.subject
            key = (subject.kind, subject.uid or f"{subject.namespace}/{subject.name}")
            word = (decision.verb.value, decision.reason)
            last = self._words.get(key, ())
            if word not in last:
                self._words[key] = (*last[-1:], word)
                self.recorder.decided(decision)

    def forget(self, *, but: Collection[str] = ()) -> None:
        """Forget what was recorded, except about the objects with these uids."""
        self._words = {key: words for key, words in self._words.items() if key[1] in but}
