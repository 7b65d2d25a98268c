"""What the page shows, as the JSON in it: times are seconds since the interruption began."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any, Final

import msgspec

import evenkeel
from evenkeel.model.interruption import key_of
from evenkeel.model.meta import Reference
from evenkeel.model.reasons import Reason
from evenkeel_cli import words
from evenkeel_cli.history import headline, listing
from evenkeel_cli.history.counts import Cause, Count
from evenkeel_cli.history.incident import Incident
from evenkeel_cli.history.listing import WorkloadHistory
from evenkeel_cli.history.nodes import NodeAccount
from evenkeel_cli.history.pods import PodAccount
from evenkeel_cli.history.steps import Step
from evenkeel_cli.history.workloads import Verdict, WorkloadAccount

MINUTE: Final = 60
NAMED: Final = 3
"""So many workloads of late pods are named."""

HINTS: Final = frozenset({Reason.REBALANCE_RECOMMENDATION, Reason.DRAIN_ASKED})
"""The reasons of marks after which a node may well live on."""

type _Numbers = tuple[float, int | None, int, bool]
"""From so many seconds on so many pods are available (None: not known), of so many wanted.

Last, whether there are fewer on others' part.
"""

NOTHING: Final = "nothing is known that would"


class Money(msgspec.Struct, frozen=True, kw_only=True):
    """A table of costs, its first column a name, and sentences about it.

    ``saved`` is what spot saves a month, such as ``$5,659``.
    """

    saved: str
    note: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


def of(
    incident: Incident,
    source: str,
    floors: Mapping[Reference, int] = MappingProxyType({}),
    money: Money | None = None,
) -> dict[str, Any]:
    """The data of the page. ``source`` says where the records are from; ``floors``: by workload."""
    return _Reader(incident, floors).read(source, money)


class _Reader:
    def __init__(self, incident: Incident, floors: Mapping[Reference, int]) -> None:
        self._incident = incident
        self._floors = {key_of(reference): floor for reference, floor in floors.items()}
        self._accounts = {key_of(each.subject): each for each in incident.workloads}
        self._histories = listing.listing(incident).items
        self._places = {key_of(each.subject): n for n, each in enumerate(self._histories)}
        self._pods = list(incident.pods)

    def read(self, source: str, money: Money | None) -> dict[str, Any]:
        incident = self._incident
        return {
            "maker": f"Evenkeel {evenkeel.__version__}",
            "cluster": incident.cluster,
            "source": source,
            "begins": incident.begins.timestamp(),
            "lasts": self._after(self._storm_ends),
            "headline": self._headline(),
            "verdict": list(listing.verdict(incident))[1:],
            "figures": [*self._figures(), *_saved(money)],
            "counted": any(each.counts for each in incident.workloads),
            "dips": [
                {"workload": n, "why": each.why or "its pods went", "change": _change(each.change)}
                for n, each in enumerate(self._histories)
                if each.fell
            ],
            "late": self._late(),
            "minutes": self._minutes(),
            "total": self._total(),
            "workloads": [self._workload(each) for each in self._histories],
            "nodes": [self._node(each) for each in incident.nodes],
            "pods": [self._pod(each) for each in self._pods],
            "pools": self._pools(),
            "notes": [[self._after(each.at), each.message] for each in incident.notes],
            "money": money,
        }

    def _after(self, at: datetime) -> float:
        return round((at - self._incident.begins).total_seconds(), 1)

    def _after_or_none(self, at: datetime | None) -> float | None:
        return None if at is None else self._after(at)

    @cached_property
    def _storm_ends(self) -> datetime:
        """When the last pod that had to move was decided about, and the last dip was over.

        The last node had to be gone by then. A hint that expires much later is no part of the
        storm, for the node lives on, nor are moves of restore, nor how long somebody went on
        counting a workload that stayed low.
        """
        times = [step.at for pod in self._incident.to_move for step in pod.steps]
        times += [
            count.until or count.at
            for each in self._incident.workloads
            for count in each.counts[:-1]
            if count.cause is Cause.STORM
        ]
        times += [node.deadline for node in self._incident.nodes if _dies(node) and node.deadline]
        times += [node.noticed_at for node in self._incident.nodes if node.noticed_at]
        return max(times, default=self._incident.ends)

    def _headline(self) -> str:
        """What became of the workloads, in one sentence."""
        observed = " Nothing was written: observe mode." if self._incident.observed else ""
        return f"{headline.of(self._incident)}{observed}"

    def _figures(self) -> Sequence[tuple[str, str, bool]]:
        concerned, pods = self._incident.concerned, self._incident.to_move
        fell = sum(each.dipped for each in concerned)
        failed = sum(each.verdict is Verdict.FAILED for each in concerned)
        late = sum(each.is_late for each in pods)
        return [
            ("workloads that dipped", f"{fell} of {len(concerned)}", fell > 0),
            ("of them without a named reason", str(failed), failed > 0),
            ("pods late", f"{late} of {len(pods)}", late > 0),
            ("nodes", str(len(self._incident.nodes)), False),
        ]

    def _late(self) -> Sequence[dict[str, Any]]:
        """The late pods by reason, most first."""
        by_reason = defaultdict[str, list[PodAccount]](list)
        for pod in self._incident.to_move:
            if pod.is_late:
                by_reason[pod.reason].append(pod)
        return [
            {
                "pods": len(pods),
                "why": pods[0].why,
                "change": _change(pods[0].remedy),
                "workloads": _named(pods),
            }
            for pods in sorted(by_reason.values(), key=len, reverse=True)
        ]

    def _minutes(self) -> Sequence[dict[str, Any]]:
        counts = defaultdict[int, Counter[str]](Counter)

        def note(what: str, times: Iterable[datetime | None]) -> None:
            for at in times:
                if at is not None:
                    counts[int(self._after(at)) // MINUTE][what] += 1

        note("noticed", (node.noticed_at for node in self._incident.nodes))
        note("deadlines", (node.deadline for node in self._incident.nodes if _dies(node)))
        note("released", (pod.released_at for pod in self._incident.to_move))
        note("went", (pod.went_at for pod in self._incident.to_move))
        ends = {node.name: node.deadline for node in self._incident.nodes}
        note(
            "late",
            (pod.went_at or ends.get(pod.node) for pod in self._incident.to_move if pod.is_late),
        )
        below = self._below_by_minute()
        names = ("noticed", "deadlines", "released", "went", "late")
        return [
            {
                "at": minute * MINUTE,
                **{name: counts[minute][name] for name in names},
                "below": len(below.get(minute, ())),
            }
            for minute in range(int(self._after(self._storm_ends)) // MINUTE + 1)
        ]

    def _below_by_minute(self) -> dict[int, set[object]]:
        """Which workloads had too few pods at some time of each minute."""
        below = defaultdict[int, set[object]](set)
        for each in self._incident.workloads:
            for count in (one for one in each.counts if one.cause is Cause.STORM):
                first = int(self._after(count.at)) // MINUTE
                last = int(self._after(count.until or count.at)) // MINUTE
                for minute in range(first, last + 1):
                    below[minute].add(key_of(each.subject))
        return below

    def _total(self) -> Sequence[_Numbers]:
        """How many pods of all workloads were available whose counts are all known, of how many.

        A workload counts from the beginning with its first count, so that the sum does not grow as
        they are counted for the first time.
        """
        courses = [self._course(each) for each in self._incident.workloads if each.counts]
        known = [each for each in courses if all(count.available is not None for count in each)]
        if not known:
            return []
        available = sum(_available(counts[0]) for counts in known)
        wanted = sum(counts[0].wanted for counts in known)
        changes = sorted(
            (
                (now.at, _available(now) - _available(before), now.wanted - before.wanted)
                for counts in known
                for before, now in pairwise(counts)
            ),
        )
        found = {0.0: (available, wanted)}
        for at, more, more_wanted in changes:
            available, wanted = available + more, wanted + more_wanted
            found[self._after(at)] = (available, wanted)
        return [(at, *both, False) for at, both in found.items()]

    def _course(self, account: WorkloadAccount) -> Sequence[Count]:
        """The counts of a workload until the storm ends, and at least the first.

        After a low one that ends them it is not known how it went on.
        """
        ends = self._storm_ends
        counts = [*account.counts[:1], *(each for each in account.counts[1:] if each.at <= ends)]
        if not counts or not counts[-1].is_low or counts[-1].until is not None:
            return counts
        return [*counts, msgspec.structs.replace(counts[-1], available=None, cause=None)]

    def _workload(self, each: WorkloadHistory) -> dict[str, Any]:
        account = self._accounts[key_of(each.subject)]
        return {
            "name": words.short_name(each.subject),
            "namespace": each.subject.namespace,
            "wanted": each.wanted,
            "lowest": each.lowest,
            "below": each.below,
            "zero": each.at_zero,
            "dipped": each.fell,
            "endsBelow": each.ends_below,
            "beside": each.most_beside,
            "floor": self._floors.get(key_of(each.subject)),
            "pods": len(account.pods),
            "late": each.late,
            "ok": each.ok,
            "plain": each.plain,
            "counts": [
                (
                    self._after(count.at),
                    count.available,
                    count.wanted,
                    count.cause not in {None, Cause.STORM},
                )
                for count in self._course(account)
            ],
        }

    def _node(self, each: NodeAccount) -> dict[str, Any]:
        return {
            "name": each.name,
            "pool": self._incident.pools.get(each.name, ""),
            "kind": each.kind,
            "noticed": self._after_or_none(each.noticed_at),
            "deadline": self._after_or_none(each.deadline),
            "dies": _dies(each),
            "pods": each.pods,
            "late": each.late,
            "steps": self._steps(each.steps),
        }

    def _pod(self, each: PodAccount) -> dict[str, Any]:
        return {
            "name": each.subject.name,
            "namespace": each.subject.namespace,
            "workload": self._places.get(key_of(each.workload), -1) if each.workload else -1,
            "node": each.node,
            "way": each.way,
            "released": self._after_or_none(each.released_at),
            "went": self._after_or_none(each.went_at),
            "late": each.is_late,
            "why": each.why,
            "steps": self._steps(each.steps),
        }

    def _steps(self, steps: Iterable[Step]) -> Sequence[tuple[float, str, str, str]]:
        return [(self._after(each.at), each.verb, each.reason, each.message) for each in steps]

    def _pools(self) -> Sequence[dict[str, Any]]:
        by_pool = defaultdict[str, list[NodeAccount]](list)
        for node in self._incident.nodes:
            if node.name in self._incident.pools:
                by_pool[self._incident.pools[node.name]].append(node)
        return [
            {
                "name": pool,
                "nodes": len(nodes),
                "pods": sum(node.pods for node in nodes),
                "late": sum(node.late for node in nodes),
            }
            for pool, nodes in sorted(by_pool.items())
        ]


def _saved(money: Money | None) -> Sequence[tuple[str, str, bool]]:
    return [] if money is None else [("saved a month by spot", money.saved, False)]


def _available(count: Count) -> int:
    return count.available or 0


def _dies(node: NodeAccount) -> bool:
    """Whether its deadline is its end; that of a hint is when the hint expires."""
    return node.kind not in HINTS


def _change(remedy: str) -> str:
    return remedy or NOTHING


def _named(pods: Iterable[PodAccount]) -> str:
    """The workloads of these pods, or the pods themselves, and how many more there are."""
    found = list(dict.fromkeys(words.workload_name(pod.workload or pod.subject) for pod in pods))
    more = [f"{len(found) - NAMED} more"] if len(found) > NAMED else []
    return ", ".join(chain(found[:NAMED], more))
