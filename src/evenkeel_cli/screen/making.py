"""The screen is made of what is known."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from evenkeel.adapters.telemetry.decision_log import DecisionRecord
from evenkeel.decisions.floor.standing import Standing
from evenkeel.model.decision import QUIET_VERBS, Verb
from evenkeel.model.interruption import Key, key_of
from evenkeel.model.meta import Reference
from evenkeel_cli import words
from evenkeel_cli.history import listing as histories
from evenkeel_cli.history.incident import Incident
from evenkeel_cli.history.nodes import NodeAccount
from evenkeel_cli.history.pods import PodAccount
from evenkeel_cli.history.workloads import WorkloadAccount
from evenkeel_cli.moves import Move
from evenkeel_cli.screen import course, summary
from evenkeel_cli.screen.course import HINTS
from evenkeel_cli.screen.known import ON_DEMAND, Around, Known
from evenkeel_cli.screen.views import (
    Counted,
    Fate,
    FloorView,
    LateView,
    NodeView,
    Note,
    PodView,
    PoolView,
    Said,
    Screen,
    Told,
    WorkloadView,
)

MOST_SAID: Final = 100
"""So many of the last decisions are on the screen at most."""

UNKNOWN_POOL: Final = "nodes"
"""What the nodes are called of which the pool is not known."""

MAY_GO: Final = "may go"
"""What is said of a node whose fate is undecided."""

SAID: Final[Mapping[str, str]] = {
    Verb.MARK: "has to go",
    Verb.CORDON: "takes no new pods",
    Verb.DRAIN: "is emptied",
    Verb.LIFT: "may stay",
    Verb.COMPLETE: "is gone",
    Verb.EXCLUDE: "leaves the load balancers",
    Verb.RELEASE: "is being replaced",
    Verb.EVICT: "is told to go",
    Verb.DELETE: "is deleted",
    Verb.ROLL_BACK: "goes back to its owner",
    Verb.TAINT: "is taken for dead",
    Verb.SET_CONDITION: "gets a condition",
    Verb.TELL: "hears when its node ends",
    Verb.COOL_DOWN: "rests",
    Verb.TRY_AGAIN: "is tried again",
    Verb.SEAT: "gets a seat for its next one",
    Verb.FREE: "is not needed any more",
    Verb.LET_IN: "takes its seat",
    Verb.HOLD_NODE: "keeps the room of a seat",
    Verb.LET_GO: "takes new pods again",
    Verb.RELAX: "has its floor relaxed",
    Verb.HOLD: "has its floor held again",
    Verb.PATCH_TEMPLATE: "gets another template",
    Verb.WAIT: "waits",
    Verb.LEAVE: "is left",
}
"""What a decision does to its subject, in words."""


def of(known: Known) -> Screen:
    """The screen that shows this."""
    account = known.account
    if account is not None and known.over:
        known = known._replace(at=course.ends(account))
    around = known.around or Around()
    asked = [each for each in around.standings if each.floor.is_asked and each.wanted]
    floors = [] if known.over else sorted(map(_floor, asked), key=_by_need)
    if account is None:
        return Screen(
            at=known.at,
            source=known.source,
            headline=summary.headline(known, (), ()),
            calm=True,
            over=known.over,
            pools=_pools(known, ()),
            facts=list(summary.facts(known, floors)),
            floors=floors,
            money=around.money,
        )
    wanted = {key_of(each.workload.reference): each.wanted for each in asked}
    counts = {
        key_of(each.subject): course.counts(known, account, each) for each in account.workloads
    }
    nodes = _nodes(known, account)
    going = [node for node in nodes if node.is_going]
    workloads = _workloads(account, counts, wanted)
    decisions = _decisions(account)
    return Screen(
        at=known.at,
        source=known.source,
        headline=summary.headline(known, going, workloads),
        calm=not going,
        over=known.over,
        begins=account.begins,
        figures=summary.figures(account) if account.to_move else (),
        facts=list(summary.facts(known, floors)),
        sentences=() if going else summary.sentences(account),
        course=course.of(known, account, counts),
        pools=_pools(known, nodes),
        nodes=nodes,
        workloads=workloads,
        pods=[_pod(account, each) for each in account.pods],
        late=_late(account),
        floors=floors,
        money=around.money,
        decisions=[_said(account, *each) for each in decisions[:MOST_SAID]],
        decided=len(decisions),
        notes=[Note(course.seconds(account, each.at), each.message) for each in account.notes],
    )


def _nodes(known: Known, account: Incident) -> Sequence[NodeView]:
    """The first to go first."""
    waiting = Counter(pod.node for pod in account.to_move if pod.way is Move.WAITING)
    views = [_node(known, account, each, waiting[each.name]) for each in account.nodes]
    return sorted(views, key=_by_end)


def _node(known: Known, account: Incident, node: NodeAccount, left: int) -> NodeView:
    deadline = node.deadline
    seconds = None if deadline is None else round((deadline - known.at).total_seconds())
    is_past = seconds is not None and seconds <= 0 and not left
    fate = None if node.noticed_at is None else _fate(node, is_past=is_past)
    return NodeView(
        name=node.name,
        pool=known.pools.get(node.name, ""),
        kind=node.kind,
        noticed=_seconds(account, node.noticed_at),
        deadline=_seconds(account, deadline),
        seconds=seconds,
        fate=fate,
        in_words=_in_words(fate, seconds),
        pods=node.pods,
        left=left,
        late=node.late,
        steps=_told(account, node.steps),
    )


def _in_words(fate: Fate | None, seconds: int | None) -> str:
    if fate is Fate.GOES:
        return "" if seconds is None else f"{max(0, seconds)}s"
    return MAY_GO if fate is Fate.UNDECIDED else fate or ""


def _fate(node: NodeAccount, *, is_past: bool) -> Fate:
    if node.off_at is not None:
        return Fate.GONE
    last = next((s for s in reversed(node.steps) if s.verb in {Verb.MARK, Verb.LIFT}), None)
    if last is not None and last.verb == Verb.LIFT:
        return Fate.STAYS
    if node.kind in HINTS:
        return Fate.STAYS if is_past else Fate.UNDECIDED
    return Fate.GONE if is_past else Fate.GOES


def _by_end(node: NodeView) -> tuple[object, ...]:
    place = len(Fate) if node.fate is None else [*Fate].index(node.fate)
    return place, node.seconds is None, node.seconds, node.name


def _pools(known: Known, nodes: Sequence[NodeView]) -> Sequence[PoolView]:
    """First those with nodes that go, the most pods left first; last what is on-demand."""
    by_pool = defaultdict[str, list[NodeView]](list)
    for each in nodes:
        by_pool[each.pool or UNKNOWN_POOL].append(each)
    there = Counter(known.pools[name] for name in known.left)
    found = [_pool(pool, there[pool], by_pool[pool]) for pool in {*known.pools.values(), *by_pool}]
    return sorted(found, key=_by_worst)


def _pool(name: str, there: int, nodes: Sequence[NodeView]) -> PoolView:
    """``there``: so many of its nodes are seen in the cluster."""
    return PoolView(
        name=name,
        nodes=max(there, sum(each.fate not in {None, Fate.GONE} for each in nodes)),
        going=sum(each.is_going for each in nodes),
        pods=sum(each.pods for each in nodes),
        left=sum(each.left for each in nodes),
        late=sum(each.late for each in nodes),
        ends=list(_ends(nodes)),
    )


def _by_worst(pool: PoolView) -> tuple[object, ...]:
    return -pool.left, -pool.going, not pool.ends, pool.name == ON_DEMAND, pool.name


def _ends(nodes: Sequence[NodeView]) -> Iterator[str]:
    """``73s (2)``: seconds and pods left; of those that stay or are gone how many there are."""
    for node in (each for each in nodes if each.is_going):
        yield f"{node.in_words} ({node.left})" if node.left else node.in_words
    fates = Counter(node.fate for node in nodes)
    if stay := fates[Fate.STAYS]:
        yield f"{stay} stay{'s' * (stay == 1)}"
    if gone := fates[Fate.GONE]:
        yield f"{gone} gone"


def _workloads(
    account: Incident,
    counts: Mapping[Key, Sequence[Counted]],
    floors: Mapping[Key, int],
) -> Sequence[WorkloadView]:
    """The worst first."""
    views = [
        _workload(account, each, counts[key], floors.get(key))
        for each in account.workloads
        for key in (key_of(each.subject),)
    ]
    return sorted(views, key=histories.rank)


def _workload(
    account: Incident, workload: WorkloadAccount, counts: Sequence[Counted], floor: int | None
) -> WorkloadView:
    last = workload.counts[-1] if workload.counts else None
    others = last.cause if last is not None and last.is_others else None
    history = histories.workload(workload, account.in_plain(workload.subject))
    its = msgspec.structs.asdict(history) | {"why": history.why or str(others or "")}
    return WorkloadView(
        **its,
        name=words.short_name(workload.subject),
        pods=len(workload.pods),
        floor=floor,
        counts=counts,
    )


def _pod(account: Incident, pod: PodAccount) -> PodView:
    return PodView(
        subject=pod.subject,
        workload="" if pod.workload is None else words.workload_name(pod.workload),
        node=pod.node,
        way=pod.way,
        released=_seconds(account, pod.released_at),
        went=_seconds(account, pod.went_at),
        late=pod.is_late,
        why=pod.why,
        steps=_told(account, pod.steps),
    )


def _late(account: Incident) -> Sequence[LateView]:
    """The late pods by reason, most first."""
    return [
        LateView(
            pods=len(pods),
            why=pods[0].why,
            change=pods[0].remedy,
            workloads=list(
                dict.fromkeys(words.workload_name(each.workload or each.subject) for each in pods)
            ),
        )
        for pods in account.late_by_reason
    ]


def _floor(standing: Standing) -> FloorView:
    reference = standing.workload.reference
    return FloorView(
        subject=reference,
        name=words.short_name(reference),
        floor=standing.wanted,
        survivors=standing.survivors,
    )


def _by_need(floor: FloorView) -> tuple[object, ...]:
    return floor.stands, words.workload_name(floor.subject)


def _decisions(account: Incident) -> Sequence[tuple[DecisionRecord, Reference]]:
    """Those that a person should know, and about what, the latest first."""
    about: list[tuple[Reference, Sequence[DecisionRecord]]] = [
        *((Reference(kind="Node", name=each.name), each.steps) for each in account.nodes),
        *((each.subject, each.steps) for each in account.workloads),
        *((each.subject, each.steps) for each in account.pods),
    ]
    told = [
        (step, subject)
        for subject, steps in about
        for step in steps
        if step.warning or step.verb not in QUIET_VERBS
    ]
    return sorted(told, key=lambda each: each[0].time, reverse=True)


def _said(account: Incident, step: DecisionRecord, subject: Reference) -> Said:
    is_node = subject.kind == "Node"
    name = words.short_node(subject.name) if is_node else f"{subject.namespace}/{subject.name}"
    return Said(
        at=course.seconds(account, step.time),
        verb=step.verb,
        text=f"{name} {SAID.get(step.verb, step.verb)}: {step.message}",
        warning=step.warning,
    )


def _told(account: Incident, steps: Sequence[DecisionRecord]) -> Sequence[Told]:
    return [
        Told(course.seconds(account, each.time), each.verb, each.reason, each.message)
        for each in steps
    ]


def _seconds(account: Incident, at: datetime | None) -> float | None:
    return None if at is None else course.seconds(account, at)
