"""What restore's plan of a large cluster takes, as a table."""

from collections.abc import Sequence
from typing import Final

from bench.placement.planned import GROWTH, MEGABYTES, SECONDS, PlanGrowth, Planned
from bench.report.markdown import markdown

COLUMNS: Final = ("nodes", "pods", "workloads", "JSON", "read", "planned", "CPU", "memory at most")


def table(growth: PlanGrowth) -> str:
    """Markdown: a tenth and the whole, and below them what they amount to."""
    wanted = (
        f"A pod takes {growth.per_pod:.2f} x as much CPU in the whole as in the tenth. Wanted: at"
        f" most {SECONDS:g} s, {MEGABYTES:g} MB, and {GROWTH:g} x."
    )
    condition = (
        "Pages of JSON from a server that makes them up in the same process, whose own time is"
        " not counted; decoded and planned as in a run that is about to move pods, each in a"
        f" process of its own. One run. {growth.conditions}."
    )
    return markdown(COLUMNS, map(_row, (growth.tenth, growth.whole)), (wanted, condition))


def _row(each: Planned) -> Sequence[str]:
    return (
        f"{each.nodes:,}",
        f"{each.pods:,}",
        f"{each.workloads:,}",
        f"{each.megabytes:,.0f} MB",
        f"{each.read:.1f} s",
        f"{each.plan:.1f} s",
        f"{each.cpu:.1f} s",
        f"{each.peak_mb:.0f} MB",
    )
