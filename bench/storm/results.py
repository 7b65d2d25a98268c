"""What a storm's run is kept as."""

from collections.abc import Mapping, Sequence

import msgspec

from bench.conditions import Conditions
from bench.storm.figures import Outcome
from bench.storm.invocations import Invocations


class Bare(msgspec.Struct, frozen=True, kw_only=True):
    """What single steps take on the idle cluster, in seconds, on the worker's CPU."""

    gets: float
    patches: float
    describe: float
    round_trip: float

    @property
    def allowed(self) -> float:
        """Until when all nodes should be cordoned: three times the bare requests, and the way."""
        return 3 * (self.gets + self.patches) + self.describe + self.round_trip


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """What another way did with as many pods on as many nodes, at once.

    ``fill``: the seconds that its cluster took to run the pods from nothing. ``ready`` is the curve
    of Ready pods, see ``bench.storm.curve``. ``failed``: so many of `kubectl drain`'s processes did
    not end well.
    """

    fill: float
    outcome: Outcome
    ready: Sequence[int] = ()
    failed: int = 0


class Gated(Baseline, frozen=True, kw_only=True):
    """`kubectl drain` behind the eviction gate.

    ``refusals``: so many evictions were answered 429. ``unasked``: so many passed because the gate
    did not answer in time. ``cpu_seconds`` and ``peak_mb`` are the gate's, ``reconciler`` are the
    reconciler's CPU seconds.
    """

    refusals: int
    unasked: int
    cpu_seconds: float
    peak_mb: float
    reconciler: float
    conditions: Conditions


class Round(msgspec.Struct, frozen=True, kw_only=True):
    """One storm: what it is compared with, what became of it, what Evenkeel used.

    ``ready`` is the curve of Ready pods, see ``bench.storm.curve``. ``requests`` is what the API
    server answered to all clients, ``own`` what Evenkeel sent, to AWS too, each by kind, in these
    ``seconds``. The rest is known when the worker has ended: its ``invocations`` by function,
    the ``lines`` that they logged, its memory, and ``idle_ms``, what an invocation of the schedule
    took when there was nothing to do.
    """

    fill: float
    bare: Bare
    outcome: Outcome
    ready: Sequence[int] = ()
    cpu_seconds: float
    cpu_share: float
    requests: Mapping[str, float]
    own: Mapping[str, int] = {}
    seconds: float = 0.0
    invocations: Mapping[str, Invocations] = {}
    lines: int = 0
    idle_ms: float = 0.0
    peak_mb: float = 0.0
    messages_left: Mapping[str, int] = {}
    load: float = 0.0


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario's storms, and what they are compared with."""

    conditions: Conditions
    scenario: str
    title: str
    condition: str
    nodes: int
    workloads: int
    pods: int
    worker: str
    rounds: Sequence[Round]
    deletion: Baseline | None = None
    drain: Baseline | None = None
    gated: Gated | None = None


def summary(outcome: Outcome, fill: float) -> str:
    """An outcome in a line. ``fill``: the cluster's own seconds for the same pods."""
    whole = _seconds(outcome.whole)
    ratio = "" if outcome.whole is None else f" = {outcome.whole / fill:.2f} x fill"
    cordons = outcome.cordons
    return (
        f"cordoned {cordons.count if cordons else 0} in {cordons.worst if cordons else 0:.2f} s,"
        f" first pod touched {_seconds(outcome.touched)}, full capacity {whole}{ratio},"
        f" releases done {_seconds(outcome.released)}, all off {_seconds(outcome.empty)},"
        f" left {outcome.left}, late {outcome.late},"
        f" lowest share {outcome.lowest_share:.2f}, below wanted {outcome.below_wanted},"
        f" at zero {outcome.at_zero}, overlap {_overlap(outcome)}"
    )


def _overlap(outcome: Outcome) -> str:
    found = outcome.overlap
    return f"{found.median:.1f} s, at most {found.worst:.1f} s" if found else "none"


def _seconds(at: float | None) -> str:
    return "never" if at is None else f"{at:.1f} s"
