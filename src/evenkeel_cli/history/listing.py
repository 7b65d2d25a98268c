"""An interruption on one screen: which workloads fell, why, what was late, what to change."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import ClassVar, Final

import msgspec

from evenkeel_cli import words
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.errors import BadInputError
from evenkeel_cli.history import headline
from evenkeel_cli.history.counts import Cause
from evenkeel_cli.history.incident import Incident, Note
from evenkeel_cli.history.nodes import SHORT, NodeAccount
from evenkeel_cli.history.pods import PodAccount
from evenkeel_cli.history.workloads import Verdict, WorkloadAccount
from evenkeel_cli.moves import Move
from evenkeel_cli.output import NAMESPACE, WORKLOAD, Item, Listing, ObjectItem, Output
from evenkeel_cli.suggesting import did_you_mean

FEW_NODES: Final = 10
"""So many nodes are shown one by one; of more a sentence says the times."""

NAMED: Final = 4
"""So many reasons, workloads and nodes are named."""

OK_STYLES: Final[Mapping[Verdict | None, str]] = {
    Verdict.KEPT: "green",
    Verdict.DIPPED: "yellow",
    Verdict.FAILED: "red",
}


class WorkloadHistory(ObjectItem, frozen=True, kw_only=True):
    """What became of a workload, and how its pods went.

    ``ok``: what the interruption did to it; null if it made none of its pods go, or if nobody says
    how many it is to have, as of a Job. ``ready`` is how many pods were available at the end,
    ``lowest`` the fewest. ``below`` and ``atZero`` are seconds, up to the last count: ``endsBelow``
    says that it was below then, so for how long is not known. ``late`` pods were lost with their
    nodes, or had to go before their replacement was available. ``why`` is the reason of most pods
    that went without one, ``change`` what prevents that. ``dipsOfOthers``: for how many seconds it
    was below on which other part. ``plain`` is the fewest in a plain eviction, where that was
    simulated.
    """

    ok: Verdict | None
    wanted: int | None
    ready: int | None
    lowest: int | None
    most_beside: int | None
    below: float
    at_zero: float
    ends_below: bool
    ends_at_zero: bool
    late: int
    moves: Mapping[Move, int]
    why: str = ""
    change: str = ""
    dips_of_others: Mapping[Cause, float] = {}
    plain: int | None = None

    @property
    def fell(self) -> bool:
        """Whether the interruption left it fewer available pods than wanted."""
        return bool(self.below) or self.ends_below

    @property
    def was_at_zero(self) -> bool:
        """Whether it left none."""
        return bool(self.at_zero) or self.ends_at_zero

    @property
    def ways(self) -> str:
        """How many went which way."""
        return ", ".join(f"{pods} {way}" for way, pods in self.moves.items())

    @property
    def style(self) -> str:
        """Whether it fell, and to nothing."""
        return "red" if self.was_at_zero else "yellow" if self.fell else ""


class NodeHistory(Item, frozen=True, kw_only=True):
    """A node, when its notice came and what it said. ``pods`` were decided about."""

    name: str
    reason: str
    noticed_at: datetime | None
    deadline: datetime | None
    pods: int
    late: int


class WorkloadHistoryList(Listing, frozen=True, kw_only=True):
    """The workloads of one interruption, those first that fell lowest; its nodes, and notes."""

    columns: ClassVar[Columns[WorkloadHistory]] = (
        NAMESPACE,
        WORKLOAD,
        Column("OK", lambda each: each.ok, style=lambda each: OK_STYLES.get(each.ok, "")),
        Column("WANTED", lambda each: each.wanted, yields=1),
        Column("LOWEST", lambda each: each.lowest, style=lambda each: each.style),
        Column("BELOW", lambda each: seconds(each.below, open_end=each.ends_below)),
        Column("AT-ZERO", lambda each: seconds(each.at_zero, open_end=each.ends_at_zero)),
        Column("LATE", lambda each: each.late),
        Column("BESIDE", lambda each: each.most_beside, wide=True),
        Column("MOVES", lambda each: each.ways, wide=True),
        Column("WHY", lambda each: each.why, wraps=True),
    )

    items: Sequence[WorkloadHistory]
    cluster: str
    begins: datetime
    ends: datetime
    observed: bool
    nodes: Sequence[NodeHistory]
    notes: Sequence[Note]


NODES: Final[Columns[NodeHistory]] = (
    Column("NODE", lambda each: words.short_node(each.name)),
    Column("REASON", lambda each: each.reason),
    Column("NOTICE", lambda each: clock(each.noticed_at)),
    Column("DEADLINE", lambda each: clock(each.deadline)),
    Column("PODS", lambda each: each.pods),
    Column("LATE", lambda each: each.late, style=lambda each: "yellow" if each.late else ""),
)


def listing(incident: Incident) -> WorkloadHistoryList:
    """What is said of an interruption; the worst comes first."""
    items = [workload(each, incident.in_plain(each.subject)) for each in incident.workloads]
    items.sort(key=rank)
    return WorkloadHistoryList(
        items=items,
        cluster=incident.cluster,
        begins=incident.begins,
        ends=incident.ends,
        observed=incident.observed,
        nodes=[_node(each) for each in incident.nodes],
        notes=incident.notes,
    )


def within(incident: Incident, namespace: str) -> Incident:
    """The part of one namespace, and all nodes. Raises BadInputError where it has none."""
    workloads = [each for each in incident.workloads if each.subject.namespace == namespace]
    others = [each for each in incident.others if each.subject.namespace == namespace]
    if not (workloads or others):
        touched: list[WorkloadAccount | PodAccount] = [*incident.workloads, *incident.others]
        there = sorted({each.subject.namespace for each in touched})
        those = f"it touched {', '.join(there) or 'none'}"
        remedy = did_you_mean(namespace, ((each, each) for each in there), those)
        raise BadInputError(f"the interruption touched no namespace {namespace}: {remedy}")
    return msgspec.structs.replace(incident, workloads=workloads, others=others)


def show(output: Output, incident: Incident, sentences: Iterable[str] = ()) -> None:
    """Print the first screen, or data. ``sentences``: about the log itself."""
    found = listing(incident)
    output.say(heading(incident))
    output.say()
    whole = output.form == "wide"
    shown = [each for each in found.items if whole or each.fell or each.late]
    if shown:
        output.table(found.columns, shown)
        output.say()
    if found.nodes and (whole or len(found.nodes) <= FEW_NODES):
        output.table(NODES, found.nodes)
        output.say()
    for sentence in (*_sentences(incident, found), *sentences):
        output.say(sentence, hang=2)
    if whole:
        for note in found.notes:
            output.say(f"{clock(note.at)}  {note.message}", hang=2)
    output.dump(found)


def heading(incident: Incident) -> str:
    """Which cluster, when, how much."""
    return (
        f"{incident.cluster}, {incident.begins:%Y-%m-%d} {clock(incident.begins)} to"
        f" {clock(incident.ends)} UTC: {words.counted(len(incident.nodes), 'node')},"
        f" {words.counted(len(incident.concerned), 'workload')},"
        f" {words.counted(len(incident.to_move), 'pod')} to move."
    )


def clock(at: datetime | None) -> str:
    """``03:00:53``."""
    return "" if at is None else f"{at:%H:%M:%S}"


def seconds(number: float, *, open_end: bool) -> str:
    """``12s``, ``>12s`` where the log ends before it does; nothing where it never was."""
    if not number:
        return "not known" if open_end else ""
    return f"{'>' if open_end else ''}{words.short_time(timedelta(seconds=number))}"


def workload(account: WorkloadAccount, plain: int | None = None) -> WorkloadHistory:
    """What is said of a workload. ``plain``: the fewest pods in a plain eviction, if known."""
    ways = Counter(pod.way for pod in account.pods if pod.cause is Cause.STORM)
    return WorkloadHistory(
        subject=account.subject,
        ok=account.verdict,
        wanted=account.wanted,
        ready=account.available,
        lowest=account.lowest,
        most_beside=account.most_beside,
        below=account.below,
        at_zero=account.at_zero,
        ends_below=account.ends_below,
        ends_at_zero=account.ends_at_zero,
        late=account.late,
        moves={way: ways[way] for way in Move if ways[way]},
        why=account.why,
        change=account.remedy if account.counts else "",
        dips_of_others=account.dips_of_others,
        plain=plain,
    )


_WORST: Final = (Verdict.FAILED, Verdict.DIPPED, Verdict.UNKNOWN, Verdict.KEPT, None)


def rank(item: WorkloadHistory) -> tuple[object, ...]:
    """The worst first: who has none at the end, who has fewer than wanted then, who had before."""
    wanted = item.wanted or 0
    lacking = 0 if item.ready is None else max(0, wanted - item.ready)
    return (
        not (lacking and lacking == wanted),
        -lacking,
        _WORST.index(item.ok),
        not item.was_at_zero,
        -item.late,
        -item.below,
        words.workload_name(item.subject),
    )


def _node(account: NodeAccount) -> NodeHistory:
    return NodeHistory(
        name=account.name,
        reason=account.kind,
        noticed_at=account.noticed_at,
        deadline=account.deadline,
        pods=account.pods,
        late=account.late,
    )


def verdict(incident: Incident) -> Iterator[str]:
    """What all comes to: the same sentences in each command, and on the page."""
    if not any(each.counts for each in incident.workloads):
        yield "How many pods were available is not in the log: versions before 0.2 do not count."
    yield headline.of(incident)
    if plain := headline.of_plain(incident):
        yield plain
    yield from of_others(incident)
    if open_ended := [each for each in incident.concerned if each.ends_below]:
        yield f"Not known: how long {_named(open_ended)} had too few, for the counts end before."


def _sentences(incident: Incident, found: WorkloadHistoryList) -> Iterator[str]:
    if incident.observed:
        yield "Evenkeel was in observe mode: it did nothing of this."
    for reason, number in Counter(each.reason for each in incident.notices).items():
        told = next(each.message for each in incident.notices if each.reason == reason)
        yield f"{reason} for {words.counted(number, 'notice')}: {told}."
    if incident.to_move:
        yield from verdict(incident)
    yield from _of_nodes(incident.nodes)
    for pods in incident.late_by_reason[:NAMED]:
        yield f"Late: {words.counted(len(pods), 'pod')}: {pods[0].why}."
    yield from _changes(found.items)
    named = next((each for each in found.items if each.fell or each.late), None)
    if named is not None:
        which = f"{words.short_name(named.subject)} -n {named.subject.namespace}"
        yield f"The same with {which} shows each of its pods; with a node's name those of a node."


def of_others(incident: Incident) -> Iterator[str]:
    """Which workloads had fewer pods than wanted on others' part."""
    for cause in Cause:
        low = [each for each in incident.workloads if cause in each.dips_of_others]
        if low:
            yield f"Below what is wanted, but not by this ({cause}): {_named(low)}."


def _named(workloads: Sequence[WorkloadAccount]) -> str:
    return words.listed([words.workload_name(each.subject) for each in workloads], NAMED)


def _of_nodes(nodes: Sequence[NodeAccount]) -> Iterator[str]:
    for kind, number in Counter(node.kind for node in nodes if node.kind).items():
        those = [node for node in nodes if node.kind == kind]
        first = min(node.noticed_at for node in those if node.noticed_at is not None)
        last = max(node.deadline for node in those if node.deadline is not None)
        yield (
            f"{kind}: {words.counted(number, 'node')}, the first at {clock(first)}, the last"
            f" deadline at {clock(last)}."
        )
    yield from of_hasty(nodes)


def of_hasty(nodes: Sequence[NodeAccount]) -> Iterator[str]:
    """Which nodes left no time for a handover."""
    hasty = [node for node in nodes if node.leaves_time is False]
    if hasty:
        named = words.listed([words.short_node(node.name) for node in hasty], NAMED)
        yield f"Notice came less than {words.short_time(SHORT)} before the deadline: {named}."


def _changes(items: Sequence[WorkloadHistory]) -> Iterator[str]:
    """Which changes would have prevented it, each with the workloads that need it."""
    needing: dict[str, list[str]] = {}
    for each in items:
        if each.change:
            needing.setdefault(each.change, []).append(words.workload_name(each.subject))
    for change, which in needing.items():
        yield f"Change {words.listed(which, NAMED)}: {change}."
