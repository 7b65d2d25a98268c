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

from evenkeel.adapters.telemetry.decision_log import CountRecord, DecisionRecord
from evenkeel.model.interruption import Key, key_of
from evenkeel.model.meta import Reference
from evenkeel_cli.history import cutting, nodes, pods, steps, workloads
from evenkeel_cli.history.counts import Span
from evenkeel_cli.history.cutting import NoteRecord, Record
from evenkeel_cli.history.nodes import NodeAccount
from evenkeel_cli.history.pods import LostPod, PodAccount
from evenkeel_cli.history.steps import Step
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
    counts: Sequence[CountRecord]
    lost: Sequence[LostPod] = ()


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
    notices: Sequence[Step] = ()
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
    lost = [each.at for each in watched.lost if each.at is not None]
    begins = min([each.time for each in ordered] + lost, default=watched.until)
    found = _of(ordered, begins, watched)
    return msgspec.structs.replace(found, plain=plain)


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
    marks, over = nodes.marked(of_nodes), dict(nodes.over(of_nodes))
    ended, warned = nodes.ended(of_nodes), nodes.warned(of_nodes)
    told = [pods.of(story, ended, marks, warned) for story in of_pods.values()]
    span = Span(cutting.ends(ordered))
    if seen is not None:
        span = Span((), seen.until)
        told += [pods.lost(each) for each in seen.lost if _identity(each.subject) not in of_pods]
        over |= {each.node: each.at for each in seen.lost if each.at is not None}
        counts = workloads.within(seen.counts, begins, told)
    noticed = marks.keys() | {pod.node for pod in told if pod.has_to_move and pod.node}
    return Incident(
        cluster=_cluster(decisions, counts),
        begins=begins,
        ends=ordered[-1].time if ordered else begins,
        observed=bool(decisions) and all(record.mode == "observe" for record in decisions),
        nodes=nodes.of(of_nodes, told, noticed | of_nodes.keys()),
        workloads=workloads.of(told, counts, of_workloads, span, over),
        others=[pod for pod in told if pod.workload is None],
        notices=steps.of(each for each in decisions if each.subject.kind in _NOTICES),
        notes=[
            Note(at=each.time, message=each.message)
            for each in ordered
            if isinstance(each, NoteRecord)
        ],
    )


def _cluster(decisions: Sequence[DecisionRecord], counts: Sequence[CountRecord]) -> str:
    names = [each.cluster for each in decisions[:1]] + [each.cluster for each in counts[:1]]
    return next(iter(names), "")


def _identity(reference: Reference) -> object:
    """One object, of this name: a StatefulSet's next pod has another uid."""
    return reference.uid or (reference.kind, reference.namespace, reference.name)
