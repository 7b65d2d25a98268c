"""What pairs of storms are kept as, and what they amount to."""

import functools
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from bench.conditions import Conditions
from bench.storm import own
from bench.storm.figures import Outcome


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One storm in a cluster of its own. ``requests``: Evenkeel's own by kind, in ``seconds``."""

    pods: int
    fill: float
    outcome: Outcome
    seconds: float
    cpu_seconds: float
    peak_mb: float
    requests: Mapping[str, int]


class Deletion(msgspec.Struct, frozen=True, kw_only=True):
    """A bare deletion of the same pods in a cluster of its own."""

    fill: float
    outcome: Outcome


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """Both commits in the same storm, one after the other.

    ``slow``: so many tries before it were given up because a cluster took too long to fill.
    """

    this: Run
    base: Run
    deletion: Deletion | None = None
    slow: int = 0


class Pairs(msgspec.Struct, frozen=True, kw_only=True):
    """One sitting: the pairs of one scenario, with the conditions' commit and with ``base``."""

    scenario: str
    title: str
    condition: str
    nodes: int
    pods: int
    conditions: Conditions
    worker: str
    base: str
    pairs: Sequence[Pair]

    @property
    def to_deletion(self) -> float | None:
        """The time until all is off and Ready, in that of a bare deletion; medians of both."""
        deletions = [each.deletion.outcome.done for each in self.pairs if each.deletion]
        return quotient([each.this.outcome.done for each in self.pairs], deletions)


class Sittings(msgspec.Struct, frozen=True):
    """The last sitting of each scenario, by its name."""

    scenarios: Mapping[str, Pairs] = {}


type Values = Sequence[float | None]
"""What was measured in each run; None: it never was."""


class Figure[T](msgspec.Struct, frozen=True):
    """One figure of a run: its name, how it is written, and where it comes from."""

    name: str
    form: str
    of: Callable[[T], float | None]


def _overlap(run: Run | Deletion, name: str) -> float | None:
    return getattr(run.outcome.overlap, name, None)


OUTCOMES: Final[Sequence[Figure[Run | Deletion]]] = (
    Figure("fill", "{:.1f} s", lambda run: run.fill),
    Figure("releases done", "{:.1f} s", lambda run: run.outcome.released),
    Figure("all off", "{:.1f} s", lambda run: run.outcome.empty),
    Figure("all Ready", "{:.1f} s", lambda run: run.outcome.whole),
    Figure("**all off and Ready**", "{:.1f} s", lambda run: run.outcome.done),
    Figure("too late", "{:.0f}", lambda run: run.outcome.late),
    Figure("never told to go", "{:.0f}", lambda run: run.outcome.left),
    Figure("lowest ready share", "{:.2f}", lambda run: run.outcome.lowest_share),
    Figure("below wanted", "{:.0f}", lambda run: run.outcome.below_wanted),
    Figure("at zero", "{:.0f}", lambda run: run.outcome.at_zero),
    Figure("overlap, median", "{:.1f} s", lambda run: _overlap(run, "median")),
    Figure("overlap, worst", "{:.1f} s", lambda run: _overlap(run, "worst")),
)
"""What became of a storm, also of one without Evenkeel."""

COSTS: Final[Sequence[Figure[Run]]] = (
    Figure("CPU", "{:.1f} s", lambda run: run.cpu_seconds),
    Figure("memory, at most", "{:.0f} MB", lambda run: run.peak_mb),
    Figure("requests per pod", "{:.2f}", lambda run: own.to_cluster(run.requests) / run.pods),
    Figure("GETs per pod", "{:.2f}", lambda run: own.gets(run.requests) / run.pods),
    Figure("pause asked per second", "{:.2f}", lambda run: own.pauses(run.requests) / run.seconds),
)
"""What Evenkeel took for it."""


def kinds(pairs: Pairs) -> Sequence[Figure[Run]]:
    """One more figure for every kind of request that any run sent."""
    runs = [run for pair in pairs.pairs for run in (pair.this, pair.base)]
    found = sorted({kind for run in runs for kind in run.requests})
    return [Figure(kind, "{:,.0f}", functools.partial(_sent, kind)) for kind in found]


def _sent(kind: str, run: Run) -> float:
    return run.requests.get(kind, 0)


def median(values: Values) -> float | None:
    """The median; None if there are no values, or one of them never was."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known and len(known) == len(values) else None


def quotient(over: Values, under: Values) -> float | None:
    """The medians' quotient; None if there is none."""
    upper, lower = median(over), median(under)
    return None if upper is None or not lower else upper / lower
