"""How workloads stood in a storm with floors, as a table."""

from collections.abc import Sequence
from typing import Final

from bench.conditions import together
from bench.floors.figures import Stand
from bench.floors.results import Floors
from bench.report.markdown import markdown

COLUMNS: Final = (
    "",
    "workloads",
    "floor",
    "fewest Ready at any time",
    "of them on on-demand",
    "below their floor",
    "Ready in the end",
)


def table(floors: Floors) -> str:
    """Markdown: a row for each kind of workload, and below it the storm and its condition.

    Of several runs it is the worst one.
    """
    run = floors.worst
    outcome = run.outcome
    cordons, off = outcome.cordons, outcome.off
    assert cordons is not None, "no node was cordoned"
    assert off is not None, "no pod was told to go"
    storm = (
        f"{cordons.count} of {floors.spot} spot nodes cordoned within {cordons.worst:.1f} s;"
        f" {off.count:,} pods told to go, the median after {off.median:.0f} s, the last after"
        f" {off.worst:.0f} s; {outcome.late} of them with less than their grace period left,"
        f" {run.overdue} still there when their node ended, {outcome.left} never told."
    )
    condition = (
        f"{floors.pods:,} pods on {floors.spot} spot nodes and {floors.on_demand} on-demand"
        " nodes, placed by `evenkeel serve`. Ready: and not told to go, and the node not gone;"
        " the fewest that any of the workloads had, as an outside observer saw it. No QPS limits,"
        f" {_which(floors)}; fill {run.fill:.0f} s; Evenkeel {run.cpu_seconds:.0f} CPU seconds,"
        f" {run.peak_mb:.0f} MB, {floors.worker}; the webhook {run.webhook.cpu_seconds:.0f}"
        f" CPU seconds for {run.webhook.reviews:,} reviews, the fill's included."
        f" {together(each.conditions for each in floors.runs)}."
    )
    return markdown(
        COLUMNS, (_row(each, floors.percent) for each in run.stands), (storm, condition)
    )


def _which(floors: Floors) -> str:
    return f"the worst of {len(floors.runs)} runs" if len(floors.runs) > 1 else "one run"


def _row(each: Stand, percent: int) -> Sequence[str]:
    kind, policy = ("Deployments", f"{percent} %") if each.kind == "large" else ("StatefulSets", "")
    return (
        f"{kind} of {each.replicas}",
        f"{each.workloads}",
        f"{each.floor} ({policy or 'the default, a majority'})",
        f"{each.lowest}",
        f"{each.lowest_on_demand}",
        f"{each.below_floor}",
        f"{span(each.ready)}",
    )


def span(ends: tuple[int, int]) -> str:
    """The fewest and the most; one number where they are the same."""
    fewest, most = ends
    return f"{fewest}" if fewest == most else f"{fewest} to {most}"
