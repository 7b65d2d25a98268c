"""What all of it comes to: the headline, the figures, and what else is to be known."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Final

import evenkeel
from evenkeel_cli import words
from evenkeel_cli.history import headline as histories
from evenkeel_cli.history import listing
from evenkeel_cli.history.incident import Incident
from evenkeel_cli.history.pods import PodAccount
from evenkeel_cli.history.workloads import Verdict
from evenkeel_cli.moves import Move
from evenkeel_cli.nodes.listing import LeaseHolder
from evenkeel_cli.screen.known import Known
from evenkeel_cli.screen.views import Fact, Fate, FloorView, NodeView, WorkloadView

LONGEST_NAME: Final = 24
"""So many characters of who is at work are shown: the rest is to be unique."""

NAMED: Final = 3
"""So many floors that would fall are named."""


def headline(known: Known, going: Sequence[NodeView], workloads: Sequence[WorkloadView]) -> str:
    """``4 nodes going, the first in 73 s, 6 of 8 pods replaced, nobody at zero``."""
    account = known.account
    if account is None or not (account.nodes or known.over):
        return "No node is going."
    if known.over:
        observed = " Nothing was written: observe mode." if account.observed else ""
        return f"{histories.of(account)}{observed}"
    if not going:
        return f"No node is going any more. {histories.of(account)}"
    parts = [*_of_nodes(going), *_of_pods(account.to_move)]
    zero = [each for each in workloads if each.is_zero]
    if len(zero) == 1:
        parts.append(f"{words.workload_name(zero[0].subject)} at zero")
    elif zero or any(each.ready is not None for each in workloads):
        parts.append(
            f"{words.counted(len(zero), 'workload')} at zero" if zero else "nobody at zero"
        )
    return ", ".join(parts)


def sentences(account: Incident) -> Sequence[str]:
    """What is to be said beside the headline, as each command says it."""
    said = histories.of(account)
    return [each for each in listing.verdict(account) if each != said]


def figures(account: Incident) -> Sequence[Fact]:
    """How many workloads dipped, and how many pods were late."""
    concerned, pods = account.concerned, account.to_move
    fell = sum(each.dipped for each in concerned)
    failed = sum(each.verdict is Verdict.FAILED for each in concerned)
    late = sum(each.is_late for each in pods)
    return [
        Fact(name="workloads that dipped", text=f"{fell} of {len(concerned)}", bad=fell > 0),
        Fact(name="without a named reason", text=str(failed), bad=failed > 0),
        Fact(name="pods late", text=f"{late} of {len(pods)}", bad=late > 0),
        Fact(name="nodes", text=str(len(account.nodes))),
    ]


def facts(known: Known, floors: Sequence[FloorView]) -> Iterator[Fact]:
    """What else is to be known; of an interruption that is over, what does not change with it."""
    around = known.around
    if known.note:
        yield Fact(name="note", text=known.note, bad=True)
    yield Fact(name="mode", text=known.mode or "not known", bad=known.mode == "observe")
    if known.paused:
        yield Fact(name="paused", text=known.paused, bad=True)
    if around is not None and not known.over:
        yield Fact(name="at work", text=_at_work(known.lease))
    if around is not None and around.money is not None:
        money = around.money
        yield Fact(name="a month", text=f"${money.now:,.0f} now, spot saves ${money.saved:,.0f}")
    if known.over:
        return
    if around is not None:
        yield _of_floors(floors)
    if around is not None and around.headroom:
        there = around.headroom.removeprefix("Headroom: ").partition(". ")[0]
        yield Fact(name="headroom", text=there.rstrip("."))
    yield Fact(name="version", text=evenkeel.__version__)


def _of_nodes(going: Iterable[NodeView]) -> Iterator[str]:
    dying = [each for each in going if each.fate is Fate.GOES]
    hints = [each for each in going if each.fate is Fate.UNDECIDED]
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


def _of_floors(floors: Sequence[FloorView]) -> Fact:
    fallen = [each for each in floors if not each.stands]
    if not fallen:
        stand = f"{len(floors)} of {len(floors)} stand" if floors else "none is asked for"
        return Fact(name="floors", text=stand)
    told = ", ".join(
        f"{words.workload_name(each.subject)} has {each.survivors} of {each.floor}"
        for each in fallen[:NAMED]
    )
    return Fact(name="floors", text=f"{len(fallen)} of {len(floors)} would fall: {told}", bad=True)


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
