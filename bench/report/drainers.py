"""Other drainers, each with the eviction gate and without it, as a table."""

import statistics
from collections.abc import Sequence
from typing import Final

from bench.conditions import together
from bench.drainers.results import Drains, Pair, Run, fewest, middle
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
            _row(pair, [pair.without], drains, "no"),
            _row(pair, pair.gated, drains, "**yes**"),
        )
    ]
    singles = sum(each == 1 for each in drains.replicas.values())
    condition = (
        f"{singles} Deployments of one replica and {len(drains.replicas) - singles} of 3, all on"
        f" one node; their pods take {drains.start.removesuffix('s')} s to start and 0.5 s to end."
        " *Budgets*: every other Deployment has one, minAvailable 1 or 2. A drainer is given"
        f" {drains.longest:.0f} s; kubectl itself sends no more than five requests a second."
        f" Each run on a cluster of its own; {_how_often(drains)}."
        f" {together(pair.conditions for pair in drains.pairs.values())}."
    )
    return markdown(COLUMNS, rows, (condition,))


def _how_often(drains: Drains) -> str:
    runs = {len(pair.gated) for pair in drains.pairs.values()}
    if runs == {1}:
        return "one of each"
    times = " or ".join(map(str, sorted(runs)))
    return f"{times} of each behind the gate: the worst of workloads, the medians of times"


def _row(pair: Pair, runs: Sequence[Run], drains: Drains, gate: str) -> Sequence[str]:
    wanted = drains.replicas
    lowest = fewest(runs)
    by_size = [
        min(each for name, each in lowest.items() if wanted[name] == size)
        for size in sorted({*wanted.values()})
    ]
    ran = middle([each.ran for each in runs])
    return (
        f"{pair.title}{'; budgets' if pair.budgets else ''}",
        gate,
        ", ".join(map(str, by_size)),
        f"{drains.below(*runs)} of {len(wanted)}",
        _time(runs),
        "-" if ran is None else f"{ran:.1f} s",
        f"{statistics.median(each.refusals for each in runs):.0f}",
    )


def _time(runs: Sequence[Run]) -> str:
    empty = middle([each.outcome.empty for each in runs])
    if empty is None:
        has_ended = all(each.ran is not None for each in runs)
        left = f"{max(each.outcome.left for each in runs)} pods stay"
        return f"never: {left}" if has_ended else left
    gone = middle([each.outcome.gone for each in runs])
    return f"{empty:.1f} s{'' if gone is None else f', {gone:.1f} s'}"
