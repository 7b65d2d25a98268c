"""Doomed nodes, as ``evenkeel nodes`` shows them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import ClassVar, Final

from evenkeel.flows.drain.lease.sharing import divided_by
from evenkeel.flows.drain.lease.wire import held_for
from evenkeel.model import names
from evenkeel.model.meta import Reference
from evenkeel.model.pod import Pod
from evenkeel.model.times import in_words
from evenkeel.model.way import Way
from evenkeel_cli import words
from evenkeel_cli.columns import Column, Columns
from evenkeel_cli.draining.pods import OF_THE_NODE
from evenkeel_cli.nodes.looking import Doomed, Going, Look
from evenkeel_cli.output import Item, Listing, ObjectItem
from evenkeel_cli.program import NAME

HURRY: Final = timedelta(seconds=30)
"""With so little time left even a grace period hardly fits."""

UNREADABLE: Final = "unreadable"


class State(StrEnum):
    """How far a pod has come on its way."""

    RUNNING = "running"
    RELEASED = "released"
    LEAVING = "leaving"


SAID: Final = {State.LEAVING: "told to go", State.RELEASED: "being replaced"}
"""What is said of a pod instead of its way once it goes."""

ORDER: Final = (*SAID.values(), *words.WAYS.values())


class DoomedPod(Item, frozen=True, kw_only=True):
    """A pod that is left on a doomed node.

    ``state`` is how far it has come, ``way`` how it goes, and ``reason`` why that way, which
    ``message`` says to people.
    """

    subject: Reference
    workload: Reference
    state: State
    way: Way
    reason: str
    message: str

    @property
    def how(self) -> str:
        """In two or three words."""
        return SAID.get(self.state) or words.WAYS[self.way]


class DoomedNode(ObjectItem, frozen=True, kw_only=True):
    """A node with an open notice.

    ``notice`` is what the kind of event is called; ``hint``: the node may live on. ``action`` is
    what becomes of the instance at the ``deadline``; ``secondsLeft`` is negative after it. Its pods
    go once it is ``draining``: nothing new lands there. ``ofNode`` are those that stay: of
    DaemonSets, and static ones.
    """

    notice: str
    hint: bool = False
    action: str = ""
    deadline: datetime | None = None
    seconds_left: int | None = None
    draining: bool = False
    pods: Sequence[DoomedPod] = ()
    of_node: int = 0

    @property
    def how(self) -> str:
        """How its pods go."""
        begun = "" if self.draining or not self.pods else "once its drain begins: "
        return f"{begun}{in_short(self.pods)}"

    @property
    def style(self) -> str:
        """The colour of the time that is left."""
        return style_of(self.seconds_left, hint=self.hint) if self.pods else ""


class LeaseHolder(Item, frozen=True, kw_only=True):
    """Who hands pods over: the holder of the reconciler's Lease, if it is ``held`` now.

    ``identity`` is empty once it was given up, for nothing was left to do. ``renewed`` is when one
    was last at work, ``secondsAgo`` how long ago that is. ``shares``: among how many the work of a
    large storm is divided.
    """

    identity: str
    held: bool
    renewed: datetime | None
    seconds_ago: int | None = None
    shares: int = 1


class DoomedNodeList(Listing, frozen=True, kw_only=True):
    """All nodes with an open notice: what `evenkeel nodes` prints.

    ``lease`` is null where there is none, and ``paused`` where Evenkeel is not paused.
    """

    columns: ClassVar[Columns[DoomedNode]] = (
        Column("NODE", lambda each: words.short_node(each.subject.name)),
        Column("NOTICE", lambda each: each.notice),
        Column("ACTION", lambda each: each.action, wide=True),
        Column("DRAINING", lambda each: each.draining, wide=True),
        Column(
            "DEADLINE",
            lambda each: None if each.deadline is None else in_words(each.deadline),
            wide=True,
        ),
        Column("LEFT", lambda each: left(each.seconds_left), style=lambda each: each.style),
        Column("PODS", lambda each: len(each.pods)),
        Column("OF-NODE", lambda each: each.of_node, wide=True),
        Column("HOW", lambda each: each.how),
    )

    items: Sequence[DoomedNode]
    lease: LeaseHolder | None = None
    paused: str | None = None

    @property
    def headline(self) -> str:
        """How many nodes and pods there are, and how these go."""
        if not self.items:
            return "No node is doomed."
        nodes = words.counted(len(self.items), "node is", "nodes are")
        pods = [pod for node in self.items for pod in node.pods]
        if not pods:
            return f"{nodes} doomed, no pod is left."
        return f"{nodes} doomed, {words.counted(len(pods), 'pod')} left: {in_short(pods)}."

    def sentences(self, *, is_whole: bool) -> Iterator[str]:
        """What is to be known besides: what keeps pods from being moved, and who moves them.

        ``is_whole``: what was looked at has Lease and pause, if there are such.
        """
        if self.paused is not None:
            yield f"Evenkeel is {self.paused}. Until {NAME} resume --apply nothing is moved."
        if is_whole:
            yield f"{self._of_lease}."
        for each in self.items:
            if each.notice == UNREADABLE:
                name = each.subject.name
                yield (
                    f"{name}: the annotation {names.NOTICE} cannot be read: {NAME} cancel {name}"
                    " --apply takes the mark off."
                )

    @property
    def _of_lease(self) -> str:
        """Who is at work on the nodes, or was last."""
        lease = self.lease
        if lease is None:
            return f"No reconciler was at work yet: there is no Lease {names.HANDOVER_LEASE}"
        if lease.held:
            others = lease.shares - 1
            shared = f", who shares it with {words.counted(others, 'other')}" if others else ""
            return f"At work: {lease.identity}{shared}"
        ago = ""
        if lease.seconds_ago is not None:
            ago = f" {words.short_time(timedelta(seconds=lease.seconds_ago))} ago"
        if lease.identity:
            return (
                f"Nobody is at work: {lease.identity} has not renewed the Lease"
                f" {names.HANDOVER_LEASE} since{ago or ' long ago'}"
            )
        if any(each.pods for each in self.items):
            return f"Nobody is at work now, last{ago}: the next run goes on"
        return f"Nothing is left to do, last at work{ago}"


def listing(look: Look) -> DoomedNodeList:
    """An item for each doomed node: first those with pods, and of these those that end first."""
    lease = look.lease
    since = None if lease is None else lease.held_since
    items = [_item(each, look.at) for each in look.nodes]
    items.sort(key=lambda each: (not each.pods, each.seconds_left or 0, each.subject.name))
    return DoomedNodeList(
        items=items,
        lease=LeaseHolder(
            identity=lease.spec.holder_identity or "",
            held=held_for(lease, "", look.at) > timedelta(),
            renewed=since,
            seconds_ago=None if since is None else max(0, round((look.at - since).total_seconds())),
            shares=divided_by(lease).of,
        )
        if lease is not None
        else None,
        paused=None if look.pause is None else str(look.pause),
    )


def left(seconds: int | None) -> str:
    """``1m35s``, ``over`` once it has passed."""
    if seconds is None:
        return ""
    return words.short_time(timedelta(seconds=seconds)) if seconds > 0 else "over"


def style_of(seconds: int | None, *, hint: bool) -> str:
    """The colour of the time that is left to a node."""
    if hint or seconds is None:
        return "cyan"
    return "red" if seconds < HURRY.total_seconds() else "yellow"


def in_short(pods: Iterable[DoomedPod]) -> str:
    """``3 told to go, 4 being replaced, 1 at the last moment``: the nearest to the end first."""
    counts = Counter(pod.how for pod in pods)
    return ", ".join(f"{counts[how]} {how}" for how in ORDER if counts[how])


def _item(doomed: Doomed, now: datetime) -> DoomedNode:
    subject, notice = doomed.node.reference, doomed.notice
    pods = [_pod(each) for each in doomed.pods if each.route.reason not in OF_THE_NODE]
    of_node = len(doomed.pods) - len(pods)
    if notice is None:
        return DoomedNode(subject=subject, notice=UNREADABLE, pods=pods, of_node=of_node)
    return DoomedNode(
        subject=subject,
        notice=notice.name,
        hint=notice.is_hint,
        action="" if notice.is_hint else notice.action.value,
        deadline=notice.deadline,
        seconds_left=round((notice.deadline - now).total_seconds()),
        draining=notice.cordoned_at is not None,
        pods=pods,
        of_node=of_node,
    )


def _pod(going: Going) -> DoomedPod:
    situation, route = going.situation, going.route
    return DoomedPod(
        subject=situation.pod.reference,
        workload=situation.workload,
        state=_state(situation.pod),
        way=route.way,
        reason=route.reason,
        message=route.message,
    )


def _state(pod: Pod) -> State:
    if pod.leaving:
        return State.LEAVING
    return State.RELEASED if pod.released else State.RUNNING
