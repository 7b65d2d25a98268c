"""What became of storms in which something else went wrong."""

from collections.abc import Collection, Mapping, Sequence

import msgspec

from bench.conditions import Conditions
from bench.storm.figures import Outcome


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the notices, by their messages' ids.

    ``handled``: the function was done with them. ``left``: still in the queue at the end, and
    ``dead`` in that of the dead letters. ``again``: how often one that came again was done once
    more.
    """

    sent: int
    handled: int
    again: int
    left: int
    dead: int

    @property
    def lost(self) -> int:
        """Neither handled nor anywhere."""
        return self.sent - self.handled - self.left - self.dead


def tally(sent: Collection[str], handled: Sequence[str], left: int, dead: int) -> Tally:
    """Count messages. ``handled`` in any order, as often as it was done with them.

    One that was handled and not deleted in time may be left as well: it counts as handled.
    """
    known = set(sent)
    own = [each for each in handled if each in known]
    open_ = len(sent) - len(set(own))
    return Tally(
        sent=len(sent),
        handled=len(set(own)),
        again=len(own) - len(set(own)),
        left=min(left, open_),
        dead=min(dead, open_ - min(left, open_)),
    )


class Suffered(msgspec.Struct, frozen=True, kw_only=True):
    """One storm with one fault. ``answers``: what the proxy did with requests, if there was one.

    ``starts`` of the worker, ``peak_mb`` of the largest of them. ``happened``: so many of the
    ``planned`` interferences did.
    """

    fault: str
    title: str
    pods: int
    nodes: int
    fill: float
    tally: Tally
    outcome: Outcome
    starts: int
    planned: int
    happened: int
    cpu_seconds: float
    peak_mb: float
    answers: Mapping[str, int]

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted."""
        outcome = self.outcome
        figures = {
            "interferences that did not happen": self.planned - self.happened,
            "messages lost": self.tally.lost,
            "messages left": self.tally.left,
            "messages dead": self.tally.dead,
            "nodes not cordoned": self.nodes - (outcome.cordons.count if outcome.cordons else 0),
            "workloads at zero": outcome.at_zero,
            "pods too late": outcome.late,
            "pods that stayed": outcome.left,
        }
        return [f"{self.fault}: {count} {name}" for name, count in figures.items() if count]


class Faults(msgspec.Struct, frozen=True, kw_only=True):
    """The faults of one run."""

    conditions: Conditions
    worker: str
    storms: Sequence[Suffered]

    @property
    def missed(self) -> Sequence[str]:
        """What is not as wanted."""
        return [miss for each in self.storms for miss in each.missed]
