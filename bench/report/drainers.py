"""Other drainers, each with the eviction gate and without it, as a table."""

from collections.abc import Mapping, Sequence
from typing import Final

from bench.drainers.results import Drains, Pair, Run
from bench.report.markdown import markdown

COLUMNS: Final = (
    "drainer",
    "gate",
    "fewest Ready: of 1, of 3",
    "workloads below wanted",
    "from the first eviction until the node is empty, gone",
    "drainer through after",
    "evictions refused",
)


def table(drains: Drains) -> str:
    """Markdown: two rows for each way to drain, and below it the condition."""
    rows = [
        row
        for pair in drains.pairs.values()
        for row in (
            _row(pair, pair.without, drains, "no"),
            _row(pair, pair.gated, drains, "**yes**"),
        )
    ]
    singles = sum(each == 1 for each in drains.replicas.values())
    condition = (
        f"{singles} Deployments of one replica and {len(drains.replicas) - singles} of 3, all on"
        f" one node; their pods take {drains.start.removesuffix('s')} s to start and 0.5 s to end."
        " *Budgets*: every other Deployment has one, minAvailable 1 or 2. A drainer is given"
        f" {drains.longest:.0f} s; kubectl itself sends no more than five requests a second."
        f" One run each, on a cluster of its own. {drains.machine}."
    )
    return markdown(COLUMNS, rows, (condition,))


def _row(pair: Pair, run: Run, drains: Drains, gate: str) -> Sequence[str]:
    outcome = run.outcome
    wanted = drains.replicas
    below = sum(outcome.lowest[name] < each for name, each in wanted.items())
    return (
        f"{pair.title}{'; budgets' if pair.budgets else ''}",
        gate,
        ", ".join(
            str(_fewest(outcome.lowest, wanted, size)) for size in sorted({*wanted.values()})
        ),
        f"{below} of {len(wanted)}",
        _time(run),
        "-" if run.ran is None else f"{run.ran:.1f} s",
        f"{run.refusals}",
    )


def _fewest(lowest: Mapping[str, int], wanted: Mapping[str, int], size: int) -> int:
    return min(lowest[name] for name, each in wanted.items() if each == size)


def _time(run: Run) -> str:
    outcome = run.outcome
    if outcome.empty is None:
        return f"never: {outcome.left} pods stay" if run.ended else f"{outcome.left} pods stay"
    gone = "" if outcome.gone is None else f", {outcome.gone:.1f} s"
    return f"{outcome.empty:.1f} s{gone}"
