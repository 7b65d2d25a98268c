"""Recording decisions once each, however often they are made."""

import heapq
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from evenkeel.flows.drain.low_counts import LowCounts
from evenkeel.model.decision import Decision
from evenkeel.model.pod_count import PodCount
from evenkeel.model.pod_count import since as between
from evenkeel.ports import Recorder

COUNTS_APART = timedelta(seconds=1)
"""A workload's counts are recorded at most so often."""

type _Word = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Counted:
    """A count of a workload's pods, as a plan has it.

    ``since`` tells when the available pods became so, in order. ``begins``: some of them move, so
    its counts are told from now on.
    """

    count: PodCount
    since: Callable[[], Sequence[datetime]]
    begins: bool


class OnceRecorder:
    """Hands decisions, and counts of workloads' pods, to the recorder when they are news.

    Outlives an invocation, so that a pod that waits for two minutes is one line, not eight,
    and an eviction that a budget refuses for a while is one line, not sixty. Nor is it news
    when two decisions take turns: an eviction that is tried, refused and tried again.
    """

    def __init__(self, recorder: Recorder, low: LowCounts) -> None:
        """``low`` keeps the counts that were told last and are low."""
        self.recorder = recorder
        self._low = low
        self._words: dict[tuple[str, str], tuple[_Word, ...]] = {}
        self._counts: dict[str, PodCount] = {}
        self._held_back: dict[str, Counted] = {}
        self._tell_at: list[tuple[datetime, str]] = []  # a heap: when each of those may be told

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

    def count(self, counted: Counted) -> None:
        """Take a count, to be told unless its numbers were told last."""
        count = counted.count
        uid = count.workload.uid
        told = self._counts.get(uid)
        if told is None and not counted.begins:
            return
        held_back = self._held_back.get(uid)
        if held_back is not None and held_back.count.is_whole != count.is_whole:
            self._tell(self._held_back.pop(uid))
            told = self._counts[uid]
        if count.says_as(told):
            self._held_back.pop(uid, None)
            return
        if uid not in self._held_back:
            at = count.at if told is None else told.at + COUNTS_APART
            heapq.heappush(self._tell_at, (at, uid))
        self._held_back[uid] = counted

    def tell_counts(self, now: datetime | None = None) -> None:
        """Record the counts that are held back: up to ``now`` one a second and workload.

        One is told before that if it is whole and the next one is low, or the other way round.
        None: all of them, for the loop ends.
        """
        while self._tell_at and (now is None or self._tell_at[0][0] <= now):
            _, uid = heapq.heappop(self._tell_at)
            if (held_back := self._held_back.pop(uid, None)) is not None:
                self._tell(held_back)

    def _tell(self, counted: Counted) -> None:
        """Record a count, and after a low one what came in between: nobody may have looked."""
        count = counted.count
        low = self._low.of(count.workload)
        self._counts[count.workload.uid] = count
        for each in (count,) if low is None else between(low, count, counted.since()):
            self.recorder.counted_pods(each)
        self._low.take(count)

    def forget(self, *, but: Collection[str] = ()) -> None:
        """Forget what was decided, except about the objects with these uids.

        Without any, what was counted is forgotten, too.
        """
        self._words = {key: words for key, words in self._words.items() if key[1] in but}
        if not but:
            self._counts.clear()
