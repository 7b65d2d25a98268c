"""What is on the screen at one time: a value, made of what is known, whoever paints it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

import evenkeel
from evenkeel.decisions.floor.standing import Standing
from evenkeel.model.decision import QUIET_VERBS, Verb
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason
from evenkeel_cli import words
from evenkeel_cli.history import headline
from evenkeel_cli.history import listing as histories
from evenkeel_cli.history.counts import Cause
from evenkeel_cli.history.incident import Incident
from evenkeel_cli.history.listing import WorkloadHistory
from evenkeel_cli.history.nodes import NodeAccount
from evenkeel_cli.history.pods import PodAccount
from evenkeel_cli.history.steps import Step
from evenkeel_cli.history.workloads import Verdict, WorkloadAccount
from evenkeel_cli.moves import Move
from evenkeel_cli.nodes.listing import LeaseHolder
from evenkeel_cli.output import Item, Listing, ObjectItem
from evenkeel_cli.page.data import HINTS
from evenkeel_cli.watch import course
from evenkeel_cli.watch.course import Course
from evenkeel_cli.watch.known import ON_DEMAND, Around, Known

MOST_SAID: Final = 100
"""So many of the last decisions are on the screen at most."""

LONGEST_NAME: Final = 24
"""So many characters of who is at work are shown: the rest is to be unique."""

NAMED: Final = 3
"""So many floors that would fall are named."""

UNKNOWN_POOL: Final = "nodes"
"""What the nodes are called of which the pool is not known."""

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
    Verb.RELAX: "has its floor relaxed",
    Verb.HOLD: "has its floor held again",
    Verb.PATCH_TEMPLATE: "gets another template",
    Verb.WAIT: "waits",
    Verb.LEAVE: "is left",
}
"""What a decision does to its subject, in words."""


class Fate(StrEnum):
    """What becomes of a node with a notice, in the order in which the screen has them.

    It stays if its notice was taken back, or was a hint whose time is over. It is gone if it has
    ended, or its time is over and no pod is left on it that has to move.
    """

    GOES = "goes"
    MAY_GO = "may go"
    STAYS = "stays"
    GONE = "gone"


class NodeView(Item, frozen=True, kw_only=True):
    """A node with a notice. ``seconds`` are left to it, None if that is not known.

    ``pods`` are left on it that have to move.
    """

    name: str
    seconds: int | None
    fate: Fate
    pods: int

    @property
    def is_going(self) -> bool:
        """Whether it goes, or may go."""
        return self.fate in {Fate.GOES, Fate.MAY_GO}


class PoolView(Item, frozen=True, kw_only=True):
    """The nodes of a pool: how many are left, and those with a notice, the first to go first."""

    name: str
    nodes: int
    going: Sequence[NodeView]

    @property
    def left(self) -> int:
        """How many pods are left on nodes that go."""
        return sum(each.pods for each in self.going)


class WorkloadView(ObjectItem, frozen=True, kw_only=True):
    """A workload of which pods have to move: see WorkloadHistory. ``ready``: are available now."""

    ok: Verdict | None
    ready: int | None
    wanted: int | None
    lowest: int | None
    plain: int | None
    late: int
    why: str
    change: str

    @property
    def is_low(self) -> bool:
        """Whether it has fewer pods than wanted now."""
        return self.ready is not None and self.ready < (self.wanted or 0)

    @property
    def is_zero(self) -> bool:
        """Whether it has none of those that are wanted."""
        return self.ready == 0 and self.is_low


class FloorView(ObjectItem, frozen=True, kw_only=True):
    """A floor that somebody asked for: how many of ``floor`` pods are Ready on on-demand nodes."""

    floor: int
    survivors: int

    @property
    def stands(self) -> bool:
        """Whether it holds if all spot nodes die now."""
        return self.survivors >= self.floor


class Said(Item, frozen=True, kw_only=True):
    """A decision in plain words, and how many seconds after the beginning it was made."""

    at: float
    verb: str
    text: str
    warning: bool


class Fact(Item, frozen=True, kw_only=True):
    """Something else that is to be known, under its name; ``bad``: a person should act."""

    name: str
    text: str
    bad: bool = False


class Screen(Item, frozen=True, kw_only=True):
    """All of it. ``begins`` is when the interruption did, None before the first.

    ``calm``: no node is going. ``decisions``: the latest first, of so many that were ``decided``.
    """

    at: datetime
    source: str
    headline: str
    calm: bool
    begins: datetime | None = None
    pools: Sequence[PoolView] = ()
    workloads: Sequence[WorkloadView] = ()
    course: Course | None = None
    floors: Sequence[FloorView] = ()
    facts: Sequence[Fact] = ()
    decisions: Sequence[Said] = ()
    decided: int = 0


class ScreenList(Listing, frozen=True, kw_only=True):
    """What ``evenkeel watch`` shows at one time: one screen."""

    items: Sequence[Screen]


def of(known: Known) -> Screen:
    """The screen that shows this."""
    account = known.account
    pools = _pools(known)
    going = [node for pool in pools for node in pool.going if node.is_going]
    around = known.around or Around()
    floors = [_floor(each) for each in around.standings if each.floor.is_asked and each.wanted]
    floors.sort(key=lambda each: (each.stands, words.workload_name(each.subject)))
    workloads = [] if account is None else _workloads(account)
    said = [] if account is None else _decisions(account)
    return Screen(
        at=known.at,
        source=known.source,
        headline=_headline(account, going, workloads),
        calm=not going,
        begins=None if account is None else account.begins,
        pools=pools,
        workloads=workloads,
        course=None if account is None else course.of(account, known.plain, known.at),
        floors=floors,
        facts=list(_facts(known, around, floors)),
        decisions=said[:MOST_SAID],
        decided=len(said),
    )


def _pools(known: Known) -> Sequence[PoolView]:
    accounts = known.account.nodes if known.account is not None else ()
    waiting = Counter(
        pod.node
        for pod in (known.account.pods if known.account is not None else ())
        if pod.has_to_move and pod.way is Move.WAITING
    )
    views = defaultdict[str, list[NodeView]](list)
    for each in accounts:
        if each.noticed_at is not None:
            pool = known.pools.get(each.name, UNKNOWN_POOL)
            views[pool].append(_node(each, known.at, waiting[each.name]))
    there = Counter(known.pools[name] for name in known.left)
    found = [
        PoolView(
            name=pool,
            nodes=max(there[pool], sum(each.fate is not Fate.GONE for each in views[pool])),
            going=sorted(views[pool], key=_by_end),
        )
        for pool in {*known.pools.values(), *views}
    ]
    return sorted(found, key=lambda each: (*_by_worst(each), each.name))


def _by_end(node: NodeView) -> tuple[object, ...]:
    return [*Fate].index(node.fate), node.seconds is None, node.seconds, node.name


def _by_worst(pool: PoolView) -> tuple[object, ...]:
    """First the pools with nodes that go, the most pods left first; last what is on-demand."""
    going = sum(each.is_going for each in pool.going)
    return -pool.left, -going, not pool.going, pool.name == ON_DEMAND


def _node(node: NodeAccount, now: datetime, pods: int) -> NodeView:
    left = None if node.deadline is None else round((node.deadline - now).total_seconds())
    is_past = left is not None and left <= 0 and not pods
    return NodeView(name=node.name, seconds=left, fate=_fate(node, is_past=is_past), pods=pods)


def _fate(node: NodeAccount, *, is_past: bool) -> Fate:
    if any(step.reason == Reason.INSTANCE_OFF for step in node.steps):
        return Fate.GONE
    last = next((s for s in reversed(node.steps) if s.verb in {Verb.MARK, Verb.LIFT}), None)
    if last is not None and last.verb == Verb.LIFT:
        return Fate.STAYS
    if node.kind in HINTS:
        return Fate.STAYS if is_past else Fate.MAY_GO
    return Fate.GONE if is_past else Fate.GOES


def _workloads(account: Incident) -> Sequence[WorkloadView]:
    """The worst first."""
    shown = [each for each in account.workloads if each.is_concerned or _is_low(each)]
    told = [(each, histories.workload(each, account.in_plain(each.subject))) for each in shown]
    told.sort(key=lambda each: histories.rank(each[1]))
    return [_workload(*each) for each in told]


def _is_low(account: WorkloadAccount) -> bool:
    return bool(account.counts) and account.counts[-1].is_low


def _workload(account: WorkloadAccount, history: WorkloadHistory) -> WorkloadView:
    cause = account.counts[-1].cause if account.counts else None
    others = cause if cause not in {None, Cause.STORM} else None
    return WorkloadView(
        subject=account.subject,
        ok=history.ok,
        ready=history.ready,
        wanted=history.wanted,
        lowest=history.lowest,
        plain=history.plain,
        late=history.late,
        why=history.why or str(others or ""),
        change=history.change,
    )


def _headline(
    account: Incident | None, going: Sequence[NodeView], workloads: Sequence[WorkloadView]
) -> str:
    """``4 nodes going, the first in 73s, 6 of 8 pods replaced, nobody at zero``."""
    if account is None or not account.nodes:
        return "No node is going."
    if not going:
        return f"No node is going any more. {headline.of(account)}"
    parts = [*_of_nodes(going), *_of_pods(account.to_move)]
    zero = [each for each in workloads if each.is_zero]
    if len(zero) == 1:
        parts.append(f"{words.workload_name(zero[0].subject)} at zero")
    elif zero or any(each.ready is not None for each in workloads):
        parts.append(
            f"{words.counted(len(zero), 'workload')} at zero" if zero else "nobody at zero"
        )
    return ", ".join(parts)


def _of_nodes(going: Iterable[NodeView]) -> Iterator[str]:
    dying = [each for each in going if each.fate is Fate.GOES]
    hints = [each for each in going if each.fate is Fate.MAY_GO]
    if dying:
        left = [each.seconds for each in dying if each.seconds is not None and each.seconds > 0]
        yield f"{words.counted(len(dying), 'node')} going"
        if left:
            yield f"the first in {min(left)} s"
    if hints:
        yield f"{words.counted(len(hints), 'node')} may go"


def _of_pods(pods: Sequence[PodAccount]) -> Iterator[str]:
    ways = Counter(pod.way for pod in pods)
    late = sum(pod.is_late for pod in pods)
    others = len(pods) - ways[Move.HANDED_OVER] - ways[Move.WAITING]
    if pods:
        yield f"{ways[Move.HANDED_OVER]} of {words.counted(len(pods), 'pod')} replaced"
    if others:
        yield f"{others} gone otherwise{f' ({late} late)' if late else ''}"


def _floor(standing: Standing) -> FloorView:
    return FloorView(
        subject=standing.workload.reference, floor=standing.wanted, survivors=standing.survivors
    )


def _facts(known: Known, around: Around, floors: Sequence[FloorView]) -> Iterator[Fact]:
    if known.note:
        yield Fact(name="note", text=known.note, bad=True)
    yield Fact(name="mode", text=known.mode or "not known", bad=known.mode == "observe")
    if known.paused:
        yield Fact(name="paused", text=known.paused, bad=True)
    if known.around is not None:
        yield Fact(name="at work", text=_at_work(known.lease))
    if around.dollars is not None:
        now, saved = around.dollars
        yield Fact(name="a month", text=f"${now:,.0f} now, spot saves ${saved:,.0f}")
    if known.around is not None:
        fallen = [each for each in floors if not each.stands]
        stand = f"{len(floors)} of {len(floors)} stand" if floors else "none is asked for"
        told = ", ".join(
            f"{words.workload_name(each.subject)} has {each.survivors} of {each.floor}"
            for each in fallen[:NAMED]
        )
        fall = f"{len(fallen)} of {len(floors)} would fall: {told}"
        yield Fact(name="floors", text=fall if fallen else stand, bad=bool(fallen))
    if around.headroom:
        there = around.headroom.removeprefix("Headroom: ").partition(". ")[0]
        yield Fact(name="headroom", text=there.rstrip("."))
    yield Fact(name="version", text=evenkeel.__version__)


def _at_work(lease: LeaseHolder | None) -> str:
    """Who is, or when somebody was last."""
    if lease is None:
        return "nobody yet"
    if lease.held:
        who = lease.identity
        return who if len(who) <= LONGEST_NAME else f"{who[: LONGEST_NAME - 1]}…"
    if lease.seconds_ago is None:
        return "nobody"
    return f"nobody, last {words.short_time(timedelta(seconds=lease.seconds_ago))} ago"


def _decisions(account: Incident) -> Sequence[Said]:
    about: list[tuple[Reference, Sequence[Step]]] = [
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
    told.sort(key=lambda each: each[0].at, reverse=True)
    return [
        Said(
            at=round((step.at - account.begins).total_seconds(), 1),
            verb=step.verb,
            text=f"{_name(subject)} {SAID.get(step.verb, step.verb)}: {step.message}",
            warning=step.warning,
        )
        for step, subject in told
    ]


def _name(subject: Reference) -> str:
    if subject.kind == "Node":
        return words.short_node(subject.name)
    return f"{subject.namespace}/{subject.name}"
