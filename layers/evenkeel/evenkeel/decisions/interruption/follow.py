"""Whether an interruption begins, goes on, or is over, and what has to be told of that."""

from collections.abc import Collection, Mapping
from datetime import datetime

import msgspec

from evenkeel.model.interruption import (
    MOST_UNTOLD,
    NAMED,
    NODES_NOTED,
    UNTOLD_FOR,
    Account,
    Interruption,
    Untold,
)
from evenkeel.model.times import earliest


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What one look shows.

    ``nodes`` are those with a notice and ``pods`` that have to move, with their deadline; None: the
    notice is a hint, and pods move for it all the same.
    """

    at: datetime
    nodes: Mapping[str, datetime | None] = {}
    pods: int = 0


def follow(known: Account, seen: Seen, counted: Collection[str] = ()) -> Account:
    """The account after a look, with what has to be told since.

    - An interruption that was quiet for long enough is over, also where the next one begins now.
    - The first node with pods that have to move begins one. ``counted`` are nodes that count as its
      own already, beside those that the account names.
    - What could not be told for a day is dropped, and the oldest where there is too much of it.
    """
    untold, now = list(known.untold), known.open
    if now is not None and seen.at >= now.over_at:
        untold.append(Untold(at=seen.at, is_over=True, about=_in_short(now)))
        now = None
    if now is None and seen.nodes:
        now = _go_on(Interruption(began_at=seen.at, active_at=seen.at, to_move=seen.pods), seen, ())
        untold.append(Untold(at=seen.at, is_over=False, about=_in_short(now)))
    elif now is not None:
        now = _go_on(now, seen, counted)
    recent = [each for each in untold if seen.at - each.at < UNTOLD_FOR]
    return Account(open=now, untold=tuple(recent[-MOST_UNTOLD:]))


def _go_on(known: Interruption, seen: Seen, counted: Collection[str]) -> Interruption:
    """The interruption with the nodes of this look."""
    if not seen.nodes:
        return known
    new = [name for name in seen.nodes if name not in known.named and name not in counted]
    deadlines = [each for each in seen.nodes.values() if each is not None]
    ends = [known.until] if known.until is not None else []
    return msgspec.structs.replace(
        known,
        active_at=max(known.active_at, seen.at),
        deadline=earliest(known.deadline, *deadlines),
        until=max((*ends, *deadlines), default=None),
        nodes=known.nodes + len(new),
        named=(*known.named, *new)[:NODES_NOTED],
    )


def _in_short(known: Interruption) -> Interruption:
    """What is told of it: a few of its nodes, and the tallies as one."""
    tallies = {0: known.total} if known.tallies else {}
    return msgspec.structs.replace(known, named=known.named[:NAMED], tallies=tallies)
