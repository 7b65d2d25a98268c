"""What became of each workload, by its counts and by its pods."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

import msgspec

from evenkeel.adapters.telemetry.decision_log import DecisionRecord
from evenkeel.model.controllers.kinds import KINDS
from evenkeel.model.deployments import DEPLOYMENTS
from evenkeel.model.interruption import Dip, Key, key_of
from evenkeel.model.meta import Reference
from evenkeel.model.pod_count import PodCount
from evenkeel.model.reasons import Reason
from evenkeel_cli.history import counts as counting
from evenkeel_cli.history.counts import Cause, Count, Span
from evenkeel_cli.history.pods import UNTROUBLED, PodAccount
from evenkeel_cli.moves import Move

SERVING: Final = frozenset({*DEPLOYMENTS, *KINDS} - {"Job"})
"""The kinds of workloads that are to have so many pods at any time."""

_UNEXCUSED: Final = frozenset({Reason.REPLACEMENT_PENDING, Reason.LANDED_AFTER_CORDON})
"""Reasons that do not say why a workload that could be handed over had no pod."""


class Verdict(StrEnum):
    """What an interruption did to a workload of which pods had to move.

    It kept all pods that are wanted, had fewer for a reason that is named, or had fewer, or none,
    without such a reason.
    """

    KEPT = "kept"
    DIPPED = "dipped"
    FAILED = "failed"
    UNKNOWN = "not known"


class WorkloadAccount(msgspec.Struct, frozen=True, kw_only=True):
    """What was counted of one workload, in order, what was decided about it, and its pods.

    ``counts`` are empty where none was logged: for a kind that does not say how many pods it wants,
    and of versions before 0.2. ``dip`` is how low the interruption brought it, as notifications
    have it.
    """

    subject: Reference
    counts: Sequence[Count] = ()
    dip: Dip | None = None
    steps: Sequence[DecisionRecord] = ()
    pods: Sequence[PodAccount] = ()

    @property
    def wanted(self) -> int | None:
        """How many pods were wanted at the end."""
        return self.counts[-1].wanted if self.counts else None

    @property
    def available(self) -> int | None:
        """How many pods were available at the end."""
        return self.counts[-1].available if self.counts else None

    @property
    def lowest(self) -> int | None:
        """The fewest pods that the interruption left it, or that were available if it did not."""
        if self.dip is not None:
            return self.dip.lowest
        known = (c.available for c in self.counts if not c.is_others)
        return min((each for each in known if each is not None), default=None)

    @property
    def most_beside(self) -> int | None:
        """The most pods that were available beyond those wanted: old ones and their successors."""
        known = ((c.available, c.wanted) for c in self.counts if c.available is not None)
        return max((max(0, there - wanted) for there, wanted in known), default=None)

    @property
    def below(self) -> float:
        """For how many seconds the interruption kept it below what is wanted, as far as known."""
        return _seconds(self._dips)

    @property
    def at_zero(self) -> float:
        """For how many seconds it kept it at none, as far as known."""
        return _seconds(each for each in self._dips if each.is_zero)

    @property
    def was_at_zero(self) -> bool:
        """Whether the interruption left it none of the pods that are wanted."""
        return self.dip is not None and self.dip.is_zero

    @property
    def dipped(self) -> bool:
        """Whether the interruption left it fewer pods than wanted at any time."""
        return self.dip is not None

    @property
    def ends_below(self) -> bool:
        """Whether it is not known how long it was below."""
        return any(each.is_open for each in self._dips)

    @property
    def ends_at_zero(self) -> bool:
        """Whether it is not known how long it was at none."""
        return any(each.is_open for each in self._dips if each.is_zero)

    @property
    def dips_of_others(self) -> Mapping[Cause, float]:
        """For how many seconds it was below on which other part."""
        others = {each.cause for each in self.counts if each.is_others}
        return {
            cause: _seconds(each for each in self.counts if each.cause is cause)
            for cause in Cause
            if cause in others
        }

    @property
    def late(self) -> int:
        """How many of its pods were late."""
        return sum(pod.is_late for pod in self.pods)

    @property
    def is_concerned(self) -> bool:
        """Whether it is to have so many pods at any time, and the interruption took some."""
        is_serving = self.subject.kind in SERVING or bool(self.counts)
        return is_serving and (self.dipped or any(pod.has_to_move for pod in self.pods))

    @property
    def reason(self) -> str | None:
        """Why most of those of its pods went that left a gap; None if none did."""
        return None if self._gap is None else self._gap.reason

    @property
    def why(self) -> str:
        """The same in a few words, of a workload that had fewer pods than wanted, or late ones."""
        return self._gap.why if self._gap is not None and (self.dipped or self.late) else ""

    @property
    def remedy(self) -> str:
        """What its owner can change about that; empty where nothing is known."""
        return self._gap.remedy if self._gap is not None and (self.dipped or self.late) else ""

    @property
    def verdict(self) -> Verdict | None:
        """What became of it; None if it is not concerned."""
        if not self.is_concerned:
            return None
        own = [each for each in self.counts if each.cause is Cause.RESTORE and each.is_zero]
        is_excused = self.reason is not None and not (self.was_at_zero and self._was_possible)
        if own or (self.dipped and not is_excused):
            return Verdict.FAILED
        if self.dipped:
            return Verdict.DIPPED
        is_known = bool(self.counts) and all(c.available is not None for c in self.counts)
        return Verdict.KEPT if is_known else Verdict.UNKNOWN

    @property
    def _was_possible(self) -> bool:
        """Whether the reason of its dip does not say why it could not be handed over."""
        warned = any(pod.warned for pod in self.pods if pod.reason == self.reason)
        return self.reason in _UNEXCUSED or (self.reason == "" and warned)

    @property
    def _gap(self) -> PodAccount | None:
        """The first pod that left a gap for the reason of most of those that did."""
        pods = [pod for pod in self.pods if pod.has_to_move and pod.way not in UNTROUBLED]
        reasons = Counter(pod.reason for pod in pods)
        return max(pods, key=lambda pod: reasons[pod.reason], default=None)

    @property
    def _dips(self) -> Sequence[Count]:
        return [each for each in self.counts if each.cause is Cause.STORM]


def of(
    pods: Iterable[PodAccount],
    counts: Iterable[PodCount],
    stories: Mapping[Key, Sequence[DecisionRecord]],
    span: Span,
    over: Mapping[str, datetime | None],
) -> Sequence[WorkloadAccount]:
    """The accounts, in order. ``span``: of the counts; ``over``: when nodes were."""
    subjects = {key: story[-1].workload for key, story in stories.items()}
    of_pods = defaultdict[Key, list[PodAccount]](list)
    for pod in pods:
        if pod.workload is not None:
            subjects[key_of(pod.workload)] = pod.workload
            of_pods[key_of(pod.workload)].append(pod)
    of_counts = _by_workload(counts)
    subjects |= {key: its[-1].workload for key, its in of_counts.items()}
    found = list[WorkloadAccount]()
    for key, subject in sorted(subjects.items()):
        if subject is not None:
            its = of_pods[key]
            seen, dip = counting.of(of_counts.get(key, ()), span, _departures(its, over))
            steps = stories.get(key, ())
            account = WorkloadAccount(subject=subject, counts=seen, dip=dip, steps=steps, pods=its)
            found.append(account)
    return found


def within(
    counts: Iterable[PodCount], begins: datetime, pods: Iterable[PodAccount]
) -> Sequence[PodCount]:
    """What was seen of workloads from the beginning on: of those that were low, or had pods."""
    named = {key_of(pod.workload) for pod in pods if pod.workload is not None}
    found = list[PodCount]()
    for key, seen in _by_workload(counts).items():
        before = [each for each in seen if each.at <= begins][-1:]
        during = [each for each in seen if begins < each.at]
        shown = [*(msgspec.structs.replace(each, at=begins) for each in before), *during]
        if key in named or any(each.is_low for each in shown):
            found += shown
    return found


def _by_workload(counts: Iterable[PodCount]) -> Mapping[Key, Sequence[PodCount]]:
    found = defaultdict[Key, list[PodCount]](list)
    for each in counts:
        found[key_of(each.workload)].append(each)
    return found


def _departures(
    pods: Iterable[PodAccount], over: Mapping[str, datetime | None]
) -> Mapping[Cause, Sequence[datetime]]:
    """When pods went, on which part; those that were lost went with their node."""
    found = defaultdict[Cause, list[datetime]](list)
    for pod in pods:
        at = pod.went_at or (over.get(pod.node) if pod.way is Move.LOST else None)
        if at is not None:
            found[pod.cause].append(at)
    return found


def _seconds(counts: Iterable[Count]) -> float:
    return sum((each.lasts for each in counts), timedelta()).total_seconds()
