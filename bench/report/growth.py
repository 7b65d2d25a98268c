"""How a storm's time grows, as a table."""

from collections.abc import Sequence
from typing import Final

from bench.growth.results import Growth, Point
from bench.report.markdown import markdown

COLUMNS: Final = (
    "doomed nodes",
    "pods on them",
    "pods beside them",
    "fill",
    "full capacity",
    "per doomed pod",
)


def table(growth: Growth) -> str:
    """Markdown: a row per storm, and below it what the rows amount to."""
    ordered = sorted(growth.points, key=lambda each: (each.bystanders, each.doomed))
    ratios = (
        f"A pod takes {_times(growth.linear)} as long with the most nodes doomed as with the"
        f" fewest, and all take {_times(growth.independent)} as long beside so many others as"
        f" without; wanted: at most {growth.wanted:g} each."
    )
    condition = (
        "fill: what the same cluster needs to run all pods of the storm from nothing. Per doomed"
        " pod: in the time that a pod takes in that. No QPS limits, one run;"
        f" {growth.worker}. {growth.conditions}."
    )
    return markdown(COLUMNS, map(_row, ordered), (ratios, condition))


def _row(point: Point) -> Sequence[str]:
    whole, beside = point.outcome.whole, point.total - point.pods + point.bystanders
    return (
        f"{point.doomed} of {point.nodes}",
        f"{point.pods:,}",
        f"{beside:,}",
        f"{point.fill:.1f} s",
        "never" if whole is None else f"{whole:.1f} s = {_times(point.ratio)}",
        _times(point.per_pod),
    )


def _times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f} x"
