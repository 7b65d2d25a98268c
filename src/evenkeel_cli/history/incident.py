"""The account of one interruption: its nodes, its workloads, and each of their pods.

It is made of the records that Evenkeel logs, and of nothing else. They say what was decided, and
what the drain counted, so this is how it looked from Evenkeel. A decision is logged once: a
pod whose eviction a budget refuses for a while is evicted at the first try here.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.adapters.telemetry.decision_log import CountRecord, DecisionRecord
from evenkeel.model.decision import Verb
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason
from evenkeel_cli import moves
from evenkeel_cli.moves import Move

QUIET: Final = timedelta(minutes=5)
"""An interruption is over when nothing was logged for so long, and every deadline has passed."""

_ELSEWHERE: Final = frozenset({Verb.PLACE, Verb.REJECT, Verb.ACKNOWLEDGE})
"""Verbs of decisions about new pods, and about events that concern no node."""

_NOTICES: Final = frozenset({"Instance", "Notice"})
"""Kinds of subjects of which no node is known yet."""

_GONE: Final = frozenset({Verb.EVICT, Verb.DELETE})


type _Key = tuple[str, str, str]


class NoteRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the log that is no decision: mostly about what went wrong."""

    time: datetime
    message: str


type Record = DecisionRecord | CountRecord | NoteRecord


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One decision about an object, and when it was made.

    ``until``: when a wait, or the object's time, ends.
    """

    at: datetime
    verb: str
    reason: str
    message: str
    warning: bool = False
    forced: bool = False
    until: datetime | None = None


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was logged, and is no decision."""

    at: datetime
    message: str


class Count(msgspec.Struct, frozen=True, kw_only=True):
    """How many pods of a workload were available from then on, of how many wanted.

    ``until`` the next count, or None: after the last count of an interruption it is not known how
    long it held.
    """

    at: datetime
    available: int
    wanted: int
    until: datetime | None = None

    @property
    def is_low(self) -> bool:
        """Whether fewer pods were available than wanted."""
        return self.available < self.wanted


class PodAccount(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided about one pod, in order, and which way it went by that.

    ``workload`` is None for a pod without a controller that Evenkeel knows.
    """

    subject: Reference
    node: str
    workload: Reference | None
    steps: Sequence[Step]
    way: Move

    @property
    def released_at(self) -> datetime | None:
        """When its replacement was asked for; None if it never was, or not any more."""
        last = self._last({Verb.RELEASE, Verb.ROLL_BACK})
        return last.at if last is not None and last.verb == Verb.RELEASE else None

    @property
    def went_at(self) -> datetime | None:
        """When it was evicted or deleted last; None if it was not."""
        last = self._last(_GONE)
        return None if last is None else last.at

    @property
    def reason(self) -> str:
        """Why it went its way; of a last moment, why it came to that."""
        return moves.behind(self.steps)

    @property
    def why(self) -> str:
        """The same in a few words."""
        return moves.REASONS.get(self.reason) or next(
            (step.message for step in reversed(self.steps) if step.reason == self.reason),
            moves.NO_WARNING,
        )

    @property
    def is_late(self) -> bool:
        """Whether it was lost with its node, or had to go before its replacement was available.

        A pod that is meant to go at the last moment (a Job's, a bare one) is not late by that.
        """
        if self.way is Move.LOST:
            return True
        last = self._last(_GONE)
        forced = last is not None and last.forced and last.warning
        return forced and self.reason not in moves.LAST_ON_PURPOSE

    def _last(self, verbs: Iterable[str]) -> Step | None:
        return next((step for step in reversed(self.steps) if step.verb in verbs), None)


class NodeAccount(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided about one node, and when it was to end.

    ``kind`` is the reason of its mark, for instance SpotInterruption, and empty if the mark is not
    in the log; ``noticed_at`` is when it was marked first. ``pods`` are how many pods of it
    were decided about, ``late`` how many of these were late.
    """

    name: str
    kind: str = ""
    noticed_at: datetime | None = None
    deadline: datetime | None = None
    steps: Sequence[Step] = ()
    pods: int = 0
    late: int = 0


class WorkloadAccount(msgspec.Struct, frozen=True, kw_only=True):
    """What was counted of one workload, in order, what was decided about it, and its pods.

    ``counts`` are empty where none was logged: for a kind that does not say how many pods it wants,
    and of versions before 0.2.
    """

    subject: Reference
    counts: Sequence[Count] = ()
    steps: Sequence[Step] = ()
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
        """The fewest pods that were available."""
        return min((count.available for count in self.counts), default=None)

    @property
    def most_beside(self) -> int | None:
        """The most pods that were available beyond those wanted: old ones and their successors."""
        return max((max(0, count.available - count.wanted) for count in self.counts), default=None)

    @property
    def below(self) -> float:
        """For how many seconds fewer pods were available than wanted, up to the last count."""
        return self._seconds(lambda count: count.is_low)

    @property
    def at_zero(self) -> float:
        """For how many seconds pods were wanted and none was available, up to the last count."""
        return self._seconds(lambda count: count.available == 0 < count.wanted)

    @property
    def dipped(self) -> bool:
        """Whether fewer pods were available than wanted at any time."""
        return any(count.is_low for count in self.counts)

    @property
    def ends_below(self) -> bool:
        """Whether an interruption's last count is low: how long that lasted is not known."""
        return any(count.is_low and count.until is None for count in self.counts)

    @property
    def late(self) -> int:
        """How many of its pods were late."""
        return sum(pod.is_late for pod in self.pods)

    def _seconds(self, holds: Callable[[Count], bool]) -> float:
        spans = (each.until - each.at for each in self.counts if each.until and holds(each))
        return sum(spans, timedelta()).total_seconds()


class Incident(msgspec.Struct, frozen=True, kw_only=True):
    """All of it. ``others`` are pods without a workload; ``pools`` the pools of nodes, if known.

    ``observed``: the functions were in observe mode, so nothing was done of what was decided.
    ``notices``: what was decided about notices that led to no node, and are tried again or refused.
    """

    cluster: str
    begins: datetime
    ends: datetime
    observed: bool = False
    nodes: Sequence[NodeAccount] = ()
    workloads: Sequence[WorkloadAccount] = ()
    others: Sequence[PodAccount] = ()
    notices: Sequence[Step] = ()
    notes: Sequence[Note] = ()
    pools: Mapping[str, str] = {}

    @property
    def pods(self) -> Iterator[PodAccount]:
        """All pods, by workload."""
        for workload in self.workloads:
            yield from workload.pods
        yield from self.others


def of(records: Iterable[Record], pools: Mapping[str, str] | None = None) -> Incident | None:
    """The account of these records, in whichever order they come; None if there is none.

    What is decided about new pods belongs to no interruption, and is left out.
    """
    ordered = sorted(filter(_belongs, records), key=lambda record: record.time)
    if not ordered:
        return None
    decisions = [record for record in ordered if isinstance(record, DecisionRecord)]
    counts = [record for record in ordered if isinstance(record, CountRecord)]
    of_nodes = defaultdict[str, list[DecisionRecord]](list)
    of_pods = defaultdict[object, list[DecisionRecord]](list)
    of_workloads = defaultdict[_Key, list[DecisionRecord]](list)
    for record in decisions:
        if record.subject.kind == "Node":
            of_nodes[record.subject.name].append(record)
        elif record.subject.kind == "Pod":
            of_pods[_identity(record.subject)].append(record)
        elif record.workload is not None:
            of_workloads[key_of(record.workload)].append(record)
    ended = {name for name, story in of_nodes.items() if any(map(_is_end, story))}
    pods = [_pod(story, ended) for story in of_pods.values()]
    return Incident(
        cluster=_cluster(decisions, counts),
        begins=ordered[0].time,
        ends=ordered[-1].time,
        observed=bool(decisions) and all(record.mode == "observe" for record in decisions),
        nodes=_nodes(of_nodes, pods),
        workloads=_workloads(pods, counts, of_workloads, _ends(ordered)),
        others=[pod for pod in pods if pod.workload is None],
        notices=_steps(each for each in decisions if each.subject.kind in _NOTICES),
        notes=[
            Note(at=each.time, message=each.message)
            for each in ordered
            if isinstance(each, NoteRecord)
        ],
        pools=pools or {},
    )


def last(records: Iterable[Record], quiet: timedelta = QUIET) -> Sequence[Record]:
    """The records of the last interruption: of the last stretch in which a node was marked.

    Without a mark in any it is the last stretch.
    """
    ordered = sorted(filter(_belongs, records), key=lambda record: record.time)
    stretches = _stretches(ordered, quiet)
    marked = (each for each in reversed(stretches) if any(map(_is_mark, each)))
    found = next(marked, stretches[-1] if stretches else [])
    if not found:
        return []
    begins, ends = found[0].time, found[-1].time
    return [record for record in ordered if begins <= record.time <= ends]


def clusters(records: Iterable[Record]) -> Sequence[str]:
    """The clusters that records are of, by name."""
    named = (each.cluster for each in records if not isinstance(each, NoteRecord))
    return sorted(set(named))


def _stretches(ordered: Iterable[Record], quiet: timedelta = QUIET) -> Sequence[Sequence[Record]]:
    """The interruptions: a new one begins after such a quiet time, and after all deadlines."""
    stretches = list[list[Record]]()
    over_at: datetime | None = None
    for record in ordered:
        if isinstance(record, NoteRecord):
            continue
        if over_at is None or record.time >= over_at:
            stretches.append([])
            over_at = record.time
        stretches[-1].append(record)
        deadline = _deadline(record) or record.time
        over_at = max(over_at, record.time + quiet, deadline + quiet)
    return stretches


def _ends(ordered: Iterable[Record]) -> Sequence[datetime]:
    return [stretch[-1].time for stretch in _stretches(ordered)]


def _cluster(decisions: Sequence[DecisionRecord], counts: Sequence[CountRecord]) -> str:
    names = [each.cluster for each in decisions[:1]] + [each.cluster for each in counts[:1]]
    return next(iter(names), "")


def _belongs(record: Record) -> bool:
    return not isinstance(record, DecisionRecord) or record.verb not in _ELSEWHERE


def _deadline(record: Record) -> datetime | None:
    """The deadline that a mark gives its node; the note that EC2 lists it no more has none."""
    if isinstance(record, DecisionRecord) and record.verb == Verb.MARK:
        return record.until
    return None


def _is_mark(record: Record) -> bool:
    """Whether a node got its time."""
    return _deadline(record) is not None


def _is_end(record: DecisionRecord) -> bool:
    return record.reason == Reason.INSTANCE_OFF


def _identity(reference: Reference) -> object:
    """One object, of this name: a StatefulSet's next pod has another uid."""
    return reference.uid or (reference.kind, reference.namespace, reference.name)


def _steps(story: Iterable[DecisionRecord]) -> Sequence[Step]:
    return [
        Step(
            at=each.time,
            verb=each.verb,
            reason=each.reason,
            message=each.message,
            warning=each.warning,
            forced=each.forced,
            until=each.until,
        )
        for each in story
    ]


def _pod(story: Sequence[DecisionRecord], ended: set[str]) -> PodAccount:
    node = next((each.node for each in reversed(story) if each.node), "")
    steps = _steps(story)
    return PodAccount(
        subject=story[-1].subject,
        node=node,
        workload=next((each.workload for each in reversed(story) if each.workload), None),
        steps=steps,
        way=moves.by_log(steps, node_ended=node in ended),
    )


def _nodes(
    of_nodes: Mapping[str, Sequence[DecisionRecord]], pods: Sequence[PodAccount]
) -> Sequence[NodeAccount]:
    on_node = defaultdict[str, list[PodAccount]](list)
    for pod in pods:
        if pod.node:
            on_node[pod.node].append(pod)
    found = []
    for name in of_nodes.keys() | on_node.keys():
        marks = [each for each in of_nodes.get(name, ()) if _is_mark(each)]
        there = on_node[name]
        found.append(
            NodeAccount(
                name=name,
                kind=marks[-1].reason if marks else "",
                noticed_at=marks[0].time if marks else None,
                deadline=marks[-1].until if marks else None,
                steps=_steps(of_nodes.get(name, ())),
                pods=len(there),
                late=sum(pod.is_late for pod in there),
            )
        )
    return sorted(found, key=lambda node: (node.noticed_at is None, node.noticed_at, node.name))


def _workloads(
    pods: Iterable[PodAccount],
    counts: Iterable[CountRecord],
    stories: Mapping[_Key, Sequence[DecisionRecord]],
    ends: Sequence[datetime],
) -> Sequence[WorkloadAccount]:
    """``ends``: when the interruptions are over."""
    subjects = {key: story[-1].workload for key, story in stories.items()}
    of_pods = defaultdict[_Key, list[PodAccount]](list)
    of_counts = defaultdict[_Key, list[CountRecord]](list)
    for pod in pods:
        if pod.workload is not None:
            subjects[key_of(pod.workload)] = pod.workload
            of_pods[key_of(pod.workload)].append(pod)
    for each in counts:
        subjects[key_of(each.workload)] = each.workload
        of_counts[key_of(each.workload)].append(each)
    return [
        WorkloadAccount(
            subject=subject,
            counts=_counts(of_counts[key], ends),
            steps=_steps(stories.get(key, ())),
            pods=of_pods[key],
        )
        for key, subject in sorted(subjects.items())
        if subject is not None
    ]


def _counts(records: Sequence[CountRecord], ends: Sequence[datetime]) -> Sequence[Count]:
    """Each holds until the next one of the same interruption."""
    following = [*(record.time for record in records[1:]), None]
    return [
        Count(
            at=record.time,
            available=record.available,
            wanted=record.wanted,
            until=then if then and not any(record.time <= end < then for end in ends) else None,
        )
        for record, then in zip(records, following, strict=False)
    ]


def key_of(workload: Reference) -> _Key:
    """What a workload is known by in records: its uid is another one once it was made anew."""
    return workload.namespace, workload.kind, workload.name
