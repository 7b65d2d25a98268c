"""Interruptions: what the reconciler's Lease keeps of them, so that they can be told of.

An interruption goes on while pods have to move from nodes that have a notice. The next one begins
when nothing had to for a while, and every deadline has passed. ``evenkeel history`` cuts a log into
interruptions by the same rule.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

import msgspec

from evenkeel.model.meta import Reference
from evenkeel.model.names import is_subdomain
from evenkeel.model.notes import VERSION, read_note
from evenkeel.model.pod_count import PodCount
from evenkeel.model.times import is_sound

QUIET: Final = timedelta(minutes=5)
"""An interruption is over when so long no pod had to move, and every deadline has passed."""

NODES_NOTED: Final = 50
"""So many nodes of an interruption the Lease names. It counts all."""

DIPS_NOTED: Final = 20
"""So many of the workloads that one reconciler saw below what is wanted the Lease names."""

NAMED: Final = 10
"""So many nodes, and so many workloads, are named where an interruption is told of."""

MOST_UNTOLD: Final = 8
"""So much that was not told yet the Lease keeps: with the longest names it is 60 kB."""

UNTOLD_FOR: Final = timedelta(days=1)
"""What nobody could be told of for so long is not told any more."""


type Key = tuple[str, str, str]
"""Namespace, kind and name of a workload: its uid is another one once it was made anew."""


class Dip(msgspec.Struct, frozen=True, kw_only=True):
    """A workload that an interruption left fewer pods than wanted.

    ``lowest`` of ``wanted`` pods were available at the worst moment, ``available`` when it was
    counted last.
    """

    kind: str
    namespace: str
    name: str
    lowest: int
    wanted: int
    available: int

    @property
    def is_zero(self) -> bool:
        """Whether it had no pod of those that are wanted."""
        return self.lowest == 0 < self.wanted

    @property
    def order(self) -> tuple[float, int, str, str]:
        """The worst first: by the part that was left, then by the number that is wanted."""
        return self.lowest / max(1, self.wanted), -self.wanted, self.namespace, self.name

    @property
    def is_of(self) -> Key:
        """Which workload it is."""
        return self.namespace, self.kind, self.name

    def counted(self, count: PodCount) -> "Dip":
        """The same after a later count."""
        there = count.available or 0
        lowest = (self.lowest, self.wanted) if self.lowest <= there else (there, count.wanted)
        return msgspec.structs.replace(self, lowest=lowest[0], wanted=lowest[1], available=there)


def dip_of(count: PodCount) -> Dip:
    """The dip that begins with a count."""
    there, of = count.available or 0, count.workload
    return Dip(
        kind=of.kind,
        namespace=of.namespace,
        name=of.name,
        lowest=there,
        wanted=count.wanted,
        available=there,
    )


def key_of(workload: Reference) -> Key:
    """Which workload a reference names: its uid is another one once it was made anew."""
    return workload.namespace, workload.kind, workload.name


class Tally(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one reconciler counted of an interruption.

    ``pods`` were told to go, or lost with their node; ``late`` ones of them were lost, or had to go
    before their replacement was available. ``below`` workloads had fewer pods than wanted,
    ``at_zero`` of them none; ``worst`` are the worst of them.
    """

    pods: int = 0
    late: int = 0
    below: int = 0
    at_zero: int = 0
    worst: tuple[Dip, ...] = ()

    def dipped(self, dip: Dip, before: Dip | None) -> "Tally":
        """The same with a workload as it is now, and as it was ``before``, if it is known."""
        others = (each for each in self.worst if each.is_of != dip.is_of)
        was_zero = before is not None and before.is_zero
        return msgspec.structs.replace(
            self,
            below=self.below + (before is None),
            at_zero=self.at_zero + (dip.is_zero and not was_zero),
            worst=_worst([*others, dip], DIPS_NOTED),
        )


def total(tallies: Iterable[Tally]) -> Tally:
    """All of them as one: no two count the same pod or workload."""
    every = list(tallies)
    return Tally(
        pods=sum(each.pods for each in every),
        late=sum(each.late for each in every),
        below=sum(each.below for each in every),
        at_zero=sum(each.at_zero for each in every),
        worst=_worst((dip for each in every for dip in each.worst), NAMED),
    )


class Interruption(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One interruption.

    Pods had to move from ``began_at`` up to ``active_at``; ``deadline`` is the first of all
    deadlines of nodes that end, and ``until`` the last one, if there are any. When it began
    ``to_move`` pods had to. ``nodes`` were they in all, and ``named`` are some of them.
    ``tallies`` are the reconcilers', by their number.
    """

    began_at: datetime
    active_at: datetime
    to_move: int = 0
    deadline: datetime | None = None
    until: datetime | None = None
    nodes: int = 0
    named: tuple[str, ...] = ()
    tallies: Mapping[int, Tally] = {}

    @property
    def over_at(self) -> datetime:
        """From when on it is over unless pods have to move again."""
        return max(self.active_at, self.until or self.active_at) + QUIET

    @property
    def total(self) -> Tally:
        """What all reconcilers counted."""
        return total(self.tallies.values())

    @property
    def makes_sense(self) -> bool:
        """Whether Evenkeel can have written it: anybody who may write the Lease may."""
        times = (self.began_at, self.active_at, self.deadline, self.until)
        dips = [dip for tally in self.tallies.values() for dip in tally.worst]
        texts = [*self.named, *(text for dip in dips for text in (dip.name, dip.namespace))]
        return (
            all(time is None or is_sound(time) for time in times)
            and len(self.named) <= NODES_NOTED
            and len(dips) <= DIPS_NOTED * max(1, len(self.tallies))
            and all(map(is_subdomain, texts))
            and all(dip.kind.isalnum() and dip.kind.isascii() for dip in dips)
        )


class Untold(msgspec.Struct, frozen=True, kw_only=True):
    """That an interruption began, or ``is_over``, which was found ``at`` a time."""

    at: datetime
    is_over: bool
    about: Interruption


class Account(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the Lease keeps: the interruption that goes on, and what has to be told, in order."""

    v: int = VERSION
    open: Interruption | None = None
    untold: tuple[Untold, ...] = ()

    @property
    def note(self) -> str:
        """What the Lease has of it: JSON; empty if there is nothing."""
        return "" if self == NOTHING else msgspec.json.encode(self).decode()


NOTHING: Final = Account()


def account_in(note: str | None) -> Account:
    """The account that a Lease has, as far as it makes sense."""
    found = read_note(note, Account) or NOTHING
    untold = (each for each in found.untold if is_sound(each.at) and each.about.makes_sense)
    is_sane = found.open is not None and found.open.makes_sense
    return Account(
        open=found.open if is_sane else None,
        untold=tuple(untold)[:MOST_UNTOLD],
    )


def _worst(dips: Iterable[Dip], most: int) -> tuple[Dip, ...]:
    return tuple(sorted(dips, key=lambda dip: dip.order)[:most])
