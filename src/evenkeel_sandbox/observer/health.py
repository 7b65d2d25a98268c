"""What is seen of a workload from outside: how many pods serve, how few ever did, and why."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from typing import NamedTuple

from evenkeel.model.meta import Reference
from evenkeel.model.pod import Pod
from evenkeel_sandbox.observer.serving import Serving


class End(Enum):
    """How a pod was last seen."""

    ALIVE = auto()
    FINISHED = auto()
    LOST = auto()
    """Its node's machine was gone before it was told to go."""
    GONE = auto()


@dataclass(frozen=True, slots=True)
class Outage:
    """The moment at which a workload had no ready pod left.

    ``obstacle`` is what kept a new pod from running then, in the words of the scheduler or of
    the controller; empty if nothing did.
    """

    at: datetime
    obstacle: str = ""


class Look(NamedTuple):
    """How many pods of a workload served from then on, of how many wanted; None: nobody says."""

    at: datetime
    ready: int
    wanted: int | None


@dataclass(slots=True, kw_only=True)
class Health(Serving):
    """What was seen of one workload.

    ``wanted`` is how many replicas it is asked for (None: its kind does not say), ``before``
    how many served when the watch began, on ``first_nodes``; ``lowest`` is the fewest since
    then. ``last_obstacle`` is what was last seen to keep a new pod from running. ``seen`` are the
    numbers since the watch began, each from its time on.
    """

    workload: Reference
    wanted: int | None = None
    before: int = 0
    outage: Outage | None = None
    last_obstacle: str = ""
    gone: bool = False
    first_nodes: frozenset[str] = frozenset()
    pods: dict[str, Pod] = field(default_factory=dict)
    seen: list[Look] = field(default_factory=list)

    def note(self, at: datetime) -> None:
        """Keep how many serve from now on, and of how many wanted."""
        now = Look(at, self.ready, self.wanted)
        if not self.seen or self.seen[-1][1:] != now[1:]:
            self.seen.append(now)

    @property
    def went_to_zero(self) -> bool:
        """Whether it had ready pods at first, and at some time none."""
        return self.before > 0 and self.lowest == 0 and self.outage is not None
