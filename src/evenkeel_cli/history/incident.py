"""The account of one interruption: its nodes, its workloads, and each of their pods.

It is made of the records that Evenkeel logs. They say what was decided, and what the drain counted,
so this is how it looked from Evenkeel. Where an observer was there its counts take the place of the
drain's. A decision is logged once: a pod whose eviction a budget refuses for a while is evicted at
the first try here.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from evenkeel.adapters.telemetry.decision_log import CountRecord, DecisionRecord, pod_count
from evenkeel.model.interruption import Key, key_of
from evenkeel.model.meta import Reference
from evenkeel.model.pod_count import PodCount
from evenkeel_cli.history import cutting, nodes, pods, workloads
from evenkeel_cli.history.counts import Span
from evenkeel_cli.history.cutting import NoteRecord, Record
from evenkeel_cli.history.nodes import NodeAccount
from evenkeel_cli.history.pods import PodAccount
from evenkeel_cli.history.workloads import WorkloadAccount

_NOTICES: Final = frozenset({"Instance", "Notice"})
"""Kinds of subjects of which no node is known yet."""


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was logged, and is no decision."""

    at: datetime
    message: str


class Seen(NamedTuple):
    """What an observer saw up to then: counts of workloads, and the pods that were lost."""

    until: datetime
    counts: Sequence[PodCount]
    lost: Sequence[PodAccount] = ()


class Incident(msgspec.Struct, frozen=True, kw_only=True):
    """All of it. ``others`` are pods without a workload.

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
    notices: Sequence[DecisionRecord] = ()
    notes: Sequence[Note] = ()
    plain: Mapping[Key, int] | None = None

    @property
    def concerned(self) -> Sequence[WorkloadAccount]:
        """The workloads that are to have so many pods, and of which the interruption took some."""
        return [each for each in self.workloads if each.is_concerned]

    @property
    def to_move(self) -> Sequence[PodAccount]:
        """The pods that it made go."""
        return [pod for pod in self.pods if pod.has_to_move]

    @property
    def late_by_reason(self) -> Sequence[Sequence[PodAccount]]:
        """Those of them that were late, the most frequent reason first."""
        found = defaultdict[str, list[PodAccount]](list)
        for pod in self.to_move:
            if pod.is_late:
                found[pod.reason].append(pod)
        return sorted(found.values(), key=len, reverse=True)

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
    ordered = cutting.ordered(records)
    return _of(ordered, ordered[0].time) if ordered else None


def seen(
    records: Iterable[Record],
    watched: Seen,
    plain: Mapping[Key, int] | None = None,
) -> Incident:
    """The account of records beside what an observer saw. ``plain``: see Incident."""
    ordered = cutting.ordered(records)
    lost = [each.lost_at for each in watched.lost if each.lost_at is not None]
    begins = min([each.time for each in ordered] + lost, default=watched.until)
    found = _of(ordered, begins, watched)
    return msgspec.structs.replace(found, plain=plain)


def _of(ordered: Sequence[Record], begins: datetime, seen: Seen | None = None) -> Incident:
    decisions = [record for record in ordered if isinstance(record, DecisionRecord)]
    counts: Sequence[PodCount] = [
        pod_count(record) for record in ordered if isinstance(record, CountRecord)
    ]
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
    on = {name: nodes.of(name, story) for name, story in of_nodes.items()}
    told = [pods.of(story, on) for story in of_pods.values()]
    over = {name: node.over_at for name, node in on.items()}
    span = Span(cutting.ends(ordered))
    if seen is not None:
        span = Span((), seen.until)
        told += [each for each in seen.lost if _identity(each.subject) not in of_pods]
        over |= {each.node: each.lost_at for each in seen.lost if each.lost_at is not None}
        counts = workloads.within(seen.counts, begins, told)
    logged = (each for each in ordered if not isinstance(each, NoteRecord))
    return Incident(
        cluster=next((each.cluster for each in logged), ""),
        begins=begins,
        ends=ordered[-1].time if ordered else begins,
        observed=bool(decisions) and all(record.mode == "observe" for record in decisions),
        nodes=_with_pods(on, told),
        workloads=workloads.of(told, counts, of_workloads, span, over),
        others=[pod for pod in told if pod.workload is None],
        notices=[each for each in decisions if each.subject.kind in _NOTICES],
        notes=[
            Note(at=each.time, message=each.message)
            for each in ordered
            if isinstance(each, NoteRecord)
        ],
    )


def _with_pods(on: Mapping[str, NodeAccount], pods: Iterable[PodAccount]) -> Sequence[NodeAccount]:
    """The nodes with a notice, and those with pods that had to move, each with its pods."""
    found = dict(on)
    for pod in sorted(pods, key=lambda pod: not pod.has_to_move):
        if pod.node and (pod.has_to_move or pod.node in found):
            node = found.get(pod.node, NodeAccount(name=pod.node))
            late = node.late + pod.is_late
            found[pod.node] = msgspec.structs.replace(node, pods=node.pods + 1, late=late)
    return sorted(
        found.values(), key=lambda node: (node.noticed_at is None, node.noticed_at, node.name)
    )


def _identity(reference: Reference) -> object:
    """One object, of this name: a StatefulSet's next pod has another uid."""
    return reference.uid or (reference.kind, reference.namespace, reference.name)
