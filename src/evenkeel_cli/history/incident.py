"""The account of one interruption: its nodes, its workloads, and each of their pods.

It is made of the records that Evenkeel logs. They say what was decided, and what the drain counted,
so this is how it looked from Evenkeel. Where an observer was there its counts take the place of the
drain's. A decision is logged once: a pod whose eviction a budget refuses for a while is evicted at
the first try here.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec

from evenkeel.adapters.telemetry.decision_log import CountRecord, DecisionRecord
from evenkeel.decisions.interruption.late import LAST_ON_PURPOSE
from evenkeel.model.controllers.kinds import KINDS
from evenkeel.model.decision import Verb
from evenkeel.model.deployments import DEPLOYMENTS
from evenkeel.model.interruption import QUIET, Key, key_of
from evenkeel.model.meta import Reference
from evenkeel.model.pod_count import FOLLOWED_FOR
from evenkeel.model.reasons import Reason
from evenkeel_cli import moves
from evenkeel_cli.history import counts as counting
from evenkeel_cli.history.counts import Cause, Count, Departure, Span
from evenkeel_cli.moves import Move

SHORT: Final = timedelta(seconds=60)
"""A notice that comes later than this before its deadline leaves little time."""

_ELSEWHERE: Final = frozenset({Verb.PLACE, Verb.REJECT, Verb.ACKNOWLEDGE})
"""Verbs of decisions about new pods, and about events that concern no node."""

_NOTICES: Final = frozenset({"Instance", "Notice"})
"""Kinds of subjects of which no node is known yet."""

_GONE: Final = frozenset({Verb.EVICT, Verb.DELETE})

_BEGUN: Final = _GONE | {Verb.RELEASE}
"""Verbs with which a pod begins to go; the reason is why it has to."""

_ON_WHOSE_PART: Final[Mapping[str, Cause]] = {
    Reason.ABOVE_FLOOR: Cause.RESTORE,
    Reason.FLOOR_MISSING: Cause.RESTORE,
    Reason.POOL_TOO_FULL: Cause.RESTORE,
    Reason.FLOOR_RELAXED: Cause.RESTORE,
    Reason.MOVE_IS_OVER: Cause.RESTORE,
    Reason.EVICTION_ASKED: Cause.ASKED,
}
"""By the reason with which a pod begins to go from a node of which no notice is known."""

SERVING: Final = frozenset({*DEPLOYMENTS, *KINDS} - {"Job"})
"""The kinds of workloads that are to have so many pods at any time."""

_UNEXCUSED: Final = frozenset({Reason.REPLACEMENT_PENDING, Reason.LANDED_AFTER_CORDON})
"""Reasons that do not say why a workload that could be handed over had no pod."""


UNTROUBLED: Final = frozenset({Move.HANDED_OVER, Move.LEFT, Move.FINISHED, Move.PUT_BACK})
"""Ways on which a pod leaves no gap."""


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


class Verdict(StrEnum):
    """What an interruption did to a workload of which pods had to move.

    It kept all pods that are wanted, had fewer for a reason that is named, or had fewer, or none,
    without such a reason.
    """

    KEPT = "kept"
    DIPPED = "dipped"
    FAILED = "failed"
    UNKNOWN = "not known"


class LostPod(NamedTuple):
    """A pod whose node was gone before it was told to go. ``warned``: see PodAccount."""

    subject: Reference
    node: str
    workload: Reference
    at: datetime | None
    warned: bool


class Seen(NamedTuple):
    """What an observer saw up to then: counts of workloads, and the pods that were lost."""

    until: datetime
    counts: Sequence[CountRecord]
    lost: Sequence[LostPod] = ()


class PodAccount(msgspec.Struct, frozen=True, kw_only=True):
    """What was decided about one pod, in order, and which way it went by that.

    ``workload`` is None for a pod without a controller that Evenkeel knows, and ``cause`` on whose
    part it had to go. ``warned``: its node's notice left time for a handover.
    """

    subject: Reference
    node: str
    workload: Reference | None
    steps: Sequence[Step]
    way: Move
    cause: Cause = Cause.STORM
    warned: bool = False

    @property
    def has_to_move(self) -> bool:
        """Whether the interruption made it go."""
        return self.cause is Cause.STORM and self.way is not Move.LEFT

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
        said = (step.message.rstrip(".") for step in self.steps if step.reason == self.reason)
        nothing = moves.NO_REPLACEMENT if self.warned else moves.NO_WARNING
        return moves.REASONS.get(self.reason) or next(said, nothing)

    @property
    def is_late(self) -> bool:
        """Whether it was lost with its node, or had to go before its replacement was available.

        A pod that is meant to go at the last moment (a Job's, a bare one) is not late by that.
        """
        if self.way is Move.LOST:
            return True
        last = self._last(_GONE)
        forced = last is not None and last.forced and last.warning
        return forced and self.reason not in LAST_ON_PURPOSE

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
        """The fewest pods that were available, but for dips on others' part."""
        known = (c.available for c in self.counts if c.cause in {None, Cause.STORM})
        return min((each for each in known if each is not None), default=None)

    @property
    def most_beside(self) -> int | None:
        """The most pods that were available beyond those wanted: old ones and their successors."""
        known = ((c.available, c.wanted) for c in self.counts if c.available is not None)
        return max((max(0, there - wanted) for there, wanted in known), default=None)

    @property
    def below(self) -> float:
        """For how many seconds the interruption kept it below what is wanted, as far as known."""
        return self._seconds(self._dips)

    @property
    def at_zero(self) -> float:
        """For how many seconds it kept it at none, as far as known."""
        return self._seconds(filter(_is_zero, self._dips))

    @property
    def was_at_zero(self) -> bool:
        """Whether the interruption left it none of the pods that are wanted."""
        return any(map(_is_zero, self._dips))

    @property
    def dipped(self) -> bool:
        """Whether the interruption left it fewer pods than wanted at any time."""
        return any(self._dips)

    @property
    def ends_below(self) -> bool:
        """Whether it is not known how long it was below."""
        return any(self._is_open(each) for each in self._dips)

    @property
    def ends_at_zero(self) -> bool:
        """Whether it is not known how long it was at none."""
        return any(self._is_open(each) for each in self._dips if each.is_zero)

    @property
    def dips_of_others(self) -> Mapping[Cause, float]:
        """For how many seconds it was below on which other part."""
        low = [each for each in self.counts if each.cause not in {None, Cause.STORM}]
        return {
            cause: self._seconds(each for each in low if each.cause is cause)
            for cause in Cause
            if any(each.cause is cause for each in low)
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
        pods = (pod for pod in self.pods if pod.has_to_move and pod.way not in UNTROUBLED)
        return next((each for each, _ in Counter(p.reason for p in pods).most_common(1)), None)

    @property
    def why(self) -> str:
        """The same in a few words, of a workload that had fewer pods than wanted, or late ones."""
        if not (self.dipped or self.late):
            return ""
        return next((pod.why for pod in self.pods if pod.reason == self.reason), "")

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
    def _dips(self) -> Iterator[Count]:
        return (each for each in self.counts if each.cause is Cause.STORM)

    def _is_open(self, count: Count) -> bool:
        """Whether the records do not say what came after a count."""
        place = self.counts.index(count)
        after = self.counts[place + 1 : place + 2]
        return count.until is None or any(each.available is None for each in after)

    def _seconds(self, counts: Iterable[Count]) -> float:
        return sum((each.lasts for each in counts), timedelta()).total_seconds()


def _is_zero(count: Count) -> bool:
    return count.is_zero


class Incident(msgspec.Struct, frozen=True, kw_only=True):
    """All of it. ``others`` are pods without a workload; ``pools`` the pools of nodes, if known.

    ``plain``: the fewest pods that each workload would have had where a plain eviction empties the
    nodes: cordon them, and evict all pods at once. None where that was not simulated.
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
    plain: Mapping[Key, int] | None = None

    @property
    def concerned(self) -> Sequence[WorkloadAccount]:
        """The workloads that are to have so many pods, and of which the interruption took some."""
        return [each for each in self.workloads if each.is_concerned]

    @property
    def to_move(self) -> Sequence[PodAccount]:
        """The pods that it made go."""
        return [pod for pod in self.pods if pod.has_to_move]

    def in_plain(self, workload: Reference) -> int | None:
        """The fewest pods that this one would have had in a plain eviction, if that is known."""
        return None if self.plain is None else self.plain.get(key_of(workload))

    @property
    def pods(self) -> Iterator[PodAccount]:
        """All pods, by workload."""
        for workload in self.workloads:
            yield from workload.pods
        yield from self.others


def of(records: Iterable[Record]) -> Incident | None:
    """The account of these records, in whichever order they come; None if there is none.

    What is decided about new pods belongs to no interruption, and is left out.
    """
    ordered = _ordered(records)
    return _of(ordered, ordered[0].time) if ordered else None


def seen(
    records: Iterable[Record],
    watched: Seen,
    pools: Mapping[str, str] | None = None,
    plain: Mapping[Key, int] | None = None,
) -> Incident:
    """The account of records beside what an observer saw. ``pools``, ``plain``: see Incident."""
    ordered = _ordered(records)
    lost = [each.at for each in watched.lost if each.at is not None]
    begins = min([each.time for each in ordered] + lost, default=watched.until)
    found = _of(ordered, begins, watched)
    return msgspec.structs.replace(found, pools=pools or {}, plain=plain)


def _ordered(records: Iterable[Record]) -> Sequence[Record]:
    return sorted(filter(_belongs, records), key=lambda record: record.time)


def _of(ordered: Sequence[Record], begins: datetime, seen: Seen | None = None) -> Incident:
    decisions = [record for record in ordered if isinstance(record, DecisionRecord)]
    counts: Sequence[CountRecord] = [each for each in ordered if isinstance(each, CountRecord)]
    of_nodes = defaultdict[str, list[DecisionRecord]](list)
    of_pods = defaultdict[object, list[DecisionRecord]](list)
    of_workloads = defaultdict[Key, list[DecisionRecord]](list)
    for record in decisions:
        if record.subject.kind == "Node":
            of_nodes[record.subject.name].append(record)
        elif record.subject.kind == "Pod":
            of_pods[_identity(record.subject)].append(record)
        elif record.workload is not None:
            of_workloads[key_of(record.workload)].append(record)
    ended = {name for name, story in of_nodes.items() if any(map(_is_end, story))}
    marks = {
        name: next(each.time for each in story if _is_mark(each))
        for name, story in of_nodes.items()
        if any(map(_is_mark, story))
    }
    over = dict(_over(of_nodes))
    warned = {name for name, at in marks.items() if _deadline_of(of_nodes[name]) - at >= SHORT}
    pods = [_pod(story, ended, marks, warned) for story in of_pods.values()]
    span = Span(_ends(ordered))
    if seen is not None:
        span = Span((), seen.until)
        lost = (each for each in seen.lost if _identity(each.subject) not in of_pods)
        pods += [_lost(each) for each in lost]
        over |= {each.node: each.at for each in seen.lost if each.at is not None}
        counts = _within(seen.counts, begins, pods)
    noticed = marks.keys() | {pod.node for pod in pods if pod.has_to_move and pod.node}
    return Incident(
        cluster=_cluster(decisions, counts),
        begins=begins,
        ends=ordered[-1].time if ordered else begins,
        observed=bool(decisions) and all(record.mode == "observe" for record in decisions),
        nodes=_nodes(of_nodes, pods, noticed | of_nodes.keys()),
        workloads=_workloads(pods, counts, of_workloads, span, over),
        others=[pod for pod in pods if pod.workload is None],
        notices=_steps(each for each in decisions if each.subject.kind in _NOTICES),
        notes=[
            Note(at=each.time, message=each.message)
            for each in ordered
            if isinstance(each, NoteRecord)
        ],
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
    """The interruptions: a new one begins after such a quiet time, and after all deadlines.

    The count that follows a low one belongs to its interruption.
    """
    stretches = list[list[Record]]()
    over_at: datetime | None = None
    low = dict[Key, datetime]()
    for record in ordered:
        if isinstance(record, NoteRecord):
            continue
        closes = isinstance(record, CountRecord) and _closes(record, low)
        if over_at is None or (record.time >= over_at and not closes):
            stretches.append([])
            over_at = record.time
        stretches[-1].append(record)
        deadline = _deadline(record) or record.time
        over_at = max(over_at, record.time + quiet, deadline + quiet)
    return stretches


def _closes(record: CountRecord, low: dict[Key, datetime]) -> bool:
    """Whether a count ends a low one of not long ago. ``low`` are the times of those."""
    key = key_of(record.workload)
    if record.available is None or record.available < record.wanted:
        low.setdefault(key, record.time)
        return False
    since = low.pop(key, None)
    return since is not None and record.time - since < FOLLOWED_FOR


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


def _over(of_nodes: Mapping[str, Sequence[DecisionRecord]]) -> Mapping[str, datetime]:
    """When nodes ended: when that was seen, else at their deadline."""
    ends = dict[str, datetime]()
    for name, story in of_nodes.items():
        seen = next((each.time for each in story if _is_end(each)), None)
        if seen is not None or any(map(_is_mark, story)):
            ends[name] = seen or _deadline_of(story)
    return ends


def _deadline_of(story: Iterable[DecisionRecord]) -> datetime:
    """The last deadline of a node that was marked."""
    return [each for record in story if (each := _deadline(record)) is not None][-1]


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


def _pod(
    story: Sequence[DecisionRecord],
    ended: set[str],
    marks: Mapping[str, datetime],
    warned: Container[str],
) -> PodAccount:
    """``marks``: when nodes were marked first; those that are ``warned`` had some time left."""
    node = next((each.node for each in reversed(story) if each.node), "")
    steps = _steps(story)
    return PodAccount(
        subject=story[-1].subject,
        node=node,
        workload=next((each.workload for each in reversed(story) if each.workload), None),
        steps=steps,
        way=moves.by_log(steps, node_ended=node in ended),
        cause=_on_whose_part(story, marks.get(node)),
        warned=node in warned,
    )


def _on_whose_part(story: Sequence[DecisionRecord], marked_at: datetime | None) -> Cause:
    """Who made a pod go. From a node with a notice the interruption does."""
    if marked_at is not None and story[-1].time >= marked_at:
        return Cause.STORM
    reasons = (each.reason for each in story if each.verb in _BEGUN)
    found = (_ON_WHOSE_PART[each] for each in reasons if each in _ON_WHOSE_PART)
    return next(found, Cause.STORM)


def _lost(pod: LostPod) -> PodAccount:
    """A pod that nothing was decided about."""
    return PodAccount(
        subject=pod.subject,
        node=pod.node,
        workload=pod.workload,
        steps=(),
        way=Move.LOST,
        warned=pod.warned,
    )


def _within(
    counts: Iterable[CountRecord], begins: datetime, pods: Iterable[PodAccount]
) -> Sequence[CountRecord]:
    """What was seen of workloads from the beginning on: of those that were low, or had pods."""
    named = {key_of(pod.workload) for pod in pods if pod.workload is not None}
    of_each = defaultdict[Key, list[CountRecord]](list)
    for count in counts:
        of_each[key_of(count.workload)].append(count)
    found = list[CountRecord]()
    for key, seen in of_each.items():
        before = [each for each in seen if each.time <= begins][-1:]
        during = [each for each in seen if begins < each.time]
        shown = [*(msgspec.structs.replace(each, time=begins) for each in before), *during]
        if key in named or any(c.available is not None and c.available < c.wanted for c in shown):
            found += shown
    return found


def _nodes(
    of_nodes: Mapping[str, Sequence[DecisionRecord]],
    pods: Sequence[PodAccount],
    names: Iterable[str],
) -> Sequence[NodeAccount]:
    """The nodes of these names: those with a notice, or with pods that had to move."""
    on_node = defaultdict[str, list[PodAccount]](list)
    for pod in pods:
        if pod.node:
            on_node[pod.node].append(pod)
    found = []
    for name in names:
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
    stories: Mapping[Key, Sequence[DecisionRecord]],
    span: Span,
    over: Mapping[str, datetime],
) -> Sequence[WorkloadAccount]:
    """``span``: of the counts; ``over``: when nodes were."""
    subjects = {key: story[-1].workload for key, story in stories.items()}
    of_pods = defaultdict[Key, list[PodAccount]](list)
    of_counts = defaultdict[Key, list[CountRecord]](list)
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
            counts=counting.of(of_counts[key], span, _departures(of_pods[key], over)),
            steps=_steps(stories.get(key, ())),
            pods=of_pods[key],
        )
        for key, subject in sorted(subjects.items())
        if subject is not None
    ]


def _departures(pods: Iterable[PodAccount], over: Mapping[str, datetime]) -> Iterator[Departure]:
    """When pods went; those that were lost went with their node."""
    for pod in pods:
        at = pod.went_at or (over.get(pod.node) if pod.way is Move.LOST else None)
        if at is not None:
            yield Departure(at, pod.cause)
