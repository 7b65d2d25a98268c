"""Interruptions: what the reconciler's Lease keeps of them, so that they can be told of.

An interruption goes on while pods have to move from nodes that have a notice. The next one begins
when nothing had to for a while, and every deadline has passed. ``evenkeel history`` cuts a log into
interruptions by the same rule.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import reduce
from typing import Final

import msgspec

from evenkeel.model.meta import Reference
from evenkeel.model.names import is_subdomain
from evenkeel.model.notes import VERSION, read_note
from evenkeel.model.pod_count import PodCount
from evenkeel.model.times import earliest, is_sound

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
        """The same after a later count that says how many pods are available."""
        there = count.available or 0
        if count.is_low and there < self.lowest:
            return dip_of(count)
        return msgspec.structs.replace(self, available=there)


def dip_of(count: PodCount) -> Dip:
    """The dip that begins with a count, or is at its worst with it."""
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

    def add(self, new: "Tally", before: "Tally | None" = None) -> "Tally":
        """The same with a new part, which counted as ``before`` up to now. The last dip counts."""
        old, worst = before or Tally(), self.worst
        if new.worst:
            dips = {dip.is_of: dip for dip in (*worst, *new.worst)}
            worst = tuple(sorted(dips.values(), key=lambda dip: dip.order)[:DIPS_NOTED])
        return Tally(
            pods=self.pods + new.pods - old.pods,
            late=self.late + new.late - old.late,
            below=self.below + new.below - old.below,
            at_zero=self.at_zero + new.at_zero - old.at_zero,
            worst=worst,
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

    def goes_on(self, at: datetime, *deadlines: datetime) -> "Interruption":
        """The same after pods had to move ``at`` a time, from nodes with these deadlines."""
        return msgspec.structs.replace(
            self,
            active_at=max(self.active_at, at),
            deadline=earliest(self.deadline, *deadlines),
            until=max(filter(None, (self.until, *deadlines)), default=None),
        )

    @property
    def total(self) -> Tally:
        """What all reconcilers counted."""
        return reduce(Tally.add, self.tallies.values(), Tally())

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

    def tally_of(self, number: int) -> Tally:
        """What the reconciler of this number counted of the interruption that goes on."""
        return Tally() if self.open is None else self.open.tallies.get(number, Tally())

    def with_tally(self, number: int, tally: Tally) -> "Account":
        """The same with what this reconciler counted of it."""
        if self.open is None:
            return self
        both = msgspec.structs.replace(self.open, tallies={**self.open.tallies, number: tally})
        return msgspec.structs.replace(self, open=both)

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
