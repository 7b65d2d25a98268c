"""One node's or one workload's part of an interruption, step by step, and each pod's way."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import ClassVar, Final

from evenkeel.adapters.telemetry.decision_log import DecisionRecord
from evenkeel.model.meta import Reference
from evenkeel_cli import words
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.history import listing as histories
from evenkeel_cli.history.counts import Count
from evenkeel_cli.history.incident import Incident
from evenkeel_cli.history.listing import WorkloadHistory, clock, seconds
from evenkeel_cli.history.nodes import NodeAccount
from evenkeel_cli.history.pods import PodAccount
from evenkeel_cli.history.workloads import WorkloadAccount
from evenkeel_cli.lines import ABBREVIATED, STYLES
from evenkeel_cli.moves import Move
from evenkeel_cli.output import Item, Listing, ObjectItem, Output
from evenkeel_cli.suggesting import did_you_mean

NAMED: Final = 5
"""So many of what there is are named where nothing of a name is."""

HANG: Final = 24
"""The column in which the text of a moment begins."""

_WORDS: Final = {str(verb): word for verb, word in ABBREVIATED.items()}
_STYLES: Final = {str(verb): style for verb, style in STYLES.items()}


class PodHistory(ObjectItem, frozen=True, kw_only=True):
    """How a pod went. ``released_at``: its replacement was asked for."""

    node: str
    released_at: datetime | None
    went_at: datetime | None
    way: Move
    late: bool
    reason: str
    why: str


class Moment(Item, frozen=True, kw_only=True):
    """Something that was decided, or a count: then ``verb`` is ``count``."""

    at: datetime
    verb: str
    subject: Reference
    reason: str = ""
    message: str
    warning: bool = False

    @property
    def line(self) -> str:
        """``03:00:56.0  evict      pod shop/web-1-abc: ReplacementAvailable: 4 available``."""
        time = f"{self.at:%H:%M:%S}.{self.at.microsecond // 100_000}"
        told = ": ".join(filter(None, (self.reason, self.message)))
        word = _WORDS.get(self.verb, self.verb)
        return f"{time}  {word:<{HANG - 13}} {words.subject_name(self.subject)}: {told}"

    @property
    def style(self) -> str:
        """The colour of what a person should know, else of the verb."""
        return "yellow" if self.warning else _STYLES.get(self.verb, "")


class PodHistoryList(Listing, frozen=True, kw_only=True):
    """The pods of a node or workload in one interruption, and all moments in their order.

    ``workload`` is what became of it, null where a node was asked for.
    """

    columns: ClassVar[Columns[PodHistory]] = (
        Column("POD", lambda each: each.subject.name),
        Column("NODE", lambda each: words.short_node(each.node), yields=1),
        Column("RELEASED", lambda each: clock(each.released_at)),
        Column("WENT", lambda each: clock(each.went_at)),
        Column("WAY", lambda each: each.way, style=lambda each: "yellow" if each.late else ""),
        Column("WHY", lambda each: each.why, wraps=True),
    )

    items: Sequence[PodHistory]
    moments: Sequence[Moment]
    workload: WorkloadHistory | None = None

    def sentences(self) -> Iterator[str]:
        """What became of the workload, and what changes that."""
        workload = self.workload
        if workload is None or workload.ok is None:
            return
        name = words.workload_name(workload.subject)
        if not workload.fell:
            yield f"{name}: {workload.ok}."
            return
        below = seconds(workload.below, open_end=workload.ends_below)
        none = seconds(workload.at_zero, open_end=workload.ends_at_zero)
        is_scaled = (workload.lowest or 0) >= (workload.wanted or 0)
        wanted = "" if is_scaled else f" of {workload.wanted}"
        lowest = f"{workload.lowest}{wanted} pods at the lowest"
        how_long = f" for {below}" if workload.below else ", for how long is not known"
        at_none = f", at none for {none}" if none else ""
        yield f"{name}: {workload.ok}, {lowest}, below what is wanted{how_long}{at_none}."
        if workload.change:
            yield f"Change: {workload.change}."


def of(incident: Incident, name: str) -> PodHistoryList:
    """The part of the node or workload of this name. Raises BadInputError unless it is one."""
    nodes = [each for each in incident.nodes if name in _names_of_node(each)]
    workloads = [
        each for each in incident.workloads if name.lower() in _names_of_workload(each.subject)
    ]
    if len(nodes) + len(workloads) != 1:
        raise BadInputError(_unclear(incident, name, [*nodes, *workloads]))
    account = None
    if nodes:
        pods = [pod for pod in incident.pods if pod.node == nodes[0].name]
        node = Reference(kind="Node", name=nodes[0].name)
        moments = [*_moments(node, nodes[0].steps), *_of_pods(pods)]
    else:
        (workload,) = workloads
        pods = list(workload.pods)
        subject, account = workload.subject, histories.workload(workload)
        moments = [*_moments(subject, workload.steps), *_counts(workload), *_of_pods(pods)]
    moments.sort(key=lambda each: each.at)
    return PodHistoryList(items=[_pod(pod) for pod in pods], moments=moments, workload=account)


def show(output: Output, found: PodHistoryList) -> None:
    """Print the moments, below them each pod's way, and what it comes to; or data."""
    for moment in found.moments:
        output.say(moment.line, moment.style, hang=HANG)
    output.say()
    output.show(found, found.sentences())


def _names_of_node(node: NodeAccount) -> set[str]:
    return {node.name, words.short_node(node.name), f"node/{node.name}"}


def _names_of_workload(subject: Reference) -> set[str]:
    kinds = {words.kind_word(subject.kind), subject.kind.lower(), f"{subject.kind.lower()}s"}
    named = {subject.name, *(f"{kind}/{subject.name}" for kind in kinds)}
    named.add(words.resource_name(subject))
    return named | {f"{subject.namespace}/{each}" for each in named}


def _unclear(incident: Incident, name: str, found: Sequence[NodeAccount | WorkloadAccount]) -> str:
    if found:
        which = ", ".join(map(_called, found[:NAMED]))
        return f"{name} may be {which}: name its kind, and its namespace by -n"
    there: list[NodeAccount | WorkloadAccount] = [*incident.workloads, *incident.nodes]
    which = ", ".join(map(_called, there[:NAMED]))
    more = " and others" if len(there) > NAMED else ""
    known = ((each, _called(item)) for item in there for each in _names(item))
    remedy = did_you_mean(name, known, f"there are {which}{more}")
    return f"the interruption touched no {name}: {remedy}"


def _names(found: NodeAccount | WorkloadAccount) -> set[str]:
    if isinstance(found, NodeAccount):
        return _names_of_node(found)
    return _names_of_workload(found.subject)


def _called(found: NodeAccount | WorkloadAccount) -> str:
    if isinstance(found, NodeAccount):
        return words.short_node(found.name)
    return words.workload_name(found.subject)


def _moments(subject: Reference, steps: Sequence[DecisionRecord]) -> Iterator[Moment]:
    for step in steps:
        yield Moment(
            at=step.time,
            verb=step.verb,
            subject=subject,
            reason=step.reason,
            message=step.message,
            warning=step.warning,
        )


def _of_pods(pods: Sequence[PodAccount]) -> Iterator[Moment]:
    for pod in pods:
        yield from _moments(pod.subject, pod.steps)


def _counts(workload: WorkloadAccount) -> Iterator[Moment]:
    for count in workload.counts:
        yield Moment(
            at=count.at,
            verb="count",
            subject=workload.subject,
            message=_of_count(count),
            warning=count.is_low,
        )


def _of_count(count: Count) -> str:
    """``2 available, 3 wanted``, and on whose part where the interruption has none in it."""
    if count.available is None:
        return f"{count.wanted} wanted, not counted from here on"
    whose = f": {count.cause}" if count.is_others else ""
    return f"{count.available} available, {count.wanted} wanted{whose}"


def _pod(pod: PodAccount) -> PodHistory:
    return PodHistory(
        subject=pod.subject,
        node=pod.node,
        released_at=pod.released_at,
        went_at=pod.went_at,
        way=pod.way,
        late=pod.is_late,
        reason=pod.reason,
        why=pod.why,
    )
