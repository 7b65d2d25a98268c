"""Releasing: whose turn it is, as far as the window and the session have room."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from evenkeel.decisions.drain import pace
from evenkeel.decisions.drain.pace import Ranking
from evenkeel.flows.drain.cache.view import View
from evenkeel.flows.drain.dispatch.forced_evictions import ForcedEvictions
from evenkeel.flows.drain.dispatch.plans import Plans
from evenkeel.flows.drain.dispatch.writing import Writer
from evenkeel.flows.drain.workload.workload_plan import Has
from evenkeel.model.decision import Verb
from evenkeel.model.pod import Pod
from evenkeel.settings import HandoverSettings

SHORTEST_HANDOVER = timedelta(seconds=5)
"""A pod whose forced eviction begins within this time is not released any more."""


class Progress:
    """How fast replacements are made, over one invocation."""

    def __init__(self) -> None:
        self._first: tuple[datetime, int] | None = None

    def rate(self, made: int, now: datetime) -> float:
        """Replacements per second since the first count, 0 within the first second.

        ``made``: releases less pending replacements. Whether they are counted from the beginning of
        the invocation does not matter, only differences do.
        """
        if self._first is None:
            self._first = (now, made)
        since, first = self._first
        seconds = (now - since).total_seconds()
        return max(0.0, (made - first) / seconds) if seconds >= 1 else 0.0


@dataclass(eq=False)
class Releases:
    """Releases pods at the pace at which their replacements are made.

    All its parts are the invocation's. ``zeros_wait_elsewhere``: whether others that share the
    storm have workloads that would reach zero.
    """

    _settings: HandoverSettings
    _view: View
    _plans: Plans
    _writer: Writer
    _forced: ForcedEvictions
    _zeros_wait_elsewhere: Callable[[], bool]
    _zeros_wait: bool = True
    _planned: set[str] = field(init=False)
    _progress: Progress = field(default_factory=Progress)
    _unplanned: dict[str, str] = field(default_factory=dict)
    _counts: int = 0
    _in_time: dict[str, Ranking] = field(default_factory=dict)  # by the ReplicaSet's key

    def __post_init__(self) -> None:
        """From now on it follows what is planned for."""
        self._planned = self._plans.follow()

    def do_zeros_wait(self) -> bool:
        """Whether workloads here that would reach zero wait for their first release."""
        return self._zeros_wait

    def release(self, now: datetime) -> None:
        """Release the pods whose turn it is, unless their forced eviction begins too soon.

        A release by a plan that would promise too little waits until there is a new one. While
        workloads of others would reach zero nothing else takes the room that they need.
        """
        writer, queue, rankings = self._writer, self._view.queue, self._rankings(now)
        if not rankings:
            self._zeros_wait = False
            return
        if writer.room() == 0:
            return
        self._zeros_wait = pace.would_reach_zero(rankings, partial(self._may_go, now))
        room = min(self._room_in_window(now), writer.room())
        if room <= 0:
            return
        if self._zeros_wait_elsewhere():
            rankings = pace.only_from_zero(rankings)
        for each in pace.next_released(rankings, room, partial(self._may_go, now)):
            key, count = each.replica_set.key, each.census.count
            if count.next_promise < count.replicas_to_keep and queue.has_changed(key):
                queue.add([key], urgent=True)  # more may be worth keeping by now
                continue
            self._view.owners.keep_at_least(each.replica_set.uid, count.next_promise)
            if writer.submit(pace.release(each, now)):
                self._unplanned[each.candidate.pod.uid] = key

    def _rankings(self, now: datetime) -> Sequence[Ranking]:
        """The pods that wait to be released, but for those that go by force too soon.

        In the last seconds these are all. They are looked for when their slots or plans change.
        """
        changed = self._planned
        if self._counts != self._forced.counts:
            self._counts = self._forced.counts
            changed |= {key for key, _ in self._plans.having(Has.RANKING)}
        while changed:
            key = changed.pop()
            ranking = self._plans.of(key).ranking
            in_time = ranking and pace.only(ranking, partial(self._is_in_time, now))
            if in_time is not None and in_time.waiting:
                self._in_time[key] = in_time
            else:
                self._in_time.pop(key, None)
        return list(self._in_time.values())

    def _is_in_time(self, now: datetime, pod: Pod) -> bool:
        begins = self._forced.begins(pod.uid)
        return begins is None or begins - now > SHORTEST_HANDOVER

    def _room_in_window(self, now: datetime) -> int:
        """How many more pods may be released at the pace seen so far.

        Releases that no plan counts yet, under way or accepted a moment ago, count as pending
        replacements.
        """
        self._unplanned = {
            uid: key
            for uid, key in self._unplanned.items()
            if uid in self._writer.under_way or self._view.queue.has_changed(key)
        }
        under_way = sum(uid in self._writer.under_way for uid in self._unplanned)
        short = self._plans.pending_replacements + len(self._unplanned)
        window = pace.window(
            max(1, round(self._settings.window * self._view.share.part)),
            self._progress.rate(self._writer.accepted(Verb.RELEASE) + under_way - short, now),
            zeros_wait=self._zeros_wait,
        )
        return window - short

    def _may_go(self, now: datetime, pod: Pod) -> bool:
        """Whether this pod's release may be sent, apart from turns."""
        known = self._view.pods.get(pod.uid)
        if known is None or known.released or not known.active:
            return False  # it has changed since it was planned
        if not self._is_in_time(now, pod):
            return False
        if self._view.queue.is_wrong(pod.origin_key):
            return False
        knows_all = self._view.knows_all_of(pod.origin_key, now)
        return knows_all and self._writer.may_write(pod.uid, Verb.RELEASE)
